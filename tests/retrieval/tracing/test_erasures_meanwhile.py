"""What is erased while a trace that names it is on its way stands in no trace afterwards, however the two meet."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from retrieval.administration.namespaces import create_namespace, delete_namespace
from retrieval.database import json_text
from retrieval.ingest.erasing import erase_entity
from retrieval.question import make_question
from retrieval.session import Session
from retrieval.store import Store
from retrieval.tracing.plain import plain_of
from retrieval.tracing.record import TraceRecord
from retrieval.tracing.sql import statement
from retrieval.tracing.tracing import Tracing
from tests.fixtures.world import session_for
from tests.fixtures.writing import ADMIN, DOCS, put, values
from tests.retrieval.ingest.test_erasing import TOKEN, dump

WAITING = """select count(*) from pg_locks l join pg_database d on d.oid = l.database
              where l.locktype = 'advisory' and not l.granted and d.datname = current_database()"""


@pytest.fixture
async def filled(store: Store) -> Store:
    """Two namespaces with a document each, one of which is to be erased, and time for traces."""
    store.tuning = replace(store.tuning, trace_seconds=20.0)
    for name in (DOCS, "other"):
        await create_namespace(store.database, ADMIN, name)
        await put(store, TOKEN, "зебра", name)
    return store


async def traced(session: Session, name: str = DOCS) -> tuple[Tracing, TraceRecord]:
    """A trace that has read, and is not stored."""
    run = await session.search(make_question(session.store.tuning, f"зебра {TOKEN}", namespaces=[name]))
    tracing = session.tracings.of(run)
    return tracing, await tracing.record


async def test_a_trace_that_read_before_an_erasure_is_not_stored_after_it(filled: Store) -> None:
    async with session_for(filled, None) as session:
        tracing, record = await traced(session)
        assert record.items
        await erase_entity(filled.database, ADMIN, DOCS, TOKEN)
        await delete_namespace(filled.database, ADMIN, "other", "other")
        assert await tracing.stored is None
    assert TOKEN not in dump(filled.database.url)


async def test_a_trace_whose_namespace_went_meanwhile_is_not_stored(filled: Store) -> None:
    async with session_for(filled, None) as session:
        tracing, _ = await traced(session)
        await delete_namespace(filled.database, ADMIN, DOCS, DOCS)
        assert await tracing.stored is None
    assert await values(filled, "select count(*) from trace") == [0]


async def test_an_erasure_waits_for_a_trace_that_is_being_stored_and_takes_it_out(filled: Store) -> None:
    async with session_for(filled, None) as session:
        _, record = await traced(session)
        since = (await session.caller).snapshot
    async with filled.database.writing() as connection:
        await connection.execute(statement("keep_erasures_out"), list(record.namespaces))
        body = json_text(plain_of(record))
        await connection.execute(
            statement("store_trace"), record.trace_id, None, list(record.namespaces), record.marks(), body, None, None, since
        )
        erasing = asyncio.create_task(erase_entity(filled.database, ADMIN, DOCS, TOKEN))
        while not erasing.done() and not (await values(filled, WAITING))[0]:
            await asyncio.sleep(0.01)
    assert (await erasing).counts["traces"] == 1
    assert await values(filled, "select body -> 'request' ->> 'question' from trace") == [""]
    assert await values(filled, "select count(*) from trace where body::text ~ $1", TOKEN) == [0]


async def test_a_trace_waits_for_an_erasure_that_is_under_way_and_is_not_stored(filled: Store) -> None:
    async with session_for(filled, None) as session:
        tracing, record = await traced(session)
        async with filled.database.writing() as connection:
            await connection.execute(statement("keep_traces_out"), record.namespaces[0])
            stored = asyncio.ensure_future(tracing.stored)
            while not stored.done() and not (await values(filled, WAITING))[0]:
                await asyncio.sleep(0.01)
            assert not stored.done()
        assert await stored is None


async def test_erasures_of_before_and_of_other_namespaces_and_of_another_base_hinder_none(filled: Store) -> None:
    await erase_entity(filled.database, ADMIN, DOCS, TOKEN)
    async with session_for(filled, None) as session:
        after, _ = await traced(session)
        assert await after.stored is not None
        beside, _ = await traced(session, "other")
        await erase_entity(filled.database, ADMIN, DOCS, "b")
        assert await beside.stored is not None
    async with filled.database.writing() as connection:  # as a copy of a base that has done more holds it
        assert await connection.execute("update erasure set done_in = '4000000000000'") == "UPDATE 1"
    async with session_for(filled, None) as session:
        copied, _ = await traced(session)
        assert await copied.stored is not None
