"""What can be counted by what, and how counted groups become the buckets of an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from itertools import product

from retrieval.entity_filter import EntityFilter
from retrieval.errors import BadInput


class Metric(StrEnum):
    """What is counted."""

    ENTITIES = "ENTITIES"
    FRAGMENTS = "FRAGMENTS"
    FACTS = "FACTS"


class Dimension(StrEnum):
    """What it is grouped by."""

    NAMESPACE = "NAMESPACE"
    KIND = "KIND"
    TYPE = "TYPE"
    STATUS = "STATUS"
    SOURCE_PATH = "SOURCE_PATH"
    DAY = "DAY"
    WEEK = "WEEK"
    MONTH = "MONTH"


class DateField(StrEnum):
    """Which instant of an entity a period is taken from."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    OCCURRED = "OCCURRED"


PERIODS = frozenset({Dimension.DAY, Dimension.WEEK, Dimension.MONTH})
Values = tuple[str | None, ...]
"""A value for each dimension; a period is its first day, as 2026-09-05."""


@dataclass(frozen=True, slots=True)
class Aggregation:
    """One count as a value."""

    metric: Metric
    dimensions: tuple[Dimension, ...]
    namespaces: tuple[str, ...] | None = None
    filter: EntityFilter = field(default_factory=EntityFilter)
    date_field: DateField = DateField.CREATED

    def __post_init__(self) -> None:
        """Raises `BadInput` for dimensions that do not go together."""
        if len(self.dimensions) > 2 or len(set(self.dimensions)) < len(self.dimensions):
            raise BadInput("`dimensions` takes up to two, each once.")
        if PERIODS.issuperset(self.dimensions) and len(self.dimensions) == 2:
            raise BadInput("`dimensions` takes one of DAY, WEEK and MONTH; the second one must be no period.")


@dataclass(frozen=True, slots=True)
class Bucket:
    """A group: one value for each dimension in their order, and how many there are."""

    values: tuple[tuple[Dimension, str | None], ...]
    count: int


def buckets(asked: Aggregation, groups: Mapping[Values, int], most: int) -> list[Bucket]:
    """The groups with the empty periods between them, ordered; more than `most` are `BadInput`.

    Periods come in the order of time, what has none last, and of one period the largest first; without periods the largest
    comes first. Equal counts are ordered by value, what has no value last.

    >>> trend = Aggregation(Metric.ENTITIES, (Dimension.MONTH,))
    >>> [(bucket.values[0][1], bucket.count) for bucket in buckets(trend, {("2026-01-01",): 2, ("2026-03-01",): 1}, 1_000)]
    [('2026-01', 2), ('2026-02', 0), ('2026-03', 1)]
    """
    counts = Counter(dict(groups))
    period = next((place for place, dimension in enumerate(asked.dimensions) if dimension in PERIODS), None)
    if period is not None:
        counts.update(dict.fromkeys(between(asked.dimensions[period], period, counts, most), 0))
    if len(counts) > most:
        raise too_many(most, period is not None)
    times = () if period is None else (period,)

    def place(values: Values) -> tuple[object, ...]:
        moments = [(values[at] is None, values[at] or "") for at in times]
        return (*moments, -counts[values], *((value is None, value or "") for value in values))

    return [Bucket(shown(asked.dimensions, values), counts[values]) for values in sorted(counts, key=place)]


def between(dimension: Dimension, at: int, groups: Iterable[Values], most: int) -> list[Values]:
    """Every period of the range that was found with every other value that was found; `BadInput` when that is too much."""
    listed = list(groups)
    found = [date.fromisoformat(values[at] or "") for values in listed if values[at] is not None]
    if not found:
        return []
    others = {values[:at] + values[at + 1 :] for values in listed}
    if count_of_periods(dimension, min(found), max(found)) * len(others) > most:
        raise too_many(most, has_period=True)
    periods = [day.isoformat() for day in periods_of(dimension, min(found), max(found))]
    return [(*other[:at], period, *other[at:]) for period, other in product(periods, others)]


def count_of_periods(dimension: Dimension, first: date, last: date) -> int:
    """How many periods there are from one to another, both with them."""
    if dimension is Dimension.MONTH:
        return (last.year - first.year) * 12 + last.month - first.month + 1
    return (last - first).days // (7 if dimension is Dimension.WEEK else 1) + 1


def periods_of(dimension: Dimension, first: date, last: date) -> Iterator[date]:
    """The first days of the periods from one to another."""
    for number in range(count_of_periods(dimension, first, last)):
        if dimension is Dimension.MONTH:
            month = first.month - 1 + number
            yield date(first.year + month // 12, month % 12 + 1, 1)
        else:
            yield first + timedelta(days=number * (7 if dimension is Dimension.WEEK else 1))


def shown(dimensions: tuple[Dimension, ...], values: Values) -> tuple[tuple[Dimension, str | None], ...]:
    """Values as an answer gives them: a month without its day."""
    return tuple(
        (dimension, value[:7] if dimension is Dimension.MONTH and value is not None else value)
        for dimension, value in zip(dimensions, values, strict=True)
    )


def too_many(most: int, has_period: bool) -> BadInput:
    """What to change when an answer would not end."""
    longer = "take a longer period (DAY, WEEK, MONTH), " if has_period else ""
    return BadInput(f"There would be more than {most:,} buckets; {longer}narrow the filter or leave out a dimension.")
