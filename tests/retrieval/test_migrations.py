"""Preparing a database: once by many, refusals by name, vectors added later."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable

import asyncpg
import pytest

from retrieval.migrations import SETTINGS, Unfit, prepare, settings_in_force


def prepare_alone(url: str) -> str:
    """Prepare a database in a process of its own; gives what went wrong."""
    try:
        asyncio.run(prepare(url, search_config="russian", embedding_model="m", dimensions=8))
    except Exception as error:
        return repr(error)
    return ""


async def schema(url: str) -> list[str]:
    """Every column of the public tables."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch(
            "select format('%s.%s %s', table_name, column_name, data_type) from information_schema.columns "
            "where table_schema = 'public' order by 1"
        )
        return [row[0] for row in rows]
    finally:
        await connection.close()


async def test_eight_servers_that_start_at_once_prepare_an_empty_database_once(fresh_database: Callable[[], str]) -> None:
    raced, alone = fresh_database(), fresh_database()
    with multiprocessing.get_context("forkserver").Pool(8) as pool:
        assert await asyncio.to_thread(pool.map, prepare_alone, [raced] * 8) == [""] * 8
        pool.close()
        pool.join()
    await prepare(alone, search_config="russian", embedding_model="m", dimensions=8)
    assert await schema(raced) == await schema(alone)
    connection = await asyncpg.connect(raced)
    assert await connection.fetchval("select count(*) from base") == 1
    assert await settings_in_force(connection) == SETTINGS
    await connection.close()


async def test_vectors_may_come_later_and_another_model_is_refused(database_url: str) -> None:
    base = await prepare(database_url, search_config="russian", embedding_model=None, dimensions=None)
    assert base.dimensions is None
    base = await prepare(database_url, search_config="russian", embedding_model="one", dimensions=8)
    assert (base.embedding_model, base.dimensions) == ("one", 8)
    assert (await prepare(database_url, search_config="russian", embedding_model=None, dimensions=None)).dimensions == 8
    for model, size in (("two", 8), ("one", 16)):
        with pytest.raises(Unfit, match="new base"):
            await prepare(database_url, search_config="russian", embedding_model=model, dimensions=size)
    with pytest.raises(Unfit, match="CB_FTS_CONFIG"):
        await prepare(database_url, search_config="english", embedding_model="one", dimensions=8)
    with pytest.raises(Unfit, match="klingon"):
        await prepare(database_url, search_config="klingon", embedding_model="one", dimensions=8)
