"""Reads fields that are plain attributes of a value without the steps that only resolvers need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphql import GraphQLField, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, Undefined, is_leaf_type
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.schema.schema_converter import GraphQLCoreConverter

PLAIN = "contextql-plain"
SIMPLE = frozenset({str, int, float, bool})
"""Types of values that need no awaiting and no looking into."""


class PlainFieldsFirst(StrawberryGraphQLCoreExecutionContext):
    """An executor that takes the short way where it gives the same; most fields of an answer are plain.

    Whatever is not simple (null, a stage, a list, a value that its type refuses) goes the whole way, so errors are the same.
    """

    def execute_field(
        self, parent_type: GraphQLObjectType, source: Any, field_details_list: Any, path: Any, position_context: Any
    ) -> Any:
        """The value of one field."""
        field = parent_type.fields.get(field_details_list[0].node.name.value)
        plain = field.extensions.get(PLAIN) if field is not None else None
        if plain is not None and not self.middleware_manager:
            attribute, coerce = plain
            value = getattr(source, attribute, None)
            if type(value) in SIMPLE:
                try:
                    coerced = coerce(value)
                except Exception:
                    coerced = None
                if coerced is not None and coerced is not Undefined:
                    return coerced
        return super().execute_field(parent_type, source, field_details_list, path, position_context)


def mark_plain_fields(schema: GraphQLSchema) -> None:
    """Note on each field that is a plain attribute of a scalar or enum where it is read."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLObjectType):
            for field in kind.fields.values():
                found = plain_attribute(field)
                if found is not None:
                    field.extensions[PLAIN] = found


def plain_attribute(field: GraphQLField) -> tuple[str, Callable[[Any], Any]] | None:
    """The attribute behind a field and the coercion of its type; None for a field with a resolver or arguments."""
    definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    kind = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    if definition is None or not definition.is_basic_field or field.args or not is_leaf_type(kind):
        return None
    return definition.python_name, kind.coerce_output_value
