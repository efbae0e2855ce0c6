"""The worker: it embeds and counts by itself, follows hints, and waits for a database that is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.ingest.leases import drop_lease, holding, take_lease
from retrieval.ingest.worker import STATISTICS, Worker
from retrieval.store import Store
from tests.fixtures.cutting import cut, gone
from tests.fixtures.writing import ADMIN, put, values

pytestmark = pytest.mark.usefixtures("ns")
LISTENING = "select count(*) from pg_stat_activity where datname = current_database() and query ilike 'listen%'"
IDLE = "select (select count(*) from embedding_queue) + (select count(*) from statistics_due)"


@asynccontextmanager
async def working(*workers: Worker) -> AsyncIterator[None]:
    """Workers that run for as long as the block lasts."""
    stop = asyncio.Event()
    tasks = [asyncio.create_task(worker.run(stop)) for worker in workers]
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(asyncio.gather(*tasks), 30)


async def eventually(claim: Callable[[], Awaitable[bool]], seconds: float = 50) -> None:
    """Wait until a claim holds."""
    async with asyncio.timeout(seconds):
        while not await claim():
            await asyncio.sleep(0.02)


async def idle(store: Store) -> bool:
    return await values(store, IDLE) == [0]


async def test_it_embeds_and_counts_what_is_written(store: Store) -> None:
    async with working(Worker(store, 0.05)):
        await put(store, "a", "кот")
        await eventually(lambda: idle(store))
    assert await values(store, "select count(*) from fragment_vector") == [1]
    assert await values(store, "select lexeme from word_statistics") == ["кот"]
    assert await values(store, "select count(*) from lease") == [0]


async def test_a_hint_wakes_it_long_before_its_next_look(store: Store) -> None:
    async with working(Worker(store, 600)):
        await eventually(lambda: listening(store))
        await put(store, "a", "кот")
        await eventually(lambda: embedded(store))


async def listening(store: Store) -> bool:
    return await values(store, LISTENING) == [1]


async def embedded(store: Store) -> bool:
    return await values(store, "select count(*) from fragment_vector") == [1]


async def test_without_a_listener_it_looks_by_itself(store: Store) -> None:
    deaf = replace(store)
    deaf.database.direct_url = "postgresql://nobody@127.0.0.1:1/none"
    async with working(Worker(deaf, 0.05)):
        await put(store, "a", "кот")
        await eventually(lambda: idle(store))


async def test_several_workers_share_the_work(store: Store) -> None:
    async with working(*(Worker(store, 0.05) for _ in range(3))):
        for number in range(20):
            await put(store, f"d{number}", f"слово{number}")
        await eventually(lambda: idle(store))
    assert await values(store, "select count(*) from fragment_vector") == [20]


async def test_connections_that_are_cut_do_not_stop_it(store: Store) -> None:
    async with working(Worker(store, 0.05)):
        await put(store, "a", "кот")
        await eventually(lambda: idle(store))
        async with store.database.reading() as connection:
            processes = await cut(connection)
        await gone(processes)
        assert (await put(store, "b", "пёс")).message is None
        await eventually(lambda: idle(store))


async def test_a_lease_is_held_by_one_and_lapses(store: Store) -> None:
    database = store.database
    assert await take_lease(database, STATISTICS, "one")
    assert not await take_lease(database, STATISTICS, "two")
    assert await take_lease(database, STATISTICS, "one"), "renewed"
    async with database.writing() as connection:
        await connection.execute("update lease set held_until = now() - interval '1 s'")
    assert await take_lease(database, STATISTICS, "two")
    await drop_lease(database, STATISTICS, "one")
    assert not await take_lease(database, STATISTICS, "one"), "only the holder gives it back"


async def test_a_namespace_that_cannot_be_counted_keeps_no_other_from_its_turn(store: Store) -> None:
    await create_namespace(store.database, ADMIN, "other")
    await put(store, "a", "кот")
    await put(store, "a", "пёс", "other")
    async with store.database.writing() as connection:
        await connection.execute("alter table word_statistics add constraint broken check (ns <> 1 or lexeme <> 'кот')")
    async with working(Worker(store, 0.05)):
        await eventually(lambda: counts(store, ["пес"]))
        assert await values(store, "select distinct ns from statistics_due") == [1], "it stays due"
        async with store.database.writing() as connection:
            await connection.execute("alter table word_statistics drop constraint broken")
        await eventually(lambda: counts(store, ["кот", "пес"]))
        await eventually(lambda: idle(store))


async def counts(store: Store, words: list[str]) -> bool:
    """Whether exactly these words are counted."""
    return await values(store, "select lexeme from word_statistics order by 1") == words


async def test_a_long_refresh_keeps_its_lease_and_blocks_no_reader(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    await put(store, "a", "кот")
    async with store.database.writing() as connection:  # whoever writes the namespace's row keeps the refresh waiting
        await connection.execute("select from namespace for no key update")
        async with working(Worker(store, 0.05)):
            await eventually(lambda: leased(store))
            await asyncio.sleep(0.3)
            assert await leased(store)
            assert not await take_lease(store.database, STATISTICS, "another")
            assert await values(store, "select count(*) from fragment_lexemes") == [1]
            assert await values(store, "select count(*) from word_statistics") == [0]


async def leased(store: Store) -> bool:
    """Whether somebody refreshes statistics."""
    return await values(store, "select count(*) from lease where name = 'statistics' and held_until > now()") == [1]


async def test_a_lease_is_renewed_as_long_as_its_work_runs(store: Store) -> None:
    for _ in range(10):  # a machine may stop for longer than the lease holds
        if is_kept := await kept(store):
            break
    assert is_kept


async def kept(store: Store) -> bool:
    """Whether nobody else gets a lease in half as much time again as it holds, and somebody does after that."""
    assert await take_lease(store.database, "work", "one", 2)
    async with holding(store.database, "work", "one", 2):
        taken = False
        for _ in range(10):
            await asyncio.sleep(0.3)
            taken = taken or await take_lease(store.database, "work", "two", 2)
    assert await take_lease(store.database, "work", "two", 2), "given back at the end"
    await drop_lease(store.database, "work", "two")
    return not taken


async def test_a_dead_holder_of_the_lease_delays_statistics_only(store: Store) -> None:
    await take_lease(store.database, STATISTICS, "dead")
    async with working(Worker(store, 0.05)):
        await put(store, "a", "кот")
        await eventually(lambda: embedded(store))
        assert await values(store, "select count(*) from statistics_due") == [1]
        async with store.database.writing() as connection:
            await connection.execute("update lease set held_until = now() - interval '1 s'")
        await eventually(lambda: idle(store))
