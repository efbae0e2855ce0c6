"""Remembers what was counted of an operation, for those of the same document with variables of the same size."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLSchema,
    NamedTypeNode,
    NonNullTypeNode,
    OperationDefinitionNode,
    VariableDefinitionNode,
)

from schema.cost import longest_list, points
from schema.model_calls import answers

REMEMBERED = 128
TEXTS = frozenset({"String", "ID"})
"""Types of variables whose values nothing is counted by."""
SIMPLE = frozenset({int, float, bool, str, type(None)})
LONGEST_NAME = 100
"""Of what is remembered of a text where a name of an enum belongs, in characters."""
NOT_GIVEN = object()

Sizes = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """The longest list in the variables, how many objects may be touched, and how many answers are asked for."""

    items: int
    points: int
    answers: int


class Measures:
    """What was counted, by document, operation and sizes of its variables; the least used goes first."""

    def __init__(self) -> None:
        self._known: OrderedDict[Sizes, tuple[GraphQLSchema, DocumentNode, Measured]] = OrderedDict()

    def measure(
        self, schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Mapping[str, Any]
    ) -> Measured:
        """Count, or remember what was counted."""
        sizes = sizes_of(operation.variable_definitions or (), variables)
        if sizes is None:
            return measured(schema, document, operation, variables)
        key = (id(schema), id(document), id(operation), *sizes)
        known = self._known.get(key)  # which holds what the numbers in its key stand for
        if known is None:
            known = self._known[key] = (schema, document, measured(schema, document, operation, variables))
            if len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return known[2]


def measured(
    schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode, variables: Mapping[str, Any]
) -> Measured:
    """Count what an operation that passed validation asks for."""
    fragments = fragments_of(document)
    return Measured(
        longest_list(schema, operation, variables),
        points(schema, operation, fragments, variables),
        answers(schema, operation, fragments, variables),
    )


def fragments_of(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    """The fragments of a document by name."""
    return {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}


def sizes_of(definitions: Iterable[VariableDefinitionNode], variables: Mapping[str, Any]) -> Sizes | None:
    """What the counts of an operation follow from: of a text that it is there, of a list of simple values its length, of another
    simple value all of it; None when a variable is none of these, or a long text where no text belongs."""
    sizes: list[object] = []
    for definition in definitions:
        name = definition.variable.name.value
        if name not in variables:
            sizes.append(NOT_GIVEN)
            continue
        value = variables[name]
        if type(value) is str and is_text(definition):
            sizes.append(str)
        elif type(value) is list and all(type(one) in SIMPLE for one in value):
            sizes.append((list, len(value)))
        elif type(value) in SIMPLE and not (type(value) is str and len(value) > LONGEST_NAME):
            sizes.append((type(value), value))
        else:
            return None
    return tuple(sizes)


def is_text(definition: VariableDefinitionNode) -> bool:
    """Whether a variable is declared to be a text."""
    kind = definition.type.type if isinstance(definition.type, NonNullTypeNode) else definition.type
    return isinstance(kind, NamedTypeNode) and kind.name.value in TEXTS
