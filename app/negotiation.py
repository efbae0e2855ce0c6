"""Which media type answers an Accept header."""

from __future__ import annotations

from dataclasses import dataclass

JSON = "application/json"
GRAPHQL = "application/graphql-response+json"


@dataclass(frozen=True)
class _Range:
    name: str
    quality: float


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
        return _Range(name, float(quality))
    except ValueError:
        return _Range(name, 0.0)
