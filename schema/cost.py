"""How many objects a valid operation may touch, estimated from page sizes before anything runs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLArgument,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNamedType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Undefined,
    get_named_type,
    get_nullable_type,
    type_from_ast,
    value_from_ast_untyped,
)

from retrieval.compilation.item import CHANNELS
from retrieval.tuning import CITATIONS_MOST, CONFLICTS_NAMED_MOST, Tuning

PAGE_ARGUMENTS = frozenset({"first", "last", "k", "limit", "budget"})
ID_LISTS = frozenset({"ids"})
INTROSPECTION_POINTS = 200
"""What `__schema` and `__type` take: no stored object, but as much of the processor as so many points elsewhere."""
TUNING = Tuning()
# What a page argument that is a name stands for, and lists whose size no argument sets.
NAMED_SIZES = {"LOW": TUNING.recall_low, "MID": TUNING.recall_mid, "HIGH": TUNING.recall_high}
FIXED_LISTS = {
    "neighbors": TUNING.neighbours_most,
    "citations": CITATIONS_MOST,
    "Search.answer": 1,
    "AnswerDone.answer": 1,
    "anchors": TUNING.typed_anchors,
    "unresolved": TUNING.typed_anchors,
    "used": 1,
}

# A pack may hold so many items for each that a channel admits.
FOR_EACH = {"PackItem": len(CHANNELS)}

# Of what contradicts a fact: how many points it takes, and for how many objects what is below it counts. A fact is seldom in
# conflict with more than a few, so a page of facts may be asked what contradicts them; not what contradicts that in turn, which
# may be the square: what is below counts twice what one fact may be in conflict with.
CONFLICTS = {"Fact.conflictsWith": (5, 2 * CONFLICTS_NAMED_MOST), "ContextPack.conflicts": (5, 10)}


def points(
    schema: GraphQLSchema,
    operation: OperationDefinitionNode,
    fragments: Mapping[str, FragmentDefinitionNode],
    variables: Mapping[str, Any],
) -> int:
    """Estimate the objects an operation touches: each field that has fields of its own, times the page sizes above it.

    The operation must have passed validation and the limit on expanded selections. A field left out by `@skip` counts,
    because leaving it uncounted would need the variables' final values.
    """
    values = variables_of(operation, variables)
    root = schema.get_root_type(operation.operation)
    return _Walk(schema, fragments, values).below(operation.selection_set, root, 1, 1)


def longest_list(schema: GraphQLSchema, operation: OperationDefinitionNode, variables: Mapping[str, Any]) -> int:
    """The length of the longest list among the variables, not looking inside scalars such as JSON."""
    lengths = [0]
    for definition in operation.variable_definitions or ():
        input_type = type_from_ast(schema, definition.type)
        if input_type is not None:
            _measure_lists(variables.get(definition.variable.name.value), input_type, lengths)  # type: ignore[arg-type]
    return max(lengths)


def variables_of(operation: OperationDefinitionNode, given: Mapping[str, Any]) -> dict[str, Any]:
    """The variables as they were given, with the defaults of the operation for those that were not."""
    defaults = {
        definition.variable.name.value: value_from_ast_untyped(definition.default_value)
        for definition in operation.variable_definitions or ()
        if definition.default_value is not None
    }
    return {**defaults, **given}


class _Walk:
    def __init__(self, schema: GraphQLSchema, fragments: Mapping[str, FragmentDefinitionNode], values: Mapping[str, Any]) -> None:
        self.schema = schema
        self.fragments = fragments
        self.values = values

    def below(self, selection_set: SelectionSetNode, parent: GraphQLNamedType | None, times: int, owners: int) -> int:
        """`times` counts the items of the page above, `owners` the objects that the page belongs to."""
        total = 0
        for selection in selection_set.selections:
            if isinstance(selection, FieldNode):
                total += self._field(selection, parent, times, owners)
            elif isinstance(selection, FragmentSpreadNode):
                fragment = self.fragments[selection.name.value]
                total += self.below(fragment.selection_set, self._named(fragment.type_condition.name.value), times, owners)
            elif isinstance(selection, InlineFragmentNode):
                condition = selection.type_condition
                named = self._named(condition.name.value) if condition else parent
                total += self.below(selection.selection_set, named, times, owners)
        return total

    def _field(self, node: FieldNode, parent: GraphQLNamedType | None, times: int, owners: int) -> int:
        if node.selection_set is None:
            return 0
        if node.name.value.startswith("__"):
            return INTROSPECTION_POINTS
        definition: GraphQLField | None = getattr(parent, "fields", {}).get(node.name.value)
        if definition is None:
            return 0
        name = node.name.value
        place = f"{getattr(parent, 'name', '')}.{name}"
        kind = get_named_type(definition.type)
        if place in CONFLICTS:
            counted, most = CONFLICTS[place]
            return times * counted + self.below(node.selection_set, kind, times * most, times)
        fixed = FIXED_LISTS.get(place, FIXED_LISTS.get(name))
        if fixed is not None:
            times, size = owners, fixed
        else:
            size = self._page_size(node, definition)
        if parent is self.schema.mutation_type:
            return self._written(node) + self.below(node.selection_set, kind, 1, 1)
        return times + self.below(node.selection_set, kind, times * size * FOR_EACH.get(kind.name, 1), times)

    def _page_size(self, node: FieldNode, definition: GraphQLField) -> int:
        given = {argument.name.value: argument.value for argument in node.arguments or ()}
        size = 1
        for name, argument in definition.args.items():
            if name not in PAGE_ARGUMENTS and name not in ID_LISTS and not _item_limit(argument.type):
                continue
            value = value_from_ast_untyped(given[name], dict(self.values)) if name in given else Undefined
            if value is Undefined:
                value = default_of(argument)
            size *= _times(value, argument.type)
        return size

    def _written(self, node: FieldNode) -> int:
        """How many things a mutation is given to write: the items of the lists in its input."""
        given = [value_from_ast_untyped(argument.value, dict(self.values)) for argument in node.arguments or ()]
        values = [value for one in given if isinstance(one, Mapping) for value in one.values()]
        return max(1, sum(len(value) for value in values if isinstance(value, list)))

    def _named(self, name: str) -> GraphQLNamedType | None:
        return self.schema.type_map.get(name)


def _times(value: Any, argument_type: GraphQLInputType) -> int:
    """A page size counts as itself, a list of ids by its length, a list of steps by the sum of their limits."""
    if isinstance(value, int | float) and not isinstance(value, bool):  # a variable may write 50 as 50.0
        return max(1, int(value)) if math.isfinite(value) else 1
    if isinstance(value, str | Enum):
        return NAMED_SIZES.get(value.name if isinstance(value, Enum) else value, 1)
    if isinstance(value, list):
        limit = _item_limit(argument_type)
        if limit is None:
            return max(1, len(value))
        limits = (item.get("limit") if isinstance(item, Mapping) else None for item in value)
        return max(1, sum(_times(default_of(limit) if given is None else given, limit.type) for given in limits))
    return 1


def _item_limit(argument_type: GraphQLInputType) -> Any:
    """The field `limit` of the objects in a list argument, if they have one."""
    if not isinstance(get_nullable_type(argument_type), GraphQLList):
        return None
    item = get_named_type(argument_type)
    return item.fields.get("limit") if isinstance(item, GraphQLInputObjectType) else None


def default_of(argument: GraphQLArgument) -> Any:
    """What an argument is when it is left out; `Undefined` when there is nothing that it is."""
    if argument.default is not None:
        literal = argument.default.literal
        return argument.default.value if literal is None else value_from_ast_untyped(literal)
    return argument.default_value


def _measure_lists(value: Any, input_type: GraphQLInputType, lengths: list[int]) -> None:
    bare = get_nullable_type(input_type)
    if isinstance(bare, GraphQLList) and isinstance(value, list):
        lengths.append(len(value))
        named = get_named_type(bare)
        if isinstance(named, GraphQLInputObjectType) or isinstance(get_nullable_type(bare.of_type), GraphQLList):
            for item in value:
                _measure_lists(item, bare.of_type, lengths)
    elif isinstance(bare, GraphQLInputObjectType) and isinstance(value, Mapping):
        for name, definition in bare.fields.items():
            if name in value:
                _measure_lists(value[name], definition.type, lengths)
