"""Computes in plain Python what lists and counts of entities must be; shares neither code nor SQL with the product."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from tests.contract.oracle import Refused, View
from tests.fixtures.company import CLOCK, Entity

PERIODS = ("DAY", "WEEK", "MONTH")
BUCKETS = 1_000


@dataclass(frozen=True)
class EntityFilter:
    """The parts of an entity filter; None is as left out."""

    kinds: list[str] | None = None
    types: list[str] | None = None
    statuses: list[str] | None = None
    sourcePaths: list[str] | None = None
    keys: list[str] | None = None
    meta: dict[str, Any] | None = None
    attributes: dict[str, Any] | None = None
    relevanceScopes: list[str] | None = None
    createdAfter: str | None = None
    createdBefore: str | None = None
    updatedAfter: str | None = None
    updatedBefore: str | None = None
    occurredAfter: str | None = None
    occurredBefore: str | None = None

    @property
    def is_open(self) -> bool:
        return self == EntityFilter()

    def admits(self, entity: Entity, at: datetime) -> bool:
        """Whether an entity meets every part; attributes as they hold at an instant."""
        lists = (
            (self.kinds, {entity.kind}),
            (self.types, {entity.type}),
            (self.statuses, {entity.status}),
            (self.sourcePaths, {entity.path}),
            (self.keys, {entity.key}),
            (self.relevanceScopes, set(entity.scopes)),
        )
        ranges = (
            (self.createdAfter, self.createdBefore, entity.created),
            (self.updatedAfter, self.updatedBefore, entity.updated),
            (self.occurredAfter, self.occurredBefore, entity.occurred),
        )
        return (
            all(wanted is None or bool(held & set(wanted)) for wanted, held in lists)
            and all(is_between(after, before, moment) for after, before, moment in ranges)
            and (self.meta is None or self.meta.items() <= entity.meta.items())
            and (self.attributes is None or self.attributes.items() <= attributes_of(entity, at).items())
        )


def is_between(after: str | None, before: str | None, moment: datetime | None) -> bool:
    if after is None and before is None:
        return True
    return (
        moment is not None
        and (after is None or moment > datetime.fromisoformat(after))
        and (before is None or moment < datetime.fromisoformat(before))
    )


def attributes_of(entity: Entity, at: datetime) -> dict[str, Any]:
    """The attributes in the last version that had begun."""
    held = [version for version in entity.versions if version[0] <= at]
    return max(held, key=lambda version: version[0])[1] if held else {}


def chosen(view: View, namespaces: list[str] | None, filter: dict[str, Any] | None, at: datetime | None = None) -> list[Entity]:
    """The visible entities that meet a filter."""
    spaces, moment = view.named(namespaces), at or CLOCK
    wanted = EntityFilter(**view.asked(spaces, filter))
    return [entity for entity in view.entities(spaces) if wanted.admits(entity, moment)]


def listed(
    view: View, namespaces: list[str] | None = None, filter: dict[str, Any] | None = None, orderBy: str = "KEY"
) -> list[Entity]:
    """All of a list, in order."""
    return sorted(chosen(view, namespaces, filter), key=lambda entity: place_of(view, entity, orderBy))


def place_of(view: View, entity: Entity, order: str) -> tuple[Any, ...]:
    """Where an entity stands in an order: a title whose numbers are masked where one without its digits would."""
    title = entity.title
    if not view.shows(entity.space) and view.world.numbers_in(title):
        title = re.sub(r"\d", "#", re.sub(r"\S*@\S*", "@", title))
    texts = {"KEY": entity.key, "TITLE": title}
    dates = {"CREATED": entity.created, "UPDATED": entity.updated, "OCCURRED": entity.occurred}
    if order in texts:
        return texts[order], entity.space.ns, entity.id
    moment = dates[order]
    age = timedelta(0) if moment is None else datetime(9000, 1, 1, tzinfo=UTC) - moment
    return moment is None, age, entity.space.ns, entity.id


def keep_cursor(view: View, cursor: str, entity: Entity, **given: Any) -> None:
    """Remember a cursor that a caller was given for an entity in a list; `given` are the arguments of the list."""
    view.world.cursors[cursor] = (scope_of(view, given), place_of(view, entity, given.get("orderBy", "KEY")))


def start_of(view: View, cursor: str, given: dict[str, Any], items: list[Entity]) -> int:
    """How many of a list stand up to a cursor; raises `Refused` for one of another caller or list, or of nobody."""
    scope, place = view.world.cursors.get(cursor, (None, ()))
    if scope != scope_of(view, given):
        raise Refused("BAD_CURSOR")
    return sum(place_of(view, entity, given.get("orderBy", "KEY")) <= place for entity in items)


def scope_of(view: View, given: dict[str, Any]) -> tuple[Any, ...]:
    names = given.get("namespaces")
    return view.me.name, given.get("orderBy", "KEY"), names and sorted(names), given.get("filter") or {}


@dataclass(frozen=True)
class Bucket:
    values: list[tuple[str, str | None]]
    count: int


def counted(
    view: View, metric: str, dimensions: list[str], namespaces: list[str] | None = None, filter: dict[str, Any] | None = None,
    dateField: str = "CREATED",
) -> list[Bucket]:  # fmt: skip
    """The buckets of an aggregate."""
    entities = chosen(view, namespaces, filter)
    subjects = [fact.subject for fact in view.facts(view.spaces) if fact.retracted is None]
    things = {
        "ENTITIES": entities,
        "FRAGMENTS": [entity for entity in entities for _ in entity.fragments],
        "FACTS": [entity for entity in subjects if entity in entities],
    }
    plain = all(view.shows(space) for space in view.named(namespaces))

    def shown(entity: Entity, name: str) -> str | None:
        value = value_of(entity, name, dateField)
        return value if plain or value is None or name == "NAMESPACE" else view.world.masked(value)

    counts = Counter(tuple(shown(entity, name) for name in dimensions) for entity in things[metric])
    days = sorted(day for entity in things[metric] if (day := day_of(entity, dateField)) is not None)
    found = list(counts)
    for place, name in enumerate(dimensions):
        if name in PERIODS and days:
            for number in range((days[-1] - days[0]).days + 1):
                period = period_of(name, days[0] + timedelta(days=number))
                for values in found:
                    counts[(*values[:place], period, *values[place + 1 :])] += 0

    if len(counts) > BUCKETS:
        raise Refused("BAD_INPUT")

    def order(values: tuple[str | None, ...]) -> tuple[Any, ...]:
        times = [value for name, value in zip(dimensions, values, strict=True) if name in PERIODS]
        return [(t is None, t or "") for t in times], -counts[values], [(v is None, v or "") for v in values]

    return [Bucket(list(zip(dimensions, values, strict=True)), counts[values]) for values in sorted(counts, key=order)]


def value_of(entity: Entity, dimension: str, field: str) -> str | None:
    if dimension in PERIODS:
        day = day_of(entity, field)
        return None if day is None else period_of(dimension, day)
    return {
        "NAMESPACE": entity.space.name, "KIND": entity.kind, "TYPE": entity.type, "STATUS": entity.status,
        "SOURCE_PATH": entity.path,
    }[dimension]  # fmt: skip


def day_of(entity: Entity, field: str) -> date | None:
    moment = {"CREATED": entity.created, "UPDATED": entity.updated, "OCCURRED": entity.occurred}[field]
    return None if moment is None else moment.astimezone(UTC).date()


def period_of(dimension: str, day: date) -> str:
    if dimension == "WEEK":
        return date.fromisocalendar(*day.isocalendar()[:2], 1).isoformat()
    return day.isoformat() if dimension == "DAY" else f"{day:%Y-%m}"
