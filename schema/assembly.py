"""Builds a strawberry schema the way this project runs one: guarded, quiet in the logs, without suggestions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import strawberry
from graphql import (
    GraphQLArgument,
    GraphQLError,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    Undefined,
)
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from schema.limits import Guard, RequestLimits
from schema.plain_fields import PlainFieldsFirst, mark_plain_fields

DEFAULT_LIMITS = RequestLimits()


class GuardedSchema(strawberry.Schema):
    """A schema that leaves logging of errors to `schema.errors`: the stock log line repeats documents and values."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing here."""


def assemble(
    query: type,
    mutation: type | None = None,
    subscription: type | None = None,
    types: Iterable[type] = (),
    scalars: Any = None,
    limits: RequestLimits = DEFAULT_LIMITS,
) -> GuardedSchema:
    """Make the schema from its root types; `scalars` maps Python types to scalar definitions."""
    schema = GuardedSchema(
        query=query,
        mutation=mutation,
        subscription=subscription,
        types=types,
        extensions=[lambda: Guard(limits)],
        execution_context_class=PlainFieldsFirst,
        config=StrawberryConfig(disable_field_suggestions=True, scalar_map=scalars or {}),
    )
    for kind in schema._schema.type_map.values():
        _leave_out_null_defaults(kind)
    mark_plain_fields(schema._schema)
    return schema


def _leave_out_null_defaults(kind: GraphQLNamedType) -> None:
    """Null is as left out, so the printed schema promises no default of null."""
    if isinstance(kind, GraphQLInputObjectType):
        places: list[GraphQLArgument | GraphQLInputField] = list(kind.fields.values())
    elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        places = [argument for field in kind.fields.values() for argument in field.args.values()]
    else:
        return
    for place in places:
        if place.default_value is None:
            place.default_value = Undefined
            place.default = None
