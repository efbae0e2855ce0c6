"""A trace is stored in the time that it has or not at all, and old ones go under a lease, batch by batch."""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import replace

from retrieval.ingest.leases import drop_lease, take_lease
from retrieval.ingest.worker import TRACES, Worker
from retrieval.store import Store
from retrieval.tracing.storing import prune_traces, store_trace
from tests.fixtures.writing import values
from tests.retrieval.tracing.test_record import RECORD

MINE = replace(RECORD, principal_id=None, namespaces=())


def patient(store: Store, seconds: float) -> Store:
    """A store whose traces have that much time."""
    store.tuning = replace(store.tuning, trace_seconds=seconds)
    return store


async def test_it_is_stored_with_what_it_is_found_by(store: Store) -> None:
    assert await store_trace(patient(store, 20), MINE, None)
    assert await values(store, "select marks from trace where trace_id = $1", MINE.trace_id) == [MINE.marks()]


async def test_a_full_pool_is_not_waited_for(store: Store) -> None:
    patient(store, 0.05)
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(store.database.pool.get_max_size()):
            await stack.enter_async_context(store.database.reading())
        started = time.monotonic()
        assert not await store_trace(store, MINE, None)
        assert time.monotonic() - started < 15, "a connection is waited for 20 seconds otherwise"
    assert await values(store, "select count(*) from trace") == [0]


async def test_what_is_given_up_leaves_no_row_and_no_connection(store: Store) -> None:
    patient(store, 0.05)
    async with store.database.writing() as connection:
        await connection.execute("lock table trace in access exclusive mode")
        assert not await store_trace(store, MINE, None)
    async with asyncio.timeout(60):
        while store.database.in_use():
            await asyncio.sleep(0.01)
    assert await values(store, "select count(*) from trace") == [0]


async def test_a_failure_is_no_more_than_no_trace(store: Store) -> None:
    patient(store, 20)
    assert await store_trace(store, MINE, None)
    assert not await store_trace(store, MINE, None), "the id is there already"
    assert not await store_trace(store, replace(MINE, trace_id="ctx-1", principal_id=999), None), "there is no such principal"


async def test_old_traces_go_and_the_others_stay(store: Store) -> None:
    patient(store, 20)
    for number in range(5):
        assert await store_trace(store, replace(MINE, trace_id=f"ctx-{number}"), None)
    async with store.database.writing() as connection:
        await connection.execute("update trace set created_at = now() - interval '3 days' where trace_id < 'ctx-3'")
    assert await prune_traces(store.database, 3) == 3
    assert await values(store, "select trace_id from trace order by 1") == ["ctx-3", "ctx-4"]


async def test_one_worker_at_a_time_takes_old_ones_away(store: Store) -> None:
    patient(store, 20)
    assert await store_trace(store, MINE, None)
    async with store.database.writing() as connection:
        await connection.execute("update trace set created_at = now() - interval '31 days'")
    worker = Worker(store)
    assert await take_lease(store.database, TRACES, "another")
    assert await worker.prune() > 0
    assert await values(store, "select count(*) from trace") == [1]
    await drop_lease(store.database, TRACES, "another")
    await worker.prune()
    assert await values(store, "select count(*) from trace") == [0]
