"""Which media type answers an Accept header."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

JSON = "application/json"
GRAPHQL = "application/graphql-response+json"
EVENTS = "text/event-stream"
REMEMBERED = 64
"""Accept headers whose reading a process remembers: clients send few different ones."""


class EventsWish(Enum):
    """Whether a client takes an answer as a stream of events."""

    NONE = "none"
    TAKEN = "taken"
    PREFERRED = "preferred"


@dataclass(frozen=True)
class _Range:
    name: str
    quality: float


@lru_cache(maxsize=REMEMBERED)
def answer_type(accept: str | None) -> str | None:
    """Pick JSON unless GraphQL's own type is named and no less wanted; None when neither may be sent."""
    if not accept or not accept.strip():
        return JSON
    ranges = _parsed(accept)
    graphql = _quality(ranges, GRAPHQL)
    json = max(_quality(ranges, name) for name in (JSON, "application/*", "*/*"))
    if graphql > 0 and graphql >= _quality(ranges, JSON):
        return GRAPHQL
    return JSON if json > 0 else None


@lru_cache(maxsize=REMEMBERED)
def events_wish(accept: str | None) -> EventsWish:
    """Events are preferred where JSON is wanted less, or as much and not by its name: urql names both in every request."""
    ranges = _parsed(accept or "")
    events = _quality(ranges, EVENTS)
    if events <= 0:
        return EventsWish.NONE
    named = max(_quality(ranges, name) for name in (GRAPHQL, JSON))
    any_kind = max(_quality(ranges, name) for name in ("application/*", "*/*"))
    return EventsWish.TAKEN if named >= events or any_kind > events else EventsWish.PREFERRED


def wants_page(accept: str | None) -> bool:
    """Whether a browser asks for a page to show: HTML is named, and wanted at least as much as JSON."""
    ranges = _parsed(accept or "")
    html = _quality(ranges, "text/html")
    return html > 0 and html >= max(_quality(ranges, JSON), _quality(ranges, GRAPHQL))


def _quality(ranges: list[_Range], name: str) -> float:
    return max((item.quality for item in ranges if item.name == name), default=0.0)


def _parsed(accept: str) -> list[_Range]:
    return [_range(part) for part in accept.split(",")[:50]]


def _range(part: str) -> _Range:
    name, *parameters = (piece.strip().lower() for piece in part.split(";"))
    quality = next((value[2:] for value in parameters if value.startswith("q=")), "1")
    try:
        weight = float(quality)
    except ValueError:
        weight = 0.0
    return _Range(name, weight if 0.0 <= weight <= 1.0 else 0.0)
