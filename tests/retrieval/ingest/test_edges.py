"""Edges follow facts, places and permission sets through every way of writing, one writer or many."""

from __future__ import annotations

import asyncio
import random

import pytest

from retrieval.administration.grants import grant, revoke
from retrieval.administration.namespaces import create_namespace, delete_namespace
from retrieval.errors import BadInput
from retrieval.ingest.bulk import link
from retrieval.ingest.deleting import delete_entity, delete_source
from retrieval.ingest.edges import refresh_edges
from retrieval.ingest.write import connect_links
from retrieval.migrations import migrations
from retrieval.store import Store
from tests.fixtures.edges import wrong_edges
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
KEYS = [f"d{number}" for number in range(6)]
SOUND = ({}, {})


class History:
    """Writes at random, as any client might."""

    def __init__(self, store: Store, ns: int, seed: int) -> None:
        self.store, self.ns, self.random = store, ns, random.Random(seed)

    async def step(self) -> str:
        """Do one thing and say which."""
        key = self.random.choice(KEYS)
        steps = [self.write, self.write, self.write, self.state, self.rights, self.take_text, self.take]
        step = self.random.choice(steps)
        await step(key)
        return f"{step.__name__} {key}"

    async def write(self, key: str) -> None:
        links = " ".join(f"[x]({other})" for other in self.random.sample(KEYS, self.random.randrange(4)))
        restricted = self.random.choice([None, None, True, False])
        await put(self.store, key, f"text {self.random.random()} {links}", restricted=restricted)

    async def state(self, key: str) -> None:
        """A fact about a document that several documents state, in the record or of before."""
        known = await values(self.store, "select entity_id from entity order by entity_id")
        if len(known) < 2:
            return
        subject, object_ = self.random.choice(known), self.random.choice(known)
        places = self.random.sample(known, self.random.randrange(min(3, len(known)) + 1))
        async with self.store.database.writing() as connection:
            still = await connection.fetch("select entity_id from entity where entity_id = any($1) for key share", known)
            if len(still) < len(known):
                return
            fact = await connection.fetchval("select nextval('fact_id')")
            await connection.execute(
                "insert into fact (ns, fact_id, subject_id, predicate, object_id, value, evidence, has_places, retracted_at) "
                "values ($1, $2, $3, 'knows', $4, case when $4::bigint is null then '1'::jsonb end, 3, $5, "
                "case when $6 then now() end)",
                self.ns, fact, subject, self.random.choice([object_, None]), bool(places), self.random.random() < 0.3,
            )  # fmt: skip
            await connection.executemany(
                "insert into fact_place (ns, fact_id, entity_id) values ($1, $2, $3)", [(self.ns, fact, one) for one in places]
            )
            await refresh_edges(connection, self.ns, [fact])

    async def rights(self, key: str) -> None:
        try:
            change = self.random.choice([grant, revoke])
            await change(self.store.database, ADMIN, "everyone", DOCS, entity_key=key)
        except BadInput:  # not there, or not restricted
            return

    async def take_text(self, key: str) -> None:
        await delete_source(self.store.database, ADMIN, DOCS, key)

    async def take(self, key: str) -> None:
        await delete_entity(self.store.database, ADMIN, DOCS, key)


@pytest.mark.parametrize("seed", range(6))
async def test_edges_are_those_of_the_facts_after_each_step_of_any_history(store: Store, ns: int, seed: int) -> None:
    history, told = History(store, ns, seed), []
    for _ in range(25):
        told.append(await history.step())
        assert await wrong_edges(store) == SOUND, told


@pytest.mark.parametrize("seed", range(4))
async def test_edges_are_those_of_the_facts_whoever_writes_at_the_same_moment(store: Store, ns: int, seed: int) -> None:
    writers = [History(store, ns, 100 * seed + number) for number in range(6)]
    await asyncio.gather(*(writer.write(key) for writer, key in zip(writers, KEYS, strict=True)))
    for _ in range(8):
        await asyncio.gather(*(writer.step() for writer in writers))
        assert await wrong_edges(store) == SOUND


async def test_a_document_that_is_restricted_while_a_link_to_it_becomes_a_fact_has_no_open_edge(store: Store, ns: int) -> None:
    for number in range(15):
        target = f"secret{number}"
        await put(store, target, "text")
        await asyncio.gather(put(store, f"open{number}", f"[x]({target})"), put(store, target, "text", restricted=True))
    assert await wrong_edges(store) == SOUND
    hidden = await values(store, "select acl_id from entity where key like 'secret%' order by entity_id")
    assert 0 not in hidden
    outgoing = await values(store, "select far_acl from edge where outgoing order by far_id")
    assert outgoing == hidden


async def test_prepared_documents_are_linked_by_edges_too(store: Store, ns: int) -> None:
    for key in KEYS:
        await put(store, key, "text")
    await link(store.database, ns, [("d0", "d1"), ("d0", "d2"), ("d2", "d2")])
    assert await wrong_edges(store) == SOUND
    assert len(await values(store, "select 1 from edge")) == 6


async def test_edges_of_a_namespace_go_with_it_and_those_of_others_stay(store: Store, ns: int) -> None:
    await create_namespace(store.database, ADMIN, "other")
    for space in (DOCS, "other"):
        await put(store, "a", "[x](b)", namespace=space)
        await put(store, "b", "text", namespace=space)
    assert len(await values(store, "select 1 from edge")) == 4
    await delete_namespace(store.database, ADMIN, "other", "other")
    assert set(await values(store, "select ns from edge")) == {ns}
    assert await wrong_edges(store) == SOUND


KEYED = ("select * from edge", "select * from former_edge", "select * from said")


async def test_the_migrations_make_the_edges_of_facts_that_were_there_before(store: Store, ns: int) -> None:
    await put(store, "a", "[x](b) [y](c)", restricted=True)
    await put(store, "b", "[x](a)")
    await put(store, "c", "text")
    await connect_links(store.database, ns)
    history = History(store, ns, 1)
    for _ in range(40):
        await history.state("a")
    before = [sorted(await rows(store, query), key=str) for query in KEYED]
    first, later = (one for one in migrations() if one.name in ("0003_edges", "0020_hidden_values"))
    async with store.database.writing() as connection:
        await connection.execute(
            "drop table edge; drop table former_edge; drop table said; drop index fact_stated_best; drop index fact_said"
        )
        for migration in (first, later):
            await connection.execute(migration.text.replace("create function", "create or replace function"))
    assert [sorted(await rows(store, query), key=str) for query in KEYED] == before
    assert await wrong_edges(store) == SOUND
    assert all(before)
