"""Upserts, notes and erasing at the same time lose nothing, fail nobody for long, and leave no row without its entity."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from retrieval.ingest.entities import upsert_entities
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.erasing import erase_entity
from retrieval.ingest.observations import ObservationInput, record_observations
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.sql import statement
from retrieval.outcomes import ItemResult, Outcome
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
AT = datetime(2026, 1, 1, tzinfo=UTC)
STRAY = """
    select 'link' from link l where not exists (select from entity e where e.ns = l.ns and e.entity_id = l.entity_id)
    union all select 'place' from fact_place p where not exists (select from fact f where f.ns = p.ns and f.fact_id = p.fact_id)
    union all select 'fact of a link' from link l where l.fact_id is not null
                 and not exists (select from fact f where f.ns = l.ns and f.fact_id = l.fact_id and f.retracted_at is null)
    union all select 'edge' from edge d where not exists (select from fact f where f.row_id = d.row_id and f.retracted_at is null)
    union all select 'missing edge' from fact f where f.object_id is not null and f.retracted_at is null
                 and not exists (select from edge d where d.row_id = f.row_id)
    union all select 'queue' from embedding_queue q where not exists (select from fragment f where f.fragment_id = q.fragment_id)
    union all select 'vector' from fragment_vector v where not exists (select from fragment f where f.fragment_id = v.fragment_id)
"""


async def upsert(store: Store, key: str, title: str) -> ItemResult:
    (result,) = await upsert_entities(store.database, ADMIN, DOCS, [EntityInput(key, "service", title, attributes={"n": title})])
    return result


async def note(store: Store, number: int) -> ItemResult:
    observation = ObservationInput(f"note {number}", AT, f"n{number}", about=["svc", "other"])
    (result,) = await record_observations(store.database, store.base, ADMIN, DOCS, [observation])
    return result


async def test_one_key_upserted_forty_times_at_once_is_one_entity(store: Store) -> None:
    results = await asyncio.gather(*(upsert(store, "svc", f"title {number}") for number in range(40)))
    assert [result.outcome for result in results].count(Outcome.CREATED) == 1
    assert Outcome.FAILED not in {result.outcome for result in results}
    ((title, attributes),) = await rows(
        store, "select title, (select attributes from entity_version order by valid_from desc limit 1) from entity"
    )
    assert attributes == {"n": title}, "the last one won whole"


async def test_upserts_beside_writes_of_the_text_leave_fragments_that_carry_the_title(store: Store) -> None:
    await put(store, "svc", "first")
    writes = [put(store, "svc", f"text {number}") for number in range(10)]
    results = await asyncio.gather(*writes, *(upsert(store, "svc", f"title {number}") for number in range(10)))
    assert {result.code for result in results} <= {None, "CONFLICT"}
    assert await values(
        store, "select count(*) from entity e join fragment f using (ns, entity_id) where f.title <> e.title"
    ) == [0]
    assert await values(store, "select kind from entity") == ["DOCUMENT"]


async def test_erasing_beside_notes_and_upserts_leaves_nothing_half(store: Store) -> None:
    for turn in range(4):
        await upsert(store, "svc", "Billing")
        await upsert(store, "other", "Other")
        notes = [note(store, number) for number in range(turn * 10, turn * 10 + 10)]
        _, *results = await asyncio.gather(
            erase_entity(store.database, ADMIN, DOCS, "svc"), *notes, upsert(store, "svc", "Again"), embed_pending(store, 50)
        )
        assert all(result.outcome is not Outcome.FAILED for result in results if isinstance(result, ItemResult)), results
        assert await values(store, STRAY) == []
    await erase_entity(store.database, ADMIN, DOCS, "svc")
    await erase_entity(store.database, ADMIN, DOCS, "other")
    assert await values(store, "select count(*) from fact where predicate = 'about' and retracted_at is null") == [0]
    assert await values(store, STRAY) == []


async def test_two_who_erase_the_same_at_once_erase_it_once(store: Store) -> None:
    await upsert(store, "svc", "Billing")
    await upsert(store, "other", "Other")
    for number in range(5):
        await note(store, number)
    deletions = await asyncio.gather(*(erase_entity(store.database, ADMIN, DOCS, key) for key in ("svc", "other", "svc", "n1")))
    assert sum(deletion.counts.get("sources", 0) for deletion in deletions) == 5
    assert await values(store, "select count(*) from entity") == [0]
    assert await values(store, STRAY) == []


async def test_a_link_that_an_older_transaction_takes_back_was_known_from_its_recording_to_its_end(store: Store, ns: int) -> None:
    async with store.database.writing() as connection:
        await connection.execute("select now()")
        await put(store, "b", "text")
        await put(store, "a", "[b](b)")
        (fact_id,) = await values(store, "select fact_id from fact")
        await connection.execute(statement("retract_facts"), ns, [fact_id])
    assert await values(store, "select retracted_at > recorded_at from fact") == [True]
