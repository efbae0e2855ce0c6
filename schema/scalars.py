"""The scalars of the API: instants with their zone, and JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NewType

import orjson
import strawberry
from graphql import GraphQLError

DATE_TIME = "https://scalars.graphql.org/andimarek/date-time"
JSON = NewType("JSON", object)


def read_instant(value: Any) -> datetime:
    """An instant from a client; the zone is checked where the value is used."""
    if not isinstance(value, str):
        raise GraphQLError("A DateTime is text such as 2026-09-05T00:00:00Z.", extensions={"code": "BAD_INPUT"})
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise GraphQLError(
            "A DateTime is text such as 2026-09-05T00:00:00Z, between the years 1 and 9999.", extensions={"code": "BAD_INPUT"}
        ) from None


def write_instant(value: datetime) -> str:
    """RFC 3339 in UTC."""
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def write_json(value: Any) -> Any:
    """A JSON value as it is; what is not JSON fails here and not while the whole answer is encoded."""
    orjson.dumps(value)
    return value


SCALARS = {
    datetime: strawberry.scalar(
        name="DateTime",
        description="An instant with its zone, RFC 3339, between the years 1 and 9999; answers are in UTC.",
        specified_by_url=DATE_TIME,
        serialize=write_instant,
        parse_value=read_instant,
    ),
    JSON: strawberry.scalar(
        name="JSON",
        description="Any JSON value.",
        specified_by_url="https://www.rfc-editor.org/rfc/rfc8259",
        serialize=write_json,
        parse_value=lambda value: value,
    ),
}
