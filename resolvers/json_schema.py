"""Says in JSON Schema what a GraphQL argument takes, as chat models read it."""

from __future__ import annotations

from typing import Any

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInputType,
    GraphQLList,
    GraphQLNonNull,
    Undefined,
    coerce_input_value,
    get_nullable_type,
    is_required_argument,
    is_required_input_field,
    print_ast,
)
from graphql.utilities import ast_from_value

SCALARS: dict[str, dict[str, Any]] = {
    "String": {"type": "string"},
    "ID": {"type": "string"},
    "Int": {"type": "integer"},
    "Float": {"type": "number"},
    "Boolean": {"type": "boolean"},
    "DateTime": {"type": "string", "format": "date-time"},
    "JSON": {"type": "object"},
}
"""JSON is any value to GraphQL; as an argument of a query it is always an object of pairs."""


def of_argument(given: GraphQLArgument | GraphQLInputField) -> dict[str, Any]:
    """The schema of an argument or an input field, with its description and its default."""
    found = of_type(given.type)
    if given.description:
        found["description"] = given.description
    if given.default_value is not Undefined and given.default_value is not None:
        found["default"] = plain_default(given.type, given.default_value)
    return found


def of_type(kind: GraphQLInputType) -> dict[str, Any]:
    """The schema of a type; what may be null may be left out instead."""
    if isinstance(kind, GraphQLNonNull):
        return of_type(kind.of_type)
    if isinstance(kind, GraphQLList):
        return {"type": "array", "items": of_type(kind.of_type)}
    if isinstance(kind, GraphQLEnumType):
        return {"type": "string", "enum": list(kind.values)}
    if isinstance(kind, GraphQLInputObjectType):
        return of_fields(kind)
    return dict(SCALARS[kind.name])


def of_fields(kind: GraphQLInputObjectType) -> dict[str, Any]:
    """The schema of an input object."""
    required = [name for name, field in kind.fields.items() if is_required_input_field(field)]
    found = object_of({name: of_argument(field) for name, field in kind.fields.items()}, required)
    return found | ({"description": kind.description} if kind.description else {})


def object_of(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """The schema of an object with these properties and no others."""
    found: dict[str, Any] = {"type": "object", "properties": properties}
    return found | ({"required": required} if required else {}) | {"additionalProperties": False}


def is_needed(given: GraphQLArgument) -> bool:
    """Whether an argument has to be given."""
    return is_required_argument(given)


def literal(kind: GraphQLInputType, value: Any) -> str:
    """A value as the query language writes it."""
    node = ast_from_value(value, kind)
    assert node is not None
    return print_ast(node)


def plain_default(kind: GraphQLInputType, value: Any) -> Any:
    """A default as JSON has it: enums by name."""
    named = get_nullable_type(kind)
    if isinstance(named, GraphQLEnumType):
        return named.serialize(value)
    return value


def value_of(kind: GraphQLInputType, given: Any) -> Any:
    """A value that is written as JSON, as the schema holds its defaults."""
    return coerce_input_value(given, kind)
