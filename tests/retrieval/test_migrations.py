"""Preparing a database: once by many, refusals by name, vectors added later."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from retrieval.errors import DatabaseUnavailable
from retrieval.migrations import EXTENSIONS, LOCK, SETTINGS, Unfit, prepare, settings_in_force


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


async def test_a_server_that_sets_up_its_role_keeps_the_others_waiting(fresh_database: Callable[[], str]) -> None:
    url = fresh_database()
    change = f"alter role current_user in database {urlsplit(url).path[1:]}"
    other = await asyncpg.connect(url)
    await other.execute(f"{change} set work_mem = '1MB'")
    holding = other.transaction()
    await holding.start()
    await other.execute(f"{change} set work_mem = '2MB'")
    preparing = asyncio.create_task(prepare(url, search_config="russian", embedding_model="m", dimensions=8))
    while not await other.fetchval(
        "select exists (select from pg_locks l join pg_stat_activity a using (pid) "
        "where not l.granted and a.datname = current_database() and a.query ilike 'alter role%' and a.pid <> pg_backend_pid())"
    ):
        assert not preparing.done()
        await asyncio.sleep(0.02)
        await other.execute("select pg_stat_clear_snapshot()")
    assert not await other.fetchval("select pg_try_advisory_xact_lock($1)", LOCK)
    await holding.rollback()
    await preparing
    await other.close()


async def test_a_role_that_is_not_there_or_may_make_no_tables_is_named(fresh_database: Callable[[], str]) -> None:
    url = fresh_database()
    connection = await asyncpg.connect(url)
    try:
        for extension in EXTENSIONS:
            await connection.execute(f"create extension if not exists {extension}")
        await connection.execute("create role reads_only login")
        with pytest.raises(Unfit, match="may not make tables"):
            await prepare(as_role(url, "reads_only"), search_config="russian", embedding_model=None, dimensions=None)
        with pytest.raises(DatabaseUnavailable, match="user or the password"):
            await prepare(as_role(url, "nobody"), search_config="russian", embedding_model=None, dimensions=None)
    finally:
        await connection.execute("drop role if exists reads_only")
        await connection.close()


def as_role(url: str, role: str) -> str:
    """The URL of the same database for another role."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=f"{role}@{parts.netloc.rpartition('@')[2]}"))


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


async def test_a_prepared_database_that_takes_no_writes_is_found_fit(fresh_database: Callable[[], str]) -> None:
    url = fresh_database()
    made = await prepare(url, search_config="russian", embedding_model="m", dimensions=8)
    connection = await asyncpg.connect(url)
    await connection.execute(f"alter database {urlsplit(url).path[1:]} set default_transaction_read_only = on")
    await connection.close()
    assert await prepare(url, search_config="russian", embedding_model="m", dimensions=8) == made
