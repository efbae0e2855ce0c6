"""Facts as they hold at one instant and were recorded at another: pages, counts, single facts, conflicts, each kind batched."""

from __future__ import annotations

from collections.abc import Mapping
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
from retrieval.tuning import CONFLICTS_NAMED_MOST

Key = TypeVar("Key")


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
    at: datetime
    known: datetime | None


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
        return {keys[row["place"] - 1]: fact_of(row, self.reader) for row in rows}

    async def _conflicts(self, keys: list[Doubt]) -> Mapping[Doubt, list[Fact]]:
        values = columns(*((key.ns, key.row_id, key.at, key.known) for key in keys))
        return self._listed(keys, "place", await self.reader.rows("facts_in_conflict", *values, CONFLICTS_NAMED_MOST))

    def _listed(self, keys: list[Key], column: str, rows: list[Record]) -> dict[Key, list[Fact]]:
        """The facts of each list, whose number from 1 is in a column."""
        found: dict[int, list[Fact]] = {}
        for row in rows:
            found.setdefault(row[column], []).append(fact_of(row, self.reader))
        return {keys[number - 1]: facts for number, facts in found.items()}


def columns(*rows: tuple[object, ...]) -> list[list[object]]:
    """Rows as columns, for a statement that takes an array of each."""
    return [list(column) for column in zip(*rows, strict=True)]


def fact_of(row: Record, reader: Reader) -> Fact:
    """A fact from a row that has its columns, as the reader shows it."""
    return Fact(
        ns=row["ns"],
        namespace=reader.names[row["ns"]],
        row_id=row["row_id"],
        fact_id=row["fact_id"],
        subject_id=row["subject_id"],
        predicate=row["predicate"],
        object_id=row["object_id"],
        value=reader.shown_value(row["ns"], row["value"], row["predicate"]),
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        recorded_at=row["recorded_at"],
        retracted_at=row["retracted_at"],
        evidence=row["evidence"],
        relevance_scopes=tuple(row["relevance_scopes"]),
    )
