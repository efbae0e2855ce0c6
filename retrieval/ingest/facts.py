"""Asserts, changes and retracts facts: many in one transaction, a result for each, and one that is refused stops no other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from retrieval.access import Caller
from retrieval.administration.rights import require
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import counted, note_write
from retrieval.database import Connection, Database, json_text
from retrieval.database import Record as DatabaseRow
from retrieval.domain.rules import Domain
from retrieval.domain.stored import domain_of
from retrieval.errors import BadInput, ContextQLError, LimitExceeded
from retrieval.facts import columns
from retrieval.ingest.edges import refresh_edges
from retrieval.ingest.fact_input import FactInput, checked, named, number_of
from retrieval.ingest.fact_record import Assertion, Record, Row
from retrieval.ingest.idempotency import Once
from retrieval.ingest.sql import statement
from retrieval.keys import key_digest, public_id
from retrieval.outcomes import FactResult, Outcome
from retrieval.retrying import retried
from retrieval.tuning import CONFLICTS_NAMED_MOST, FACTS_MOST

NOWHERE: frozenset[int] = frozenset()
"""The places of a fact that has none."""


async def assert_facts(
    database: Database, caller: Caller, namespace: str, facts: Sequence[FactInput], idempotency_key: str | None = None
) -> list[FactResult]:
    """Assert facts in the order given, all in one transaction; a result for each. Needs the role WRITER.

    A fact that is in the record already, with the same interval, changes nothing, or adds its evidence, scopes and places.
    With `fact_id` a fact is changed or closed: its row is retracted and another recorded under the same id. Raises
    `NamespaceNotFound`, `Forbidden`, `LimitExceeded` above 5,000 facts, `Conflict` for a key that was used for another input.
    """
    check_number(len(facts))
    once = Once("assertFacts", caller, idempotency_key, facts)

    async def write() -> list[FactResult]:
        async with database.writing() as connection:
            ns = await require(connection, caller, namespace, "WRITER")
            known = await once.results(connection, ns)
            if known is not None:
                return [FactResult.of_json(one) for one in known]
            assertions = Assertions(connection, ns)
            results = await assertions.write(facts)
            await note_facts(connection, caller, Action.ASSERT_FACTS, ns, assertions.written, results)
            await once.keep(connection, ns, [one.as_json() for one in results])
            return results

    return await retried(write)


async def retract_facts(database: Database, caller: Caller, namespace: str, fact_ids: Sequence[str]) -> list[FactResult]:
    """Retract facts from now on: UPDATED, UNCHANGED when it was retracted before, FAILED for the id of no fact here.

    What was known before the retraction is still read with `knownAt`. Needs the role WRITER.
    """
    check_number(len(fact_ids))

    async def write() -> list[FactResult]:
        async with database.writing() as connection:
            ns = await require(connection, caller, namespace, "WRITER")
            results, subjects = await retract(connection, ns, fact_ids)
            await note_facts(connection, caller, Action.RETRACT_FACTS, ns, subjects, results)
            return results

    return await retried(write)


def check_number(number: int) -> None:
    """Refuse a list that is too long for one transaction."""
    if number > FACTS_MOST:
        raise LimitExceeded(
            f"{number:,} facts are too many for one request; send at most {FACTS_MOST:,} or use `contextql facts load`."
        )


async def note_facts(
    connection: Connection, caller: Caller, action: Action, ns: int, entities: Iterable[int], results: Sequence[FactResult]
) -> None:
    """Note facts that were written, unless all of them were refused or there before."""
    outcomes = [one.outcome for one in results]
    if not {Outcome.CREATED, Outcome.UPDATED}.isdisjoint(outcomes):
        wrote = counted(outcomes)
        await note_write(connection, caller, action, ns, entities=sorted(entities), items=len(results), outcome=wrote)


async def retract(connection: Connection, ns: int, fact_ids: Sequence[str]) -> tuple[list[FactResult], set[int]]:
    """Retract facts inside a transaction; gives a result for each, and the entities that the retracted ones are about."""
    found: dict[str, int | ContextQLError] = {}
    for fact_id in fact_ids:
        try:
            found[fact_id] = number_here(ns, fact_id)
        except ContextQLError as error:
            found[fact_id] = error
    numbers = sorted({one for one in found.values() if isinstance(one, int)})
    rows = await connection.fetch(statement("last_rows"), ns, numbers)
    await connection.fetch(statement("lock_subjects"), ns, sorted({row["subject_id"] for row in rows}))
    rows = await connection.fetch(statement("last_rows"), ns, numbers)  # its snapshot is younger than the locks
    now = await connection.fetchval(statement("recording_instant"))
    live = {row["fact_id"]: row["row_id"] for row in rows if row["retracted_at"] is None}
    await connection.execute(statement("retract_rows"), ns, list(live.values()), now)
    await refresh_edges(connection, ns, live)
    about = {one for row in rows if row["fact_id"] in live for one in (row["subject_id"], row["object_id"]) if one is not None}
    known, results = {row["fact_id"] for row in rows}, list[FactResult]()
    for fact_id in fact_ids:
        number = found[fact_id]
        if isinstance(number, ContextQLError):
            results.append(FactResult.failed(number))
        elif number not in known:
            results.append(FactResult.failed(BadInput("There is no fact of this id in this namespace.")))
        else:
            outcome = Outcome.UNCHANGED if live.pop(number, None) is None else Outcome.UPDATED
            results.append(FactResult(fact_id, outcome))
    return results, about


def number_here(ns: int, fact_id: str) -> int:
    """The number of a fact of this namespace; one of another is as one that is not there."""
    space, number = number_of(fact_id)
    if space != ns:
        raise BadInput("There is no fact of this id in this namespace.")
    return number


@dataclass(frozen=True, slots=True)
class Named:
    """An entity that facts name."""

    entity_id: int
    type: str


@dataclass(slots=True)
class Assertions:
    """Some facts on their way into the record, inside one transaction."""

    connection: Connection
    ns: int
    record: Record = field(default_factory=Record)
    rows: dict[int, int] = field(default_factory=dict)
    """The row of each fact that is in the record."""
    before: dict[int, Row] = field(default_factory=dict)
    """What was in the record."""
    stated: dict[int, frozenset[int]] = field(default_factory=dict)
    """The places that facts had."""
    given: dict[int, tuple[Row, frozenset[int]]] = field(default_factory=dict)
    """What facts and their places had become by when each was last given: the same again changes nothing."""
    written: set[int] = field(default_factory=set)
    """The entities that the facts lead from and to which were recorded."""
    single: frozenset[str] = frozenset()
    """The predicates among them that hold one value."""

    async def write(self, facts: Sequence[FactInput]) -> list[FactResult]:
        """Record the facts; a result for each."""
        given: list[FactInput | ContextQLError] = [checked_or_refused(fact) for fact in facts]
        domain = await domain_of(self.connection, self.ns)
        entities = await self._entities((fact for fact in given if isinstance(fact, FactInput)), hold=bool(domain.packs))
        asserted = [one if isinstance(one, ContextQLError) else self._assertion(one, entities, domain) for one in given]
        whole = [one for one in asserted if isinstance(one, Assertion)]
        await self.connection.fetch(statement("lock_subjects"), self.ns, sorted({one.subject_id for one in whole}))
        await self._look_up(whole)
        fresh = iter(await self._numbers(sum(one.fact_id is None for one in whole)))
        written = [one if isinstance(one, ContextQLError) else self._apply(one, fresh) for one in asserted]
        await self._store(await self.connection.fetchval(statement("recording_instant")))
        return await self._results(written)

    async def _entities(self, facts: Iterable[FactInput], hold: bool) -> dict[bytes, Named]:
        """The entities that facts name; `hold` keeps them from getting another type meanwhile, since packs allow some types."""
        keys = {key for fact in facts for key in (fact.subject, fact.object, *(fact.stated_in or ())) if key is not None}
        digests = sorted({key_digest(key) for key in keys})
        if hold:
            await self.connection.execute(statement("hold_entities"), self.ns, digests)
        rows = await self.connection.fetch(statement("fact_entities"), self.ns, digests)
        return {row["key_digest"]: Named(row["entity_id"], row["type"]) for row in rows}

    def _assertion(self, fact: FactInput, entities: Mapping[bytes, Named], domain: Domain) -> Assertion | ContextQLError:
        """The fact with entities instead of keys, or why there is none."""

        def entity(name: str, key: str) -> Named:
            found = entities.get(key_digest(key))
            if found is None:
                raise BadInput(f"`{name}`: there is no entity {named(key)} in this namespace; store it before its facts.")
            return found

        try:
            subject = entity("subject", fact.subject)
            object_ = None if fact.object is None else entity("object", fact.object)
            if object_ is not None or fact.value is not None:
                domain.check_fact(fact.predicate, subject.type, None if object_ is None else object_.type, fact.value)
            return Assertion(
                subject_id=subject.entity_id,
                predicate=fact.predicate,
                object_id=None if object_ is None else object_.entity_id,
                value=fact.value,
                valid_from=fact.valid_from,
                valid_to=fact.valid_to,
                evidence=fact.evidence,
                scopes=None if fact.relevance_scopes is None else tuple(fact.relevance_scopes),
                places=None if fact.stated_in is None else frozenset(entity("statedIn", key).entity_id for key in fact.stated_in),
                supersede=fact.supersede,
                fact_id=None if fact.fact_id is None else number_here(self.ns, fact.fact_id),
            )
        except ContextQLError as error:
            return error

    async def _look_up(self, given: Sequence[Assertion]) -> None:
        """Read what is in the record that bears on the facts, and those that are to change.

        Where no fact ends another and none is in conflict, that is what says the same; elsewhere all of a subject and predicate.
        """
        predicates = sorted({one.predicate for one in given})
        single = await self.connection.fetch(statement("single_valued"), self.ns, predicates)
        self.single = frozenset(row["name"] for row in single)
        bound = {one.pair for one in given if one.supersede or one.predicate in self.single}
        free = sorted({one.pair for one in given} - bound)
        if free:
            ended = await self.connection.fetch(statement("superseded_pairs"), self.ns, *columns(*free))
            bound |= {(row["subject_id"], row["predicate"]) for row in ended}
        alone = {(*one.pair, *one.said): one for one in given if one.pair not in bound and one.fact_id is None}
        said = [(*one.pair, one.object_id, None if one.value is None else json_text(one.value)) for one in alone.values()]
        for name, asked in (("live_facts", sorted(bound)), ("equal_facts", said)):
            for row in await self.connection.fetch(statement(name), self.ns, *columns(*asked)) if asked else ():
                self._know(row)
        changing = sorted({one.fact_id for one in given if one.fact_id is not None})
        for row in await self.connection.fetch(statement("last_rows"), self.ns, changing) if changing else ():
            if row["retracted_at"] is None:
                self._know(row)
            else:
                self.record.gone[row["fact_id"]] = row_of(row)
        placed = [fact_id for fact_id, row in (self.record.live | self.record.gone).items() if row.has_places]
        if placed and any(one.places is not None for one in given):
            for row in await self.connection.fetch(statement("places_of_facts"), self.ns, placed):
                self.stated[row["fact_id"]] = self.stated.get(row["fact_id"], NOWHERE) | {row["entity_id"]}
        self.record.places |= self.stated

    def _know(self, found: DatabaseRow) -> None:
        row = row_of(found)
        self.record.put(row)
        self.before[row.fact_id] = row
        self.rows[row.fact_id] = found["row_id"]

    async def _numbers(self, count: int) -> list[int]:
        return [row["fact_id"] for row in await self.connection.fetch(statement("new_fact_ids"), count)] if count else []

    def _apply(self, given: Assertion, fresh: Iterable[int]) -> tuple[int, Outcome] | ContextQLError:
        """Put one fact into the record; gives its id and what became of it."""
        fact_id = given.fact_id
        if fact_id is None:
            fact_id, is_new = self.record.assert_new(given, next(iter(fresh)))
            return fact_id, self._outcome(fact_id, is_new)
        try:
            self.record.change(given, fact_id)
        except ContextQLError as error:
            return error
        return fact_id, self._outcome(fact_id, False)

    def _outcome(self, fact_id: int, is_new: bool) -> Outcome:
        """What became of a fact since it was last given in this call, or since before it."""
        row, places = self.given.get(fact_id, (self.before.get(fact_id), self.stated.get(fact_id, NOWHERE)))
        now, places_now = self.given[fact_id] = self.record.live[fact_id], self.record.places.get(fact_id, NOWHERE)
        if is_new:
            return Outcome.CREATED
        return Outcome.UPDATED if places != places_now or differ(row, now) else Outcome.UNCHANGED

    def _is_rerecorded(self, fact_id: int) -> bool:
        return differ(self.before.get(fact_id), self.record.live[fact_id])

    async def _store(self, now: datetime) -> None:
        """Retract what changed, record what it became, note places, and bring the edges in step."""
        changed = sorted(fact_id for fact_id in self.record.live if self._is_rerecorded(fact_id))
        retracted = [self.rows[fact_id] for fact_id in changed if fact_id in self.rows]
        if retracted:
            await self.connection.execute(statement("retract_rows"), self.ns, retracted, now)
        if changed:
            written = columns(*(columns_of(self.record.live[fact_id]) for fact_id in changed))
            await self.connection.execute(statement("insert_facts"), self.ns, now, *written)
        moved = await self._store_places()
        recorded = [self.record.live[fact_id] for fact_id in {*changed, *moved}]
        self.written = {one for row in recorded for one in (row.subject_id, row.object_id) if one is not None}
        await refresh_edges(self.connection, self.ns, [*changed, *moved])

    async def _store_places(self) -> list[int]:
        """Bring the places of facts in step; gives the facts whose places changed."""
        wanted = {(fact_id, place) for fact_id, places in self.record.places.items() for place in places}
        there = {(fact_id, place) for fact_id, places in self.stated.items() for place in places}
        for name, pairs in (("insert_places", wanted - there), ("delete_places_of_fact_in", there - wanted)):
            if pairs:
                listed = sorted(pairs)
                await self.connection.execute(statement(name), self.ns, [one for one, _ in listed], [one for _, one in listed])
        return sorted({fact_id for fact_id, _ in wanted ^ there})

    async def _results(self, written: Sequence[tuple[int, Outcome] | ContextQLError]) -> list[FactResult]:
        """The results, each with the facts that it is in conflict with now."""
        results = list[FactResult]()
        for one in written:
            if isinstance(one, ContextQLError):
                results.append(FactResult.failed(one))
                continue
            row = self.record.live[one[0]]
            found = self.record.in_conflict(row, CONFLICTS_NAMED_MOST) if row.predicate in self.single else []
            others = tuple(public_id("fact", self.ns, other) for other in found)
            results.append(FactResult(public_id("fact", self.ns, one[0]), one[1], others))
        return results


def checked_or_refused(fact: FactInput) -> FactInput | ContextQLError:
    """The checked fact, or why it is refused."""
    try:
        return checked(fact)
    except ContextQLError as error:
        return error


def differ(before: Row | None, after: Row) -> bool:
    """Whether a fact stands in the record otherwise than before."""
    return before is None or before != after or before.said != after.said


def row_of(found: DatabaseRow) -> Row:
    """A row of the record as the rules see it."""
    return Row(
        found["fact_id"], found["subject_id"], found["predicate"], found["object_id"], found["value"], found["valid_from"],
        found["valid_to"], found["evidence"], tuple(found["relevance_scopes"]), found["supersedes"], found["has_places"],
    )  # fmt: skip


def columns_of(row: Row) -> tuple[object, ...]:
    """A row as it is recorded."""
    return (
        row.fact_id, row.subject_id, row.predicate, row.object_id, None if row.value is None else json_text(row.value),
        row.valid_from, row.valid_to, row.evidence, json_text(list(row.scopes)) if row.scopes else None, row.supersedes,
        row.has_places,
    )  # fmt: skip
