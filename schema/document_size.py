"""How large a GraphQL document is, counted in one pass over each definition and never by expanding fragments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from graphql import (
    ConstDirectiveNode,
    DirectiveNode,
    DocumentNode,
    ExecutableDefinitionNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    OperationDefinitionNode,
    SelectionNode,
    SelectionSetNode,
)

INTROSPECTION_FIELDS = frozenset({"__schema", "__type"})


@dataclass(frozen=True)
class Lane:
    """What a definition selects once its fragments are spread: numbers that grow by addition, depths by nesting."""

    selections: int = 0
    aliases: int = 0
    depth: int = 0


@dataclass(frozen=True)
class DefinitionSize:
    """The size of one operation or fragment: ordinary fields and introspection are counted apart."""

    ordinary: Lane = Lane()
    introspection: Lane = Lane()
    root_fields: int = 0
    introspection_roots: int = 0
    nesting: int = 0


@dataclass(frozen=True)
class DocumentSize:
    """The size of a whole document as its author wrote it, and of each definition as it would run."""

    definitions: tuple[tuple[ExecutableDefinitionNode, DefinitionSize], ...]
    fragment_definitions: int
    spreads: int
    most_directives: int
    most_equal: tuple[str, int]
    equal_pairs: int


def document_size(document: DocumentNode) -> DocumentSize:
    """Count a parsed document; the work is linear in its length whatever its fragments do."""
    drafts = [_draft(node) for node in document.definitions if isinstance(node, ExecutableDefinitionNode)]
    fragments = {draft.name: draft for draft in drafts if isinstance(draft.node, FragmentDefinitionNode)}
    known: dict[str, DefinitionSize] = {}
    names: Counter[str] = Counter()
    for draft in drafts:
        names.update(draft.names)
    return DocumentSize(
        definitions=tuple((draft.node, _resolved(draft, fragments, known)) for draft in drafts),
        fragment_definitions=len(fragments),
        spreads=sum(len(draft.spreads) for draft in drafts),
        most_directives=max((draft.most_directives for draft in drafts), default=0),
        most_equal=max(names.items(), key=lambda item: item[1], default=("", 0)),
        equal_pairs=sum(count * (count - 1) // 2 for count in names.values()),
    )


@dataclass(frozen=True)
class _Spread:
    name: str
    depth: int
    nesting: int
    introspecting: bool


@dataclass
class _Draft:
    node: ExecutableDefinitionNode
    name: str
    spreads: list[_Spread] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    selections: list[int] = field(default_factory=lambda: [0, 0])
    aliases: list[int] = field(default_factory=lambda: [0, 0])
    depth: list[int] = field(default_factory=lambda: [0, 0])
    root_fields: int = 0
    introspection_roots: int = 0
    nesting: int = 0
    most_directives: int = 0


def _draft(node: ExecutableDefinitionNode) -> _Draft:
    """Count what one definition itself holds, with its spreads still closed."""
    draft = _Draft(node, node.name.value if node.name else "")
    draft.most_directives = _most_directives(node)
    for selection, depth, nesting, introspecting in _selections(node.selection_set):
        lane = int(introspecting)
        draft.nesting = max(draft.nesting, nesting)
        draft.most_directives = max(draft.most_directives, _directive_count(selection.directives))
        if isinstance(selection, FragmentSpreadNode):
            draft.spreads.append(_Spread(selection.name.value, depth, nesting, introspecting))
        elif isinstance(selection, FieldNode):
            draft.names[(selection.alias or selection.name).value] += 1
            draft.selections[lane] += 1
            draft.depth[lane] = max(draft.depth[lane], depth + 1)
            draft.aliases[lane] += selection.alias is not None
            draft.root_fields += depth == 0
            draft.introspection_roots += selection.name.value in INTROSPECTION_FIELDS
    return draft


def _selections(selection_set: SelectionSetNode) -> Iterator[tuple[SelectionNode, int, int, bool]]:
    """Walk without recursion: depth counts fields above, nesting counts every level, inline fragments too."""
    stack = [(selection_set, 0, 1, False)]
    while stack:
        current, depth, nesting, introspecting = stack.pop()
        for selection in current.selections:
            is_field = isinstance(selection, FieldNode)
            inside = introspecting or (is_field and selection.name.value in INTROSPECTION_FIELDS)  # type: ignore[attr-defined]
            yield selection, depth, nesting, inside
            below = getattr(selection, "selection_set", None)
            if below:
                stack.append((below, depth + is_field, nesting + 1, inside))


def _resolved(draft: _Draft, fragments: dict[str, _Draft], known: dict[str, DefinitionSize]) -> DefinitionSize:
    """Add the fragments' sizes; each fragment is resolved once, and one that reaches itself adds nothing there."""
    is_fragment = isinstance(draft.node, FragmentDefinitionNode)
    if is_fragment:
        if draft.name in known:
            return known[draft.name]
        known[draft.name] = DefinitionSize()
    size = _with_spreads(draft, fragments, known)
    if is_fragment:
        known[draft.name] = size
    return size


def _with_spreads(draft: _Draft, fragments: dict[str, _Draft], known: dict[str, DefinitionSize]) -> DefinitionSize:
    selections, aliases, depth = list(draft.selections), list(draft.aliases), list(draft.depth)
    root_fields, roots, nesting = draft.root_fields, draft.introspection_roots, draft.nesting
    for spread in draft.spreads:
        if spread.name not in fragments:
            continue
        inner = _resolved(fragments[spread.name], fragments, known)
        for lane, part in ((0, inner.ordinary), (1, inner.introspection)):
            target = 1 if spread.introspecting else lane
            selections[target] += part.selections
            aliases[target] += part.aliases
            depth[target] = max(depth[target], spread.depth + part.depth if part.depth else 0)
        root_fields += inner.root_fields if spread.depth == 0 else 0
        roots += inner.introspection_roots
        nesting = max(nesting, spread.nesting + inner.nesting)
    return DefinitionSize(
        Lane(selections[0], aliases[0], depth[0]),
        Lane(selections[1], aliases[1], depth[1]),
        root_fields,
        roots,
        nesting,
    )


def _most_directives(node: ExecutableDefinitionNode) -> int:
    variables = node.variable_definitions if isinstance(node, OperationDefinitionNode) else ()
    return max(
        _directive_count(node.directives),
        max((_directive_count(variable.directives) for variable in variables or ()), default=0),
    )


def _directive_count(directives: tuple[DirectiveNode | ConstDirectiveNode, ...] | None) -> int:
    return len(directives or ())
