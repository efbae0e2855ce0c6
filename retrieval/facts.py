"""Facts as they hold at one instant and were recorded at another: pages, counts, single facts, conflicts, each kind batched."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import orjson

from retrieval.database import Record
from retrieval.loader import Loader
from retrieval.primitives.graph import Direction
from retrieval.reader import Reader
from retrieval.records import Fact
from retrieval.stage import Work
from retrieval.tuning import CONFLICTS_NAMED_MOST, CONFLICTS_READ_AT_ONCE

Key = TypeVar("Key")
Item = TypeVar("Item")
Group = tuple[int, int, str]
"""Namespace, subject and predicate."""
Said = tuple[Fact, int]
"""A fact, and the number of its object or value among those of its group."""
TOLD = len(Fact._fields) - 1
"""The columns of a fact in a statement: all but the name of its namespace."""


@dataclass(frozen=True, slots=True)
class FactQuestion:
    """The facts around one entity that hold at `at`, as they were recorded at `known` (None: now)."""

    ns: int
    entity_id: int
    predicates: tuple[str, ...] | None
    direction: Direction
    at: datetime
    known: datetime | None

    @property
    def columns(self) -> tuple[object, ...]:
        """Its parameters in a statement."""
        predicates = None if self.predicates is None else orjson.dumps(self.predicates).decode()
        ways = self.direction.ways
        return self.ns, self.entity_id, True in ways, False in ways, predicates, self.at, self.known


@dataclass(frozen=True, slots=True)
class FactPage:
    """`first` facts of a question after one of them: its predicate and number."""

    question: FactQuestion
    after: tuple[str, int] | None
    first: int


@dataclass(frozen=True, slots=True)
class StatedPage:
    """`first` facts that an entity states, after one of them by its number (0: from the first)."""

    ns: int
    entity_id: int
    after: int
    first: int


@dataclass(frozen=True, slots=True)
class Known:
    """A fact by number as it was recorded at an instant (None: now)."""

    ns: int
    fact_id: int
    known: datetime | None


@dataclass(frozen=True, slots=True)
class Doubt:
    """A recorded row, asked for its conflicts at an instant, as they were recorded at another (None: now)."""

    ns: int
    row_id: int
    subject_id: int
    predicate: str
    at: datetime
    known: datetime | None

    @property
    def group(self) -> Group:
        """What facts must share to be in conflict."""
        return self.ns, self.subject_id, self.predicate


class FactLoaders:
    """The loaders of facts of one reader."""

    def __init__(self, work: Work, reader: Reader) -> None:
        self.reader = reader
        self.pages: Loader[FactPage, list[Fact]] = Loader(work, self._pages)
        self.counts: Loader[FactQuestion, int] = Loader(work, self._counts)
        self.stated: Loader[StatedPage, list[Fact]] = Loader(work, self._stated)
        self.stated_counts: Loader[tuple[int, int], int] = Loader(work, self._stated_counts)
        self.known: Loader[Known, Fact] = Loader(work, self._known)
        self.conflicts: Loader[Doubt, list[Fact]] = Loader(work, self._conflicts)

    async def _pages(self, keys: list[FactPage]) -> Mapping[FactPage, list[Fact]]:
        values = columns(*(key.question.columns + (key.after or (None, None)) + (key.first,) for key in keys))
        rows = await self.reader.rows("facts_of", *values, self.reader.store.tuning.facts_in_order_from)
        return self._listed(keys, "page", rows)

    async def _counts(self, keys: list[FactQuestion]) -> Mapping[FactQuestion, int]:
        rows = await self.reader.rows("facts_of_counted", *columns(*(key.columns for key in keys)))
        return {keys[row["list"] - 1]: row["n"] for row in rows}

    async def _stated(self, keys: list[StatedPage]) -> Mapping[StatedPage, list[Fact]]:
        values = columns(*((key.ns, key.entity_id, key.after, key.first) for key in keys))
        return self._listed(keys, "page", await self.reader.rows("facts_stated", *values))

    async def _stated_counts(self, keys: list[tuple[int, int]]) -> Mapping[tuple[int, int], int]:
        rows = await self.reader.rows("facts_stated_counted", *columns(*keys))
        return {(row["ns"], row["entity_id"]): row["n"] for row in rows}

    async def _known(self, keys: list[Known]) -> Mapping[Known, Fact]:
        rows = await self.reader.rows("facts_known", *columns(*((key.ns, key.fact_id, key.known) for key in keys)))
        return {keys[row["place"] - 1]: fact for row, fact in told(rows, self.reader)}

    async def _conflicts(self, keys: list[Doubt]) -> Mapping[Doubt, list[Fact]]:
        """What is said of a subject by a predicate is read once for all facts that share them; of very much, each fact's own."""
        found, large = dict[Doubt, list[Fact]](), list[Doubt]()
        for (at, known), asked in grouped(keys, lambda key: (key.at, key.known)).items():
            by_group = grouped(asked, lambda key: key.group)
            told = await self._said(list(by_group), at, known)
            for group, doubts in by_group.items():
                said = told.get(group, [])
                if len(said) > CONFLICTS_READ_AT_ONCE:
                    large += doubts
                else:
                    found |= {doubt: disputing(doubt, said) for doubt in doubts}
        return found | await self._conflicts_one_by_one(large)

    async def _said(self, groups: list[Group], at: datetime, known: datetime | None) -> dict[Group, list[Said]]:
        rows = await self.reader.rows("facts_beside", *columns(*groups), at, known, None, None, [], CONFLICTS_READ_AT_ONCE + 1)
        return {
            groups[place - 1]: [(fact, row["said"]) for row, fact in told(listed, self.reader)]
            for place, listed in grouped(rows, lambda row: int(row["place"])).items()
        }

    async def _conflicts_one_by_one(self, keys: list[Doubt]) -> dict[Doubt, list[Fact]]:
        if not keys:
            return {}
        values = columns(*((key.ns, key.row_id, key.at, key.known) for key in keys))
        return self._listed(keys, "place", await self.reader.rows("facts_in_conflict", *values, CONFLICTS_NAMED_MOST))

    def _listed(self, keys: list[Key], column: str, rows: list[Record]) -> dict[Key, list[Fact]]:
        """The facts of each list, whose number from 1 is in a column."""
        found: dict[int, list[Fact]] = {}
        for row, fact in told(rows, self.reader):
            found.setdefault(row[column], []).append(fact)
        return {keys[number - 1]: facts for number, facts in found.items()}


def disputing(doubt: Doubt, said: Sequence[Said]) -> list[Fact]:
    """The first facts that say something else than one that is among them; none when it is not."""
    own = next((number for fact, number in said if fact.row_id == doubt.row_id), None)
    return [] if own is None else [fact for fact, number in said if number != own][:CONFLICTS_NAMED_MOST]


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Items by what they have in common, in the order given."""
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def columns(*rows: tuple[object, ...]) -> list[list[object]]:
    """Rows as columns, for a statement that takes an array of each."""
    return [list(column) for column in zip(*rows, strict=True)]


def told(rows: Sequence[Record], reader: Reader) -> Iterator[tuple[Record, Fact]]:
    """Rows with the fact that each of them tells, as the reader shows it; its columns stand side by side in the order of a fact.

    A row is cut out whole, since looking up each column by its name takes twice as long as all the rest.
    """
    if not rows:
        return
    first = next(place for place, name in enumerate(rows[0].keys()) if name == "ns")
    columns, names = slice(first, first + TOLD), reader.names
    for row in rows:
        ns, row_id, fact_id, subject_id, predicate, object_id, value, *instants, evidence, scopes = row[columns]
        if value is not None:
            value = reader.shown_value(ns, value, predicate)
        said = (ns, names[ns], row_id, fact_id, subject_id, predicate, object_id, value)
        yield row, Fact._make((*said, *instants, evidence, () if scopes is None else tuple(scopes)))
