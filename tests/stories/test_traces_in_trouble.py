"""What a trace tells of helpers and statements that fail, and that an answer does without one that cannot be stored."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import asyncpg
import pytest

from retrieval.ports import Vectors
from tests.fixtures.bases import Bases
from tests.fixtures.cutting import cut, gone
from tests.fixtures.desk import desk_at
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.traces import store_traced, traced
from tests.fixtures.world import tuned
from tests.fixtures.writing import values

LOCKED = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


class Away(HashEmbedder):
    """An embedder that gives no vector of a question."""

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        raise ConnectionError("the provider is away")


@pytest.fixture(scope="module")
def stored(shared_bases: Bases) -> str:
    """A base with people and documents."""
    return shared_bases.filled(store_traced)


async def test_a_helper_that_does_not_help_is_told_and_the_rest_is_traced(stored: str) -> None:
    async with desk_at(stored, Away()) as desk:
        query = """{ search(question: "зебра") { traceId trace { channels { channel returned } stages { name note } } }
            contextPack(question: "зебра") { traceId degraded { code } } }"""
        answer = await desk.ask(query)
        found = answer["search"]["trace"]
        assert {one["channel"]: one["returned"] > 0 for one in found["channels"]}["LEXICAL"]
        assert {one["channel"]: one["returned"] for one in found["channels"]}["VECTOR"] == 0
        assert ("embedding", "PROVIDER_UNAVAILABLE") in {(one["name"], one["note"]) for one in found["stages"]}
        kept = await traced(desk, None, answer["contextPack"]["traceId"])
        assert ("embedding", "PROVIDER_UNAVAILABLE") in {(one["name"], one["note"]) for one in kept["stages"]}


async def test_a_run_that_breaks_takes_its_trace_along_and_nothing_else(stored: str) -> None:
    async with desk_at(stored) as desk:
        direct = await asyncpg.connect(stored)
        async with direct.transaction():
            await direct.execute("lock table fragment_lexemes in access exclusive mode")
            query = '{ search(question: "зебра") { question hits { score } traceId } viewer { principal } }'
            for seconds in (0.5, 5.0, 20.0):  # a machine may be too busy to tell who asks in so short a time
                desk.store.tuning = tuned(statement_seconds=seconds)
                answer = (await desk.send(query)).json()
                if answer["data"] and answer["data"]["viewer"]:
                    break
        await direct.close()
        assert answer["data"]["viewer"]["principal"] == "administrator"
        assert answer["data"]["search"] == {"question": "зебра", "hits": None, "traceId": None}
        assert {error["path"][-1] for error in answer["errors"]} == {"hits", "traceId"}


async def test_a_slow_database_costs_the_trace_and_not_the_answer(stored: str) -> None:
    async with desk_at(stored, tuning=tuned(trace_seconds=0.1)) as desk:
        token = await desk.token("ann")
        direct = await asyncpg.connect(stored)
        query = '{ search(question: "зебра") { hits { score } traceId trace { operation } } }'
        taken = []
        async with direct.transaction():
            await direct.execute("lock table trace in access exclusive mode")
            for _ in range(3):
                started = time.monotonic()
                answer = (await desk.ask(query, token))["search"]
                taken.append(time.monotonic() - started)
                assert answer["traceId"] is None
                assert answer["trace"] == {"operation": "search"}
                assert answer["hits"]
        assert min(taken) < 4, "it is not waited for until the lock goes"
        await direct.close()
        async with asyncio.timeout(60):  # the database hears a moment later that nobody waits any more
            while await values(desk.store, LOCKED) != [0]:
                await asyncio.sleep(0.01)


async def test_a_database_that_takes_no_writes_gives_answers_without_traces(stored: str) -> None:
    query = '{ search(question: "зебра") { hits { score } traceId trace { operation } } }'
    direct = await asyncpg.connect(stored)
    name = await direct.fetchval("select current_database()")
    async with desk_at(stored) as desk:
        await direct.execute(f'alter database "{name}" set default_transaction_read_only = on')
        try:
            await gone(await cut(direct))
            async with asyncio.timeout(60):
                while "errors" in (answer := (await desk.send(query)).json()):
                    await asyncio.sleep(0.05)
            assert answer["data"]["search"]["hits"]
            assert answer["data"]["search"]["traceId"] is None
            assert answer["data"]["search"]["trace"] == {"operation": "search"}
        finally:
            await direct.execute("set default_transaction_read_only = off")
            await direct.execute(f'alter database "{name}" reset default_transaction_read_only')
            await direct.close()
