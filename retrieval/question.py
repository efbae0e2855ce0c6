"""The values that a request is turned into: frozen, checked once, equal when they mean the same."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

import orjson

from retrieval.entity_filter import EntityFilter
from retrieval.errors import BadInput
from retrieval.text import blank, strict
from retrieval.tuning import Tuning

Locale = Literal["AUTO", "RU", "EN"]

_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")  # in JSON text; after an odd number of backslashes it is four digits
# The driver sends the very first and the very last instant as infinities and reads these without a zone, so their neighbours
# stand for them.
FIRST, LAST = datetime.min.replace(microsecond=1, tzinfo=UTC), datetime.max.replace(microsecond=999_998, tzinfo=UTC)


class Primitive(StrEnum):
    """One of the four ways to rank."""

    VECTOR = "VECTOR"
    LEXICAL = "LEXICAL"
    GRAPH = "GRAPH"
    SQL = "SQL"


class FusionMethod(StrEnum):
    """How lists become one."""

    RRF = "RRF"
    WEIGHTED = "WEIGHTED"
    ADAPTIVE = "ADAPTIVE"


class EntityKind(StrEnum):
    """What an entity is; the kind decides which section of a pack it feeds."""

    DOCUMENT = "DOCUMENT"
    EPISODE = "EPISODE"
    OBSERVATION = "OBSERVATION"
    THING = "THING"


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """What a pack may be about: what carries no relevance scope, and what shares one of those requested and one of those allowed.

    None asks for nothing; an empty tuple of allowed ones leaves what carries none.
    """

    requested: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None

    @property
    def is_open(self) -> bool:
        """True when everything passes."""
        return self.requested is None and self.allowed is None

    def passes(self, scopes: Collection[str]) -> bool:
        """Whether what carries these scopes passes."""
        return not scopes or all(asked is None or not set(asked).isdisjoint(scopes) for asked in (self.requested, self.allowed))


@dataclass(frozen=True, slots=True)
class FragmentFilter:
    """Narrows vector and lexical; None is as left out, an empty tuple matches nothing."""

    meta: str | None = None
    """JSON text of the pairs that a fragment's meta must contain."""
    kinds: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    keys: tuple[str, ...] | None = None
    relevance_scopes: tuple[str, ...] | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    scope_rule: ScopeRule | None = None

    @property
    def is_open(self) -> bool:
        """True when nothing is filtered."""
        return self == FragmentFilter()


@dataclass(frozen=True, slots=True)
class Question:
    """One search as a value: equal questions of a request share all their work."""

    text: str
    namespaces: tuple[str, ...] | None
    k: int = 8
    hops: int = 1
    filter: FragmentFilter = field(default_factory=FragmentFilter)
    entity_filter: EntityFilter = field(default_factory=EntityFilter)
    channels: frozenset[Primitive] = frozenset(Primitive)
    fusion: FusionMethod = FusionMethod.ADAPTIVE
    weights: tuple[tuple[Primitive, float], ...] = ()
    as_of: datetime | None = None
    locale: Locale = "AUTO"
    rerank: bool = False
    """Whether a chat model orders the hits."""

    def weight(self, primitive: Primitive) -> float:
        """The caller's weight of a channel; a missing one is 1."""
        return dict(self.weights).get(primitive, 1.0)


def make_question(
    tuning: Tuning,
    text: str,
    *,
    namespaces: Iterable[str] | None = None,
    k: int = 8,
    hops: int = 1,
    filter: FragmentFilter | None = None,
    entity_filter: EntityFilter | None = None,
    channels: Iterable[Primitive] | None = None,
    fusion: FusionMethod | None = None,
    weights: Mapping[Primitive, float] | None = None,
    as_of: datetime | None = None,
    locale: Locale = "AUTO",
    rerank: bool = False,
) -> Question:
    """Check every argument of a search; raises `BadInput` with what to change."""
    method = fusion or FusionMethod(tuning.fusion.upper())
    if weights is not None and method is not FusionMethod.WEIGHTED:
        raise BadInput("`fusion.weights` goes with method WEIGHTED only; leave it out or set `method: WEIGHTED`.")
    for primitive, weight in (weights or {}).items():
        if not (math.isfinite(weight) and 0 <= weight <= 1_000):
            raise BadInput(f"The weight of {primitive.value} must be a number from 0 to 1000.")
    within("k", k, 1, tuning.most_k)
    within("hops", hops, 1, tuning.most_hops)
    return Question(
        text=check_question(tuning, text),
        namespaces=check_namespaces(tuning, namespaces),
        k=k,
        hops=hops,
        filter=filter or FragmentFilter(),
        entity_filter=entity_filter or EntityFilter(),
        channels=frozenset(Primitive if channels is None else channels),
        fusion=method,
        weights=tuple(sorted((weights or {}).items(), key=lambda pair: pair[0].value)),
        as_of=None if as_of is None else check_instant("asOf", as_of),
        locale=locale,
        rerank=rerank,
    )


def check_question(tuning: Tuning, text: str) -> str:
    """The question in composed form; blank, too long, with NUL or a lone surrogate is `BadInput`."""
    if len(text) > tuning.question_most:
        raise BadInput(f"The question has {len(text):,} characters; at most {tuning.question_most:,} are taken.")
    text = strict(text, "The question")
    if blank(text):
        raise BadInput("The question is empty; write what you are looking for.")
    return text


def check_namespaces(tuning: Tuning, names: Iterable[str] | None) -> tuple[str, ...] | None:
    """The names once each, in order; None means all that the caller may read."""
    return None if names is None else check_values("namespaces", names, tuning.namespaces_most)


def check_values(name: str, values: Iterable[str], most: int) -> tuple[str, ...]:
    """A list of a filter, each value clean and once; too many are `BadInput`."""
    listed = list(values)
    if len(listed) > most:
        raise BadInput(f"`{name}` has {len(listed):,} values; at most {most:,} are taken.")
    return tuple(dict.fromkeys(strict(value, f"A value of `{name}`") for value in listed))


def check_scopes(name: str, scopes: tuple[str, ...]) -> tuple[str, ...]:
    """Relevance scopes as they are; raises `BadInput` for one that is not of the form `type:id`."""
    for scope in scopes:
        kind, colon, id = scope.partition(":")
        if not (colon and kind and id):
            raise BadInput(f"`{name}` has {scope[:100]!r}; a relevance scope has the form `type:id`, such as `project:alpha`.")
    return scopes


def check_instant(name: str, instant: datetime) -> datetime:
    """An instant with its zone, in UTC, between years 1 and 9999."""
    if instant.tzinfo is None or instant.utcoffset() is None:
        raise BadInput(f"`{name}` needs a time zone, such as 2026-09-05T00:00:00Z.")
    try:
        return min(max(instant.astimezone(UTC), FIRST), LAST)
    except OverflowError:
        raise BadInput(f"`{name}` must lie between the years 1 and 9999.") from None


def check_meta(name: str, value: Any) -> str | None:
    """The JSON text of a containment filter: an object of at most 64 pairs, 8 KB and three levels."""
    if value is None:
        return None
    if not isinstance(value, dict):
        raise BadInput(f'`{name}` must be an object of the pairs to contain, such as {{"tag": "guide"}}.')
    if len(value) > 64 or depth_of(value) > 3:
        raise BadInput(f"`{name}` may have 64 pairs and three levels.")
    return encode_json(name, value, 8_192)


def encode_json(name: str, value: Any, most: int) -> str:
    """JSON text of a value from a client, free of what PostgreSQL cannot store; its depth was checked before."""
    if not is_finite(value):
        raise BadInput(f"`{name}` holds a number that JSON lacks, such as NaN or 1e400.")
    try:
        text = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except (TypeError, ValueError, RecursionError):
        raise BadInput(f"`{name}` holds something that is not JSON, such as a lone surrogate or a huge whole number.") from None
    if _NUL.search(text) is not None:
        raise BadInput(f"`{name}` holds a NUL character; remove it.")
    if len(text) > most:
        raise BadInput(f"`{name}` takes {len(text):,} characters as JSON; at most {most:,} are taken.")
    return text


def is_finite(value: Any) -> bool:
    """True when every number in a JSON value is one."""
    if isinstance(value, float):
        return math.isfinite(value)
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return all(is_finite(part) for part in parts)


def depth_of(value: Any) -> int:
    """How many levels of objects and lists a value has."""
    deepest, todo = 0, [(value, 1)]
    while todo:
        item, level = todo.pop()
        if isinstance(item, dict | list):
            deepest = max(deepest, level)
            if deepest > 100:
                break
            todo += [(child, level + 1) for child in (item.values() if isinstance(item, dict) else item)]
    return deepest


def within(name: str, number: int, least: int, most: int) -> None:
    """Refuse a number outside its limits."""
    if not least <= number <= most:
        raise BadInput(f"`{name}` is {number}; it must be from {least} to {most:,}.")
