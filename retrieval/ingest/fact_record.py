"""What the record becomes when facts are asserted, changed and retracted: the rules alone, on values, without a database.

Facts of one subject and predicate stand beside each other, whatever they say. Only a fact that is asserted with `supersede` ends
what held when it began; it is remembered as such, so that a fact that is asserted later and began earlier ends there too. So the
state after some assertions does not depend on their order.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import orjson

from retrieval.errors import BadInput
from retrieval.ingest.fact_input import check_interval
from retrieval.ingest.fact_intervals import LAST, At, Intervals

EVER, NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
"""Stand for an open start and an open end."""
ASSERTED = 3
"""The evidence of a fact that comes without."""
Pair = tuple[int, str]
"""Subject and predicate."""
Said = tuple[int | None, bytes]
"""The object of a fact, or its value in a form to compare."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is recorded of one fact."""

    fact_id: int
    subject_id: int
    predicate: str
    object_id: int | None
    value: Any
    valid_from: datetime | None
    valid_to: datetime | None
    evidence: int
    scopes: tuple[str, ...]
    supersedes: bool
    has_places: bool

    @property
    def pair(self) -> Pair:
        """Subject and predicate, which a fact keeps."""
        return self.subject_id, self.predicate

    @property
    def begins(self) -> datetime:
        """Its start, to compare."""
        return self.valid_from or EVER

    @property
    def ends(self) -> datetime:
        """Its end, to compare."""
        return self.valid_to or NEVER

    @property
    def said(self) -> Said:
        """What it says of its subject; facts that say different things can conflict."""
        return what_is_said(self.object_id, self.value)

    @property
    def identity(self) -> tuple[Any, ...]:
        """Facts that are equal in this are one fact; one with places and one without are two, since they are seen by others."""
        return self.pair, self.said, self.begins, self.ends, self.has_places


@dataclass(frozen=True, slots=True)
class Assertion:
    """A checked fact with entities instead of keys; what is None was left out."""

    subject_id: int
    predicate: str
    object_id: int | None
    value: Any
    valid_from: datetime | None
    valid_to: datetime | None
    evidence: int | None
    scopes: tuple[str, ...] | None
    places: frozenset[int] | None
    supersede: bool
    fact_id: int | None = None

    @property
    def pair(self) -> Pair:
        """Subject and predicate."""
        return self.subject_id, self.predicate

    @property
    def said(self) -> Said:
        """What it says of its subject."""
        return what_is_said(self.object_id, self.value)


@dataclass(slots=True)
class Record:
    """The facts of some subjects and predicates as they stand in the record, and what becomes of them."""

    live: dict[int, Row] = field(default_factory=dict)
    """What is in the record now, by fact."""
    gone: dict[int, Row] = field(default_factory=dict)
    """The last rows of facts that were retracted."""
    places: dict[int, frozenset[int]] = field(default_factory=dict)
    """The entities that stated each fact."""
    twins: dict[tuple[Any, ...], set[int]] = field(default_factory=dict)
    """The facts of each identity; several when one was changed into another."""
    intervals: dict[Pair, Intervals] = field(default_factory=dict)
    """When the facts of each subject and predicate hold."""
    superseding: dict[Pair, list[At]] = field(default_factory=dict)
    """Where those begin that end what held before."""
    told: dict[int, tuple[int | None, bytes]] = field(default_factory=dict)
    """What each fact says, made once: a thousand facts are compared a million times."""

    def put(self, row: Row) -> None:
        """Have a row in the record, instead of the one of its fact that was there."""
        before = self.live.get(row.fact_id)
        if before is not None:
            self.twins[before.identity].discard(row.fact_id)
            self.intervals[row.pair].remove(row.fact_id, before.begins, before.ends)
            if before.supersedes:
                starts = self.superseding[row.pair]
                del starts[bisect_left(starts, (before.begins, row.fact_id))]
        self.live[row.fact_id], self.told[row.fact_id] = row, row.said
        self.twins.setdefault(row.identity, set()).add(row.fact_id)
        self.intervals.setdefault(row.pair, Intervals()).add(row.fact_id, row.begins, row.ends)
        if row.supersedes:
            insort(self.superseding.setdefault(row.pair, []), (row.begins, row.fact_id))

    def rivals(self, row: Row, since: datetime, until: datetime) -> Iterator[Row]:
        """The facts of its subject and predicate that say something else, begin before `until` and end after `since`."""
        said, intervals = row.said, self.intervals.get(row.pair)
        for fact_id in () if intervals is None else intervals.near(since, until):
            other = self.live[fact_id]
            if self.told[fact_id] != said and other.begins < until and since < other.ends:
                yield other

    def assert_new(self, given: Assertion, fact_id: int) -> tuple[int, bool]:
        """Assert a fact; gives its id, and whether it is new: it is not when it is in the record just like this."""
        row = Row(
            fact_id, given.subject_id, given.predicate, given.object_id, given.value, given.valid_from, given.valid_to,
            given.evidence or ASSERTED, given.scopes or (), given.supersede, bool(given.places),
        )  # fmt: skip
        row = self.ended_by_what_follows(row)
        same = self.twins.get(row.identity)
        twin = self.live[min(same)] if same else None
        if twin is None:
            self.put(row)
            self.places[fact_id] = given.places or frozenset()
        else:
            row = replace(
                twin,
                evidence=max(twin.evidence, row.evidence),
                scopes=tuple(dict.fromkeys((*twin.scopes, *row.scopes))),
                supersedes=twin.supersedes or row.supersedes,
            )
            self.put(row)
            self.places[twin.fact_id] = self.places.get(twin.fact_id, frozenset()) | (given.places or frozenset())
        if given.supersede:
            self.end_what_held(row)
        return row.fact_id, twin is None

    def change(self, given: Assertion, fact_id: int) -> None:
        """Change the fact of an id: what is left out stays as it is. Raises `BadInput`."""
        before = self.live.get(fact_id) or self.gone.get(fact_id)
        if before is None:
            raise BadInput("There is no fact of this id in this namespace.")
        if before.pair != (given.subject_id, given.predicate):
            raise BadInput("A fact keeps its subject and predicate; retract it and assert another.")
        stays = given.object_id is None and given.value is None
        row = replace(
            before,
            object_id=before.object_id if stays else given.object_id,
            value=before.value if stays else given.value,
            valid_from=given.valid_from or before.valid_from,
            valid_to=given.valid_to or before.valid_to,
            evidence=given.evidence or before.evidence,
            scopes=before.scopes if given.scopes is None else given.scopes,
            supersedes=before.supersedes or given.supersede,
            has_places=before.has_places if given.places is None else bool(given.places),
        )
        check_interval(row.valid_from, row.valid_to)
        if given.supersede and row.valid_from is None:
            raise BadInput("`supersede` needs `validFrom`: what held before ends there.")
        self.put(row)
        if given.places is not None:
            self.places[fact_id] = given.places
        if given.supersede:
            self.end_what_held(row)

    def ended_by_what_follows(self, row: Row) -> Row:
        """The row, ended where the next fact begins that was asserted to take the place of what held before it."""
        starts, said = self.superseding.get(row.pair, []), row.said
        for begins, fact_id in islice(starts, bisect_left(starts, (row.begins, LAST)), None):
            if begins >= row.ends:
                break
            if self.told[fact_id] != said:
                return replace(row, valid_to=begins)
        return row

    def end_what_held(self, row: Row) -> None:
        """End what held when this fact began. What began at the same instant stays, in conflict: neither was there before."""
        for other in list(self.rivals(row, row.begins, row.begins)):
            self.put(replace(other, valid_to=row.valid_from))

    def in_conflict(self, row: Row, most: int) -> list[int]:
        """The facts that say something else of the same subject and hold at an instant at which this one does."""
        return [other.fact_id for other in islice(self.rivals(row, row.begins, row.ends), most)]


def what_is_said(object_id: int | None, value: Any) -> Said:
    """The object of a fact, or its value in a form to compare."""
    return object_id, b"" if value is None else said_by(value)


def said_by(value: Any) -> bytes:
    """A JSON value in a form that is equal for values that the database takes for equal: 1 and 1.0 are, 1 and true are not."""
    return orjson.dumps(plain(value), option=orjson.OPT_SORT_KEYS)


def plain(value: Any) -> Any:
    """A JSON value whose whole numbers are integers."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    return [plain(child) for child in value] if isinstance(value, list) else value
