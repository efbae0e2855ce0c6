"""A client that leaves stops its SQL, and a request that runs out of time ends it too; the pool stays whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import asyncpg
import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from tests.fixtures.world import opened, served

ASK = {"query": '{ search(question: "файл") { hits { score } } }'}
RUNNING = (
    "select count(*) from pg_stat_activity where datname = current_database() and state = 'active' and wait_event_type = 'Lock'"
)


@asynccontextmanager
async def locked_words(url: str) -> AsyncIterator[asyncpg.Connection]:
    """Nobody can read the words while this lasts; gives another connection that sees who tries."""
    holder, watcher = await asyncpg.connect(url), await asyncpg.connect(url)
    try:
        async with holder.transaction():
            await holder.execute("lock table fragment_lexemes in access exclusive mode")
            yield watcher
    finally:
        await asyncio.gather(holder.close(), watcher.close())


async def eventually(check: Callable[[], object], seconds: float = 30) -> None:
    """Wait until an awaitable check holds."""
    async with asyncio.timeout(seconds):
        while not await check():  # type: ignore[misc]
            await asyncio.sleep(0.02)


async def test_a_client_that_leaves_stops_its_statement(database_url: str) -> None:
    async with opened(database_url, size=2) as store, served(store, local_admin=True) as client:
        await create_namespace(store.database, local_administrator(), "base")
        async with locked_words(database_url) as watcher:
            request = asyncio.create_task(client.post("/graphql", json=ASK))
            await eventually(lambda: watcher.fetchval(RUNNING))
            request.cancel()
            await eventually(lambda: watcher.fetchval(f"select ({RUNNING}) = 0"))
        answers = await asyncio.gather(*(client.post("/graphql", json=ASK) for _ in range(6)))
        assert {answer.status_code for answer in answers} == {200}
        assert store.database.in_use() == 0


@pytest.mark.parametrize("limit", ["statement", "request"])
async def test_what_overruns_its_time_is_null_and_its_statement_ends(database_url: str, limit: str) -> None:
    seconds = {"request_timeout": 0.5} if limit == "request" else {}
    async with opened(database_url, size=2) as store, served(store, local_admin=True, **seconds) as client:
        await create_namespace(store.database, local_administrator(), "base")
        if limit == "statement":
            store.tuning = type(store.tuning)(statement_seconds=0.5)
        async with locked_words(database_url) as watcher:
            answer = await client.post("/graphql", json={"query": '{ search(question: "файл") { question hits { score } } }'})
            await eventually(lambda: watcher.fetchval(f"select ({RUNNING}) = 0"))
        assert [error["extensions"]["code"] for error in answer.json()["errors"]] == ["DEADLINE_EXCEEDED"]
        if limit == "statement":
            assert answer.json()["data"]["search"] == {"question": "файл", "hits": None}

        async def is_answered() -> bool:  # half a second may be too short on a busy machine
            found = (await client.post("/graphql", json=ASK)).json()["data"]
            return found is not None and isinstance(found["search"]["hits"], list)

        await eventually(is_answered)
