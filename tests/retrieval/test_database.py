"""Connections are handed on without a way through the pool, and all the same are given back and replaced as the pool would."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from pgvector import HalfVector

from retrieval.database import Database, halfvec_bytes

PROCESS = "select pg_backend_pid()"


async def process_of(database: Database) -> int:
    """The server's process behind the connection that the next reader gets."""
    async with database.reading() as connection:
        number: int = await connection.fetchval(PROCESS)
        return number


async def test_a_connection_is_handed_on_to_the_next_reader(database_url: str) -> None:
    database = await Database.open(database_url, size=3)
    assert len({await process_of(database) for _ in range(20)}) == 1
    assert database.in_use() == 0
    await database.close()


async def test_a_connection_that_lay_idle_for_long_is_replaced(database_url: str) -> None:
    database = await Database.open(database_url, size=1, idle_seconds=0.1)
    first = await process_of(database)
    await asyncio.sleep(0.3)
    assert await process_of(database) != first
    await database.close()


async def test_a_connection_given_back_while_all_are_closed_is_not_waited_for(database_url: str) -> None:
    for _ in range(5):  # a machine may be busy for a moment
        database = await Database.open(database_url, size=2)
        await process_of(database)
        async with database.reading() as connection:
            closing = asyncio.create_task(database.close())
            await asyncio.sleep(0.1)
            assert await connection.fetchval("select 1") == 1
        done, _ = await asyncio.wait({closing}, timeout=1.5)
        if done:
            break
        await closing
    assert done, "it is cut after two seconds"


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_vector_is_written_the_same_from_its_numbers(kind: type[np.floating]) -> None:
    numbers = np.random.default_rng(1).standard_normal(384).astype(kind)
    numbers[:3] = 0, -0.0, 1e-7
    assert halfvec_bytes(numbers) == halfvec_bytes(HalfVector(numbers)) == HalfVector(numbers).to_binary()
