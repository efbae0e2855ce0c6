"""Builds a strawberry schema the way this project runs one: guarded, quiet in the logs, without suggestions."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable
from functools import cache
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
    execute,
)
from strawberry.execution import optimized_is_awaitable
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.name_converter import NameConverter
from strawberry.schema.schema import DEFAULT_ALLOWED_OPERATION_TYPES
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from schema.limits import Guard, RequestLimits, known_document, too_costly
from schema.plain_fields import PlainFieldsFirst, mark_plain_fields

DEFAULT_LIMITS = RequestLimits()


class RememberedNames(NameConverter):
    """Names as they are by default; each is converted once, and not for every argument of every request."""

    def __init__(self) -> None:
        super().__init__()
        self.apply_naming_config = cache(self.apply_naming_config)  # type: ignore[method-assign]


class GuardedSchema(strawberry.Schema):
    """A schema that leaves logging of errors to `schema.errors`: the stock log line repeats documents and values."""

    limits: RequestLimits

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,
    ) -> ExecutionResult:
        """Run an operation; a document that passed every rule before goes straight to the executor, which gives the same."""
        known = known_document(self._schema, query, operation_name)
        allowed = DEFAULT_ALLOWED_OPERATION_TYPES if allowed_operation_types is None else set(allowed_operation_types)
        if known is None or known[1] not in {one.value for one in allowed}:
            return await super().execute(
                query,
                variable_values,
                context_value,
                root_value,
                operation_name,
                allowed,
                operation_extensions,
            )
        document, variables = known[0], variable_values or {}
        if refused := too_costly(self._schema, document, operation_name, variables, self.limits, context_value):
            return ExecutionResult(data=None, errors=refused)
        running = execute(
            self._schema,
            document,
            root_value,
            context_value,
            variables,
            operation_name,
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]
            executor_class=PlainFieldsFirst,
        )
        result = await running if isinstance(running, Awaitable) else running
        return ExecutionResult(data=result.data, errors=result.errors)

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
        config=StrawberryConfig(disable_field_suggestions=True, scalar_map=scalars or {}, name_converter=RememberedNames()),
    )
    schema.limits = limits
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
