"""A trace waits for the rest of its request, whatever starts late in it, and costs a request without one nothing."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.question import make_question
from retrieval.store import Store
from tests.fixtures.world import session_for
from tests.fixtures.writing import ADMIN, DOCS, put, values

STAGES = "select stage ->> 0 from trace, jsonb_array_elements(body -> 'stages') stage where trace_id = $1"


@pytest.fixture
async def filled(store: Store) -> Store:
    """A base with one document, and time for traces."""
    store.tuning = replace(store.tuning, trace_seconds=20.0)
    await create_namespace(store.database, ADMIN, DOCS)
    await put(store, "a", "зебра")
    return store


async def test_what_starts_late_is_in_it(filled: Store) -> None:
    async with session_for(filled, None) as session:
        run = await session.search(make_question(filled.tuning, "зебра"))
        stored = session.tracings.of(run).stored

        async def late() -> None:
            await asyncio.sleep(0.2)
            session.work.start(later())

        async def later() -> None:
            await asyncio.sleep(0.2)
            await run.context

        session.work.start(late())
        trace_id = await stored
        assert "context" in run.__dict__
        assert trace_id == (await session.tracings.of(run).record).trace_id
    names = set(await values(filled, STAGES, trace_id))
    assert names >= {"context", "hits", "entities", "caller"}


async def test_two_traces_do_not_wait_for_each_other(filled: Store) -> None:
    async with session_for(filled, None) as session:
        runs = [await session.search(make_question(filled.tuning, text)) for text in ("зебра", "слон")]
        async with asyncio.timeout(20):
            ids = await asyncio.gather(*(session.tracings.of(run).stored for run in runs))
    assert len(set(ids)) == 2
    assert None not in ids


async def test_a_request_that_ends_first_stores_nothing_and_leaves_nothing(filled: Store) -> None:
    async with session_for(filled, None) as session:
        run = await session.search(make_question(filled.tuning, "зебра"))
        waiting = session.tracings.of(run).stored
        session.work.start(asyncio.sleep(60))
        await asyncio.sleep(0.1)
    assert session.tracings.work.tasks == set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await values(filled, "select count(*) from trace") == [0]


async def test_a_request_without_a_trace_keeps_nothing_for_one(filled: Store) -> None:
    async with session_for(filled, None) as session:
        run = await session.search(make_question(filled.tuning, "зебра"))
        await run.hits
        assert "tracings" not in session.__dict__
