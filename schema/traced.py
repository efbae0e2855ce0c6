"""The two fields of whatever can be traced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import strawberry

from resolvers import trace as resolve
from schema.entity import field

if TYPE_CHECKING:
    from schema.trace import Trace

LazyTrace = Annotated["Trace", strawberry.lazy("schema.trace")]


def trace_id_field() -> Any:
    """The id of a trace that is stored."""
    return field(
        "The id that `trace` finds it by, once it is stored: at most 100 ms after the rest, else null. Selecting this or `trace` "
        "stores a trace, and runs what every trace has.",
        resolver=resolve.stored_id,
    )


def trace_field() -> Any:
    """The trace itself."""
    return field(
        "What happened: of a search the stages of `hits` and `entities`, of a pack the whole compilation, of a walk all of it. "
        "The stored one has whatever else ran.",
        resolver=resolve.traced,
    )
