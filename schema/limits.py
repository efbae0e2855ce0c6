"""What a GraphQL document may ask for, decided before any other rule looks at it and remembered for equal documents."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    parse,
    specified_rules,
    validate,
)
from strawberry.extensions import SchemaExtension
from strawberry.schema.validation_rules.maybe_null import MaybeNullValidationRule
from strawberry.schema.validation_rules.one_of import OneOfInputValidationRule

from schema.document_size import DefinitionSize, DocumentSize, document_size
from schema.measuring import Measures, fragments_of
from schema.model_calls import reranks

LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
VALIDATION_FAILED = "GRAPHQL_VALIDATION_FAILED"
_BROKEN_LITERAL = re.compile(r", but encountered error '.*'(?=; found: )", re.DOTALL)
RULES = (*specified_rules, MaybeNullValidationRule, OneOfInputValidationRule)


@dataclass(frozen=True)
class RequestLimits:
    """The caps on one GraphQL request (research/reliability.md 2)."""

    characters: int = 65_536
    tokens: int = 2_000
    comments: int = 100
    depth: int = 12
    nesting: int = 60
    aliases: int = 30
    root_fields: int = 10
    selections: int = 2_000
    fragment_definitions: int = 30
    spreads: int = 60
    equal_fields: int = 200
    equal_pairs: int = 40_000
    directives: int = 5
    introspection_roots: int = 4
    introspection_selections: int = 1_000
    introspection_depth: int = 20
    introspection_aliases: int = 10
    points: int = 10_000
    list_items: int = 10_000
    reranks: int = 1
    answers: int = 1
    errors: int = 20


@dataclass
class OperationNote:
    """What the edge learns about the running operation; `known` is called with its kind once that is parsed.

    `charge` is called with its points once they are known and nothing of it has run; what it gives refuses the operation.
    """

    kind: str = "unknown"
    name: str | None = None
    points: int = 0
    known: Callable[[str], None] = field(default=lambda kind: None)
    charge: Callable[[int], GraphQLError | None] = field(default=lambda points: None)


operation_note: ContextVar[OperationNote | None] = ContextVar("operation_note", default=None)


class Guard(SchemaExtension):
    """Refuses what is too large or too costly, validates the rest once per document, and caches both with the parse."""

    def __init__(self, limits: RequestLimits) -> None:
        self.limits = limits

    def on_operation(self) -> Iterator[None]:
        options: dict[str, Any] = self.execution_context.parse_options  # type: ignore[assignment]
        options.update(parse_limits(self.limits))
        yield

    def on_parse(self) -> Iterator[None]:
        context = self.execution_context
        context.graphql_document = _VALID.get(context.schema._schema, context.query)
        yield
        if context.graphql_document is not None:
            _take_note(context.graphql_document, context.operation_name)

    def on_validate(self) -> Iterator[None]:
        context = self.execution_context
        document, schema = context.graphql_document, context.schema._schema
        if document is None:
            yield
            return
        errors: list[GraphQLError] = []
        if not _VALID.holds(schema, context.query, document):
            errors = refusals(document, self.limits) or _validated(schema, document, self.limits.errors)
            if not errors:
                _VALID.keep(schema, context.query, document)
        name = context._provided_operation_name
        errors = (
            errors
            or _unnamed(document, name)
            or too_costly(schema, document, name, context.variables or {}, self.limits, context.context)
        )
        context.pre_execution_errors = errors
        yield


def known_document(schema: GraphQLSchema, text: str | None, name: str | None) -> tuple[DocumentNode, str] | None:
    """A document that passed every rule before, and the type of its operation of that name, which is noted; or None."""
    document = _VALID.get(schema, text)
    operation = None if document is None else _operation(document, name)
    if document is None or operation is None:
        return None
    _take_note(document, name)
    return document, operation.operation.value


def kind_of(text: str, name: str | None, limits: RequestLimits) -> str | None:
    """The type of the operation of that name in a document; None for one that is too large, malformed, or has none."""
    try:
        document = parse(text, no_location=True, **parse_limits(limits))
    except GraphQLError:
        return None
    operation = _operation(document, name)
    return None if operation is None else operation.operation.value


def parse_limits(limits: RequestLimits) -> dict[str, Any]:
    """What the parser takes at most."""
    return {
        "max_source_length": limits.characters,
        "max_lexical_tokens": limits.tokens,
        "max_comments": limits.comments,
    }


def too_costly(
    schema: GraphQLSchema,
    document: DocumentNode,
    name: str | None,
    variables: Mapping[str, Any],
    limits: RequestLimits,
    context: object = None,
) -> list[GraphQLError]:
    """Say what makes an operation with these variables too costly, or nothing; its points are noted for the edge and charged."""
    operation = _operation(document, name)
    if operation is None:
        return []
    measured = _MEASURES.measure(schema, document, operation, variables)
    if measured.items > limits.list_items:
        return [_refusal("A list in the variables", measured.items, limits.list_items, "send it in several requests")]
    cost, note = measured.points, operation_note.get()
    if note is not None:
        note.points = cost
    if cost > limits.points:
        what = "The number of objects that the query may touch (its points)"
        return [_refusal(what, cost, limits.points, "lower `first`, `k` or `limit`, or ask in several requests")]
    if (asked := reranks(schema, operation, fragments_of(document), variables, context)) > limits.reranks:
        return [_refusal("Searches with `rerank`", asked, limits.reranks, "set `rerank: false` on the others")]
    if measured.answers > limits.answers:
        return [_refusal("Answers", measured.answers, limits.answers, "ask for the others in requests of their own")]
    if note is None:
        return []
    note.points = max(1, cost)
    refused = note.charge(note.points)
    return [] if refused is None else [refused]


def refusals(document: DocumentNode, limits: RequestLimits) -> list[GraphQLError]:
    """Say what makes a document too large, or nothing; takes under 10 ms for any document that parses."""
    size = document_size(document)
    found = list(_document_refusals(size, limits))
    for node, definition in size.definitions:
        if isinstance(node, OperationDefinitionNode):  # a fragment counts where it is spread
            found.extend(_operation_refusals(definition, limits))
    return found[: limits.errors]


def _document_refusals(size: DocumentSize, limits: RequestLimits) -> Iterator[GraphQLError]:
    name, count = size.most_equal
    checks = (
        ("Fragment definitions", size.fragment_definitions, limits.fragment_definitions, "merge some of them"),
        ("Fragment spreads", size.spreads, limits.spreads, "write the fields in place or split the query"),
        ("Directives on one node", size.most_directives, limits.directives, "remove some of them"),
        (f"Fields that answer as {name[:60]!r}", count, limits.equal_fields, "remove the repeated ones"),
        ("Pairs of fields with one name", size.equal_pairs, limits.equal_pairs, "remove repeated fields"),
    )
    return _exceeded(checks)


def _operation_refusals(size: DefinitionSize, limits: RequestLimits) -> Iterator[GraphQLError]:
    ordinary, inner = size.ordinary, size.introspection
    return _exceeded(
        (
            ("Depth", ordinary.depth, limits.depth, "select fewer levels and look the rest up by key"),
            ("Levels of nested braces", size.nesting, limits.nesting, "use fewer nested fragments"),
            ("Aliases", ordinary.aliases, limits.aliases, "send several requests"),
            ("Root fields", size.root_fields, limits.root_fields, "send several requests"),
            (
                "Selected fields with all fragments spread",
                ordinary.selections,
                limits.selections,
                "select fewer fields",
            ),
            ("Introspection fields at the root", size.introspection_roots, limits.introspection_roots, "ask once"),
            ("Introspection selections", inner.selections, limits.introspection_selections, "select fewer fields"),
            ("Introspection depth", inner.depth, limits.introspection_depth, "select fewer levels"),
            ("Introspection aliases", inner.aliases, limits.introspection_aliases, "remove aliases"),
        )
    )


def _exceeded(checks: tuple[tuple[str, int, int, str], ...]) -> Iterator[GraphQLError]:
    return (_refusal(*check) for check in checks if check[1] > check[2])


def _refusal(what: str, value: int, limit: int, advice: str) -> GraphQLError:
    message = f"{what}: {value:,}, and the limit is {limit:,}; {advice}."
    return GraphQLError(message, extensions={"code": LIMIT_EXCEEDED})


def _validated(schema: GraphQLSchema, document: DocumentNode, most: int) -> list[GraphQLError]:
    return [_of_document(error) for error in validate(schema, document, RULES, max_errors=most, hide_suggestions=True)]


def _of_document(error: GraphQLError) -> GraphQLError:
    # A literal that breaks its scalar's reader, such as an Int of 5,000 digits, is the document's mistake and not the server's:
    # without its cause it is not masked. A scalar of our own has said which code its mistake has.
    message = _BROKEN_LITERAL.sub("", error.message)
    return GraphQLError(message, nodes=error.nodes, extensions={"code": VALIDATION_FAILED, **(error.extensions or {})})


def _unnamed(document: DocumentNode, name: str | None) -> list[GraphQLError]:
    if name is not None or len(_operations(document)) < 2:
        return []
    message = "The document has several operations; name the one to run in `operationName`."
    return [GraphQLError(message, extensions={"code": VALIDATION_FAILED})]


def _take_note(document: DocumentNode, name: str | None) -> None:
    note, operation = operation_note.get(), _operation(document, name)
    if note is not None and operation is not None:
        note.kind = operation.operation.value
        note.name = operation.name.value if operation.name else None
        note.known(note.kind)


def _operation(document: DocumentNode, name: str | None) -> OperationDefinitionNode | None:
    """The operation of that name; without a name the only one."""
    operations = _operations(document)
    if name is None:
        return operations[0] if len(operations) == 1 else None
    return next((node for node in operations if node.name and node.name.value == name), None)


def _operations(document: DocumentNode) -> list[OperationDefinitionNode]:
    return [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]


class _ValidDocuments:
    """Documents that passed every rule, by schema and text; the least used goes first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._documents: OrderedDict[tuple[int, str], tuple[GraphQLSchema, DocumentNode]] = OrderedDict()

    def get(self, schema: GraphQLSchema, text: str | None) -> DocumentNode | None:
        key = (id(schema), text or "")
        if (entry := self._documents.get(key)) is None or entry[0] is not schema:
            return None
        self._documents.move_to_end(key)
        return entry[1]

    def holds(self, schema: GraphQLSchema, text: str | None, document: DocumentNode) -> bool:
        entry = self._documents.get((id(schema), text or ""))
        return entry is not None and entry[1] is document

    def keep(self, schema: GraphQLSchema, text: str | None, document: DocumentNode) -> None:
        self._documents[(id(schema), text or "")] = (schema, document)
        if len(self._documents) > self._most:
            self._documents.popitem(last=False)


_VALID = _ValidDocuments(most=128)
_MEASURES = Measures()


def is_mutation(note: OperationNote) -> bool:
    """Whether the operation writes, so that it must run to its end though nobody waits."""
    return note.kind == OperationType.MUTATION.value
