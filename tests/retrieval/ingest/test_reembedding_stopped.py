"""A change to another model that is killed, given up or left by its provider: the base stays whole, the next run goes on."""

from __future__ import annotations

import asyncio
import multiprocessing
import random
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import asyncpg
import pytest

from retrieval.errors import Conflict, ProviderUnavailable
from retrieval.ingest.leases import take_lease
from retrieval.ingest.reembedding import LEASE, abandon, finish_after_another, reembed, switch
from retrieval.model import Model
from retrieval.store import Store
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.reembedding import OTHER, OTHER_DIMENSIONS, OtherEmbedder, reembed_all
from tests.fixtures.two_models import (
    SEARCH,
    TABLES,
    check_vectors,
    fill,
    keys,
    nearest,
    quiet,
    reembed_until_filled,
    values_of_one,
    with_other,
)
from tests.fixtures.world import execute
from tests.fixtures.writing import values

pytestmark = pytest.mark.usefixtures("ns")


async def test_a_provider_that_goes_away_ends_the_run_and_the_next_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(store)
    both, other = with_other(store)

    def go_away(done: int, total: int) -> None:
        other.is_away = done >= 12

    async def at_once(seconds: float) -> None:
        """No pause between attempts."""

    monkeypatch.setattr(asyncio, "sleep", at_once)
    with pytest.raises(ProviderUnavailable, match="goes on from here"):
        await reembed(both, other, go_away)
    monkeypatch.undo()
    assert await check_vectors(store, HashEmbedder()) == 30
    other.is_away = False
    done = len(other.passages)
    await reembed(both, other, quiet)
    assert await check_vectors(store, other) == 30
    assert len(other.passages) == 30, "nothing is embedded twice"
    assert 12 <= done < 30


async def test_it_is_given_up_without_a_trace(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    assert not await abandon(store.database)
    await reembed_until_filled(both, other)
    assert sorted(await values(store, TABLES)) == ["fragment_vector", "fragment_vector_next"]
    third = OtherEmbedder("third-4", 4)
    with pytest.raises(Conflict, match="being re-embedded with other-16"):
        await reembed(replace(store, next_embedder=third), third, quiet)
    assert await abandon(store.database)
    assert await values(store, TABLES) == ["fragment_vector"]
    assert await check_vectors(store, HashEmbedder()) == 30
    assert await values(store, "select distinct model_number from vector_cache") == [1]
    assert await reembed(replace(store, next_embedder=third), third, quiet) == Model(3, "third-4", 4), (
        "numbers are not given twice"
    )


async def test_giving_up_touches_no_vector_before_its_table_can_go(store: Store, base_url: str) -> None:
    await fill(store)
    both, other = with_other(store)
    await reembed_until_filled(both, other)
    connection = await asyncpg.connect(base_url)
    reading = connection.transaction()
    await reading.start()
    await connection.execute("lock table fragment in access share mode")
    task = asyncio.create_task(abandon(store.database))
    waits = """select count(*) from pg_locks
                where not granted and database = (select oid from pg_database where datname = current_database())"""
    async with asyncio.timeout(60):
        while not await values_of_one(store, waits):
            await asyncio.sleep(0.02)
    assert await values_of_one(store, "select count(*) from vector_cache where xmax <> 0") == 0, "while writers wait"
    await reading.rollback()
    await connection.close()
    assert await task
    assert await values(store, "select distinct model_number from vector_cache") == [1]


async def test_what_a_killed_run_leaves_after_the_switch_is_taken_away_by_a_worker(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    await reembed_until_filled(both, other)
    assert await switch(store.database, Model(2, OTHER, OTHER_DIMENSIONS), 0)
    assert sorted(await values(store, TABLES)) == ["fragment_vector", "fragment_vector_former"]
    assert keys(await execute(both, SEARCH)) == nearest(other, "слово7", 30, 5)
    assert await finish_after_another(store.database, "a worker")
    assert not await finish_after_another(store.database, "a worker")
    assert await values(store, TABLES) == ["fragment_vector"]


def run(url: str, kill_at: int | None) -> Any:
    """Re-embed in another process and kill it when it says that so many are done; gives the last that it said."""
    context = multiprocessing.get_context("forkserver")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=reembed_all, args=(f"{url}&application_name=killed", 0.01, sending))
    process.start()
    sending.close()
    last = watched(receiving, kill_at)
    process.kill()
    process.join()
    receiving.close()
    return last


def watched(receiving: Connection, kill_at: int | None) -> Any:
    """What is said until it is time to kill, or until the end."""
    last: Any = None
    try:
        while receiving.poll(60):
            last = receiving.recv()
            if kill_at is not None and last != "end" and last[0] >= kill_at:
                return last
    except EOFError:
        pass
    return last


async def test_killed_again_and_again_it_goes_on_where_it_was(store: Store, base_url: str) -> None:
    await fill(store, 60)
    multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.fixtures.reembedding"])
    moments, reached = random.Random(3), 0
    for kill_at in (0, 1, 12, 30, 31, 55, 60, 60):
        last = await asyncio.to_thread(run, base_url, kill_at)
        if last == "end":
            break
        assert last[0] >= reached, "what was made is kept"
        reached = last[0]
        await asyncio.sleep(moments.uniform(0, 0.05))
        await let_lapse(store)
        (number,) = await values(store, "select model_number from base")
        assert await check_vectors(store, HashEmbedder() if number == 1 else OtherEmbedder()) == 60, (
            "never a mixture, never a gap"
        )
    if await values(store, "select model_number from base") == [1] or len(await values(store, TABLES)) > 1:
        assert await asyncio.to_thread(run, base_url, None) == "end"
    assert await check_vectors(store, OtherEmbedder()) == 60
    assert await values(store, TABLES) == ["fragment_vector"]
    assert await values(store, "select indisvalid from pg_index where indexrelid = to_regclass('fragment_vector_near')") == [True]
    assert await take_lease(store.database, LEASE, "anybody")


async def let_lapse(store: Store) -> None:
    """Wait until the killed process is gone from the database, and let the time of its lease pass."""
    others = "select count(*) from pg_stat_activity where datname = current_database() and application_name = 'killed'"
    while await values(store, others) != [0]:
        await asyncio.sleep(0.02)
    async with store.database.writing() as connection:
        await connection.execute("update lease set held_until = now() - interval '1 s'")
