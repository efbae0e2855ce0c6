"""Makes documents out of the schema: everything down to a depth, or a random part of it, always with the same arguments."""

from __future__ import annotations

import random
from collections.abc import Callable

from graphql import GraphQLInterfaceType, GraphQLNamedType, GraphQLObjectType, GraphQLSchema, get_named_type

ARGUMENTS = {
    "fragments": "(first: 2)",
    "candidates": "(first: 100)",
    "attributes": '(asOf: "2025-09-05T00:00:00Z")',
    "why": '(key: "docs/0/neverexisted")',
}
"""Of fields below the root; what is not listed takes its defaults."""
NODES = ("Entity", "Fragment", "Source")
Choice = Callable[[str, int], bool]
"""Whether to take a field of a name at the depth that is left."""


def everything(name: str, left: int) -> bool:
    """Take all that there is."""
    return True


def selection(
    schema: GraphQLSchema, kind: str, depth: int, choose: Choice = everything, avoid: frozenset[str] = frozenset()
) -> str:
    """A selection set of a type with the chosen fields; objects are entered while `depth` lasts."""
    named: GraphQLNamedType = schema.type_map[kind]
    if kind == "Node":
        parts = [f"... on {node} {selection(schema, node, depth, choose, avoid)}" for node in NODES]
        return "{ __typename " + " ".join(parts) + " }"
    assert isinstance(named, GraphQLObjectType | GraphQLInterfaceType)
    parts = ["__typename"]
    for name, field in named.fields.items():
        below = get_named_type(field.type)
        is_object = isinstance(below, GraphQLObjectType | GraphQLInterfaceType)
        if (is_object and depth == 0) or f"{kind}.{name}" in avoid or not choose(name, depth):
            continue
        inner = " " + selection(schema, str(below), depth - 1, choose, avoid) if is_object else ""
        parts.append(f"{name}{ARGUMENTS.get(name, '') if field.args else ''}{inner}")
    return "{ " + " ".join(parts) + " }"


def random_choice(chance: random.Random, share: float = 0.5) -> Choice:
    """Take each field with some probability."""
    return lambda name, left: chance.random() < share
