"""Random histories of facts against a brute-force model, for every instant of validity and every instant of the record."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.fact_loading import create_things
from retrieval.ingest.facts import assert_facts, retract_facts
from retrieval.outcomes import FactResult, Outcome
from retrieval.store import Store
from tests.fixtures.edges import wrong_edges
from tests.fixtures.world import execute, opened
from tests.fixtures.writing import ADMIN, values

HISTORIES, MANY = 100, 1_000
"""Histories of the default run, and of `make test-all` with those of the default run."""
STEPS, MOMENTS = 12, 25
DAYS = [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=day) for day in range(5)]
"""So few instants that facts often begin and end at the same one."""
MOMENT = timedelta(microseconds=1)
EVER, NEVER = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
SUBJECTS, OBJECTS, PREDICATES = ("s0", "s1"), ("o0", "o1", "o2"), ("one", "many")
SINGLE = "one"


@dataclass(frozen=True)
class Told:
    """A fact as the model has it; what it says is a key or a number."""

    subject: str
    predicate: str
    says: Any
    begins: datetime
    ends: datetime
    supersedes: bool

    def holds(self, at: datetime) -> bool:
        return self.begins <= at < self.ends

    def rivals(self, other: Told) -> bool:
        """Whether two facts say something else of the same subject by the same predicate."""
        return (self.subject, self.predicate) == (other.subject, other.predicate) and self.says != other.says


Facts = dict[str, Told]
"""Facts by their public id."""


@dataclass
class Model:
    """All that is in the record, and how it stood after each step."""

    facts: Facts = field(default_factory=dict)
    gone: Facts = field(default_factory=dict)
    past: list[tuple[datetime, Facts]] = field(default_factory=list)
    """From an instant of the record on it was so."""

    def tell(self, told: Told, result: FactResult) -> None:
        """A fact was asserted, and the product said what became of it."""
        starts = [one.begins for one in self.facts.values() if one.supersedes and one.rivals(told)]
        told = replace(told, ends=min([told.ends, *(start for start in starts if told.begins < start)]))
        same = [id for id, one in self.facts.items() if replace(one, supersedes=told.supersedes) == told]
        assert result.fact_id is not None
        assert (result.outcome is Outcome.CREATED) == (not same)
        assert not same or result.fact_id in same
        before = self.facts.get(result.fact_id)
        self.put(
            result.fact_id,
            replace(told, supersedes=told.supersedes or (before is not None and before.supersedes)),
            told.supersedes,
        )

    def change(self, fact_id: str, given: FactInput, result: FactResult) -> None:
        """A fact was given another interval, or is in the record again."""
        before = self.facts.get(fact_id) or self.gone[fact_id]
        told = replace(
            before, begins=given.valid_from or before.begins, ends=given.valid_to or before.ends,
            supersedes=before.supersedes or given.supersede,
        )  # fmt: skip
        if told.begins >= told.ends or (given.supersede and told.begins == EVER):
            assert result.outcome is Outcome.FAILED
            return
        unchanged = self.facts.get(fact_id) == told
        assert result.outcome is (Outcome.UNCHANGED if unchanged else Outcome.UPDATED)
        self.put(fact_id, told, given.supersede)

    def put(self, fact_id: str, told: Told, supersede: bool) -> None:
        self.facts[fact_id] = told
        for id, other in list(self.facts.items()) if supersede else ():
            if other.rivals(told) and other.begins < told.begins < other.ends:
                self.facts[id] = replace(other, ends=told.begins)

    def retract(self, fact_id: str, result: FactResult) -> None:
        assert result.outcome is (Outcome.UPDATED if fact_id in self.facts else Outcome.UNCHANGED)
        if fact_id in self.facts:
            self.gone[fact_id] = self.facts.pop(fact_id)

    def known(self, at: datetime | None) -> Facts:
        """The record as it stood at an instant; None is now."""
        found: Facts = {}
        for since, facts in self.past:
            if at is None or since <= at:
                found = facts
        return found

    def answer(self, subject: str, at: datetime, known: datetime | None) -> dict[str, Any]:
        """What an answer must hold: each fact with those that it is in conflict with."""
        here = {id: told for id, told in self.known(known).items() if told.subject == subject and told.holds(at)}
        return {
            id: (told, {other for other, one in here.items() if told.predicate == SINGLE and one.rivals(told)})
            for id, told in here.items()
        }


class History:
    """One history in a namespace of its own."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store, self.chance, self.model = store, random.Random(seed), Model()
        self.name = f"history {seed}"
        self.ns = 0

    async def run(self) -> None:
        """All steps, then all questions."""
        self.ns = (await create_namespace(self.store.database, ADMIN, self.name)).ns
        async with self.store.database.writing() as connection:
            await connection.execute("insert into predicate (ns, name, cardinality) values ($1, $2, 'ONE')", self.ns, SINGLE)
        named = [FactInput(subject, "p", key) for subject in SUBJECTS for key in OBJECTS]
        await create_things(self.store.database, ADMIN, self.name, named, "thing")
        for _ in range(STEPS):
            await self.chance.choices((self.tell, self.change, self.retract), (6, 3, 2))[0]()
            instant = await values(
                self.store,
                "select max(greatest(recorded_at, coalesce(retracted_at, recorded_at))) from fact where ns = $1",
                self.ns,
            )
            self.model.past.append((instant[0] or EVER, dict(self.model.facts)))
        await self.ask()

    async def tell(self) -> None:
        """Assert one fact or several at one instant of the record, in any order of time, or some once more."""
        told = [self.told() for _ in range(self.chance.choice((1, 1, 2, 4)))]
        results = await assert_facts(self.store.database, ADMIN, self.name, [given_as(one) for one in told])
        for one, result in zip(told, results, strict=True):
            self.model.tell(one, result)

    def told(self) -> Told:
        begins = self.chance.choice((EVER, *DAYS, *DAYS))
        ends = self.chance.choice((NEVER, NEVER, *(day for day in DAYS if day > begins)))
        says = self.chance.choice((*OBJECTS, 1, 2))
        supersedes = begins != EVER and self.chance.random() < 0.4
        return Told(self.chance.choice(SUBJECTS), self.chance.choice(PREDICATES), says, begins, ends, supersedes)

    async def change(self) -> None:
        """Close a fact, move its start, have it supersede, or bring it back into the record."""
        known = self.model.facts | self.model.gone
        if not known:
            return
        fact_id = self.chance.choice(sorted(known))
        told = known[fact_id]
        since, until = self.chance.choice((None, None, *DAYS)), self.chance.choice((None, *DAYS))
        if since is not None and until is not None and since >= until:
            until = None
        given = FactInput(told.subject, told.predicate, valid_from=since, valid_to=until, supersede=self.chance.random() < 0.2,
                          fact_id=fact_id)  # fmt: skip
        (result,) = await assert_facts(self.store.database, ADMIN, self.name, [given])
        self.model.change(fact_id, given, result)

    async def retract(self) -> None:
        known = sorted(self.model.facts | self.model.gone)
        if known:
            some = self.chance.sample(known, min(len(known), self.chance.choice((1, 1, 2))))
            for fact_id, result in zip(some, await retract_facts(self.store.database, ADMIN, self.name, some), strict=True):
                self.model.retract(fact_id, result)

    async def ask(self) -> None:
        """Instants of validity by instants of the record, both just before and exactly then, through GraphQL."""
        for subject in SUBJECTS:
            some = list(self.moments())
            given: dict[str, Any] = {"namespace": self.name, "key": subject}
            for number, (at, known) in enumerate(some):
                given |= {f"at{number}": at.isoformat(), f"known{number}": known and known.isoformat()}
            answer = await execute(self.store, asked(len(some)), variables=given)
            assert "errors" not in answer, answer
            for number, one in enumerate(some):
                nodes = answer["data"]["entity"][f"f{number}"]["nodes"]
                found = {node["factId"]: (told_of(node, subject), told_ids(node["conflictsWith"])) for node in nodes}
                wanted = self.model.answer(subject, *one)
                assert {id: (replace(told, supersedes=False), others) for id, (told, others) in wanted.items()} == found, one
                assert all(node["conflict"] == bool(node["conflictsWith"]) for node in nodes)

    def moments(self) -> Iterator[tuple[datetime, datetime | None]]:
        """Some of all pairs of instants at which anything changes."""
        records = [None, *(since + shift for since, _ in self.model.past if since != EVER for shift in (-MOMENT, timedelta(0)))]
        valid = [DAYS[0] - MOMENT, *DAYS, DAYS[-1] + timedelta(days=900)]
        pairs = [(at, known) for at in valid for known in records]
        return iter(self.chance.sample(pairs, min(MOMENTS, len(pairs))))


@cache
def asked(moments: int) -> str:
    """One list of facts for each moment; one document for all histories, since checking one takes longer than answering it."""
    fields = "factId subject { key } predicate object { key } value validFrom validTo"
    parts = []
    for number in range(moments):
        given = f"asOf: $at{number}, knownAt: $known{number}"
        conflicts = f"conflict({given}) conflictsWith({given}) {{ factId }}"
        parts.append(f"f{number}: facts({given}, direction: OUT, first: 50) {{ nodes {{ {fields} {conflicts} }} }}")
    variables = " ".join(f"$at{number}: DateTime $known{number}: DateTime" for number in range(moments))
    entity = f"entity(namespace: $namespace, key: $key) {{ {' '.join(parts)} }}"
    return f"query($namespace: String! $key: String! {variables}) {{ {entity} }}"


def told_ids(others: list[dict[str, Any]]) -> set[str]:
    """The facts that one is in conflict with."""
    return {other["factId"] for other in others}


def given_as(told: Told) -> FactInput:
    """A fact of the model as it is sent."""
    is_key = isinstance(told.says, str)
    return FactInput(
        told.subject, told.predicate, told.says if is_key else None, None if is_key else told.says,
        None if told.begins == EVER else told.begins, None if told.ends == NEVER else told.ends, supersede=told.supersedes,
    )  # fmt: skip


def told_of(node: dict[str, Any], subject: str) -> Told:
    """A fact of an answer as the model has it, but for what is not shown."""
    assert node["subject"]["key"] == subject
    begins, ends = (datetime.fromisoformat(node[name]) if node[name] else None for name in ("validFrom", "validTo"))
    says = node["object"]["key"] if node["object"] else node["value"]
    return Told(subject, node["predicate"], says, begins or EVER, ends or NEVER, False)


async def run_histories(url: str, seeds: range) -> None:
    """Histories one after the other in one base."""
    async with opened(url) as store:
        for seed in seeds:
            try:
                await History(store, seed).run()
            except AssertionError as error:
                raise AssertionError(f"history {seed}") from error
        assert await wrong_edges(store) == ({}, {})


async def test_histories_of_facts_agree_with_a_model_at_every_instant(base_url: str) -> None:
    await run_histories(base_url, range(HISTORIES))


@pytest.mark.long
@pytest.mark.parametrize("start", range(HISTORIES, MANY, 100))
async def test_many_histories_of_facts_agree_with_a_model_at_every_instant(base_url: str, start: int) -> None:
    await run_histories(base_url, range(start, start + 100))
