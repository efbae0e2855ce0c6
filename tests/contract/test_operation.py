"""What docs/operation.md tells operators to run on their own PostgreSQL works as it stands there."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest

from app.cli.migrate import migrate
from app.config import Settings
from retrieval.database import Database
from retrieval.ingest.vector_index import build_index
from retrieval.migrations import SETTINGS, Unfit, settings_in_force
from tests.fixtures.commands import blocks
from tests.fixtures.databases import TestServer

PAGE = (Path(__file__).parents[2] / "docs" / "operation.md").read_text(encoding="utf-8")
CREATE, EXTEND, CLEAN = (code for _, code in blocks(PAGE, "sql"))


def statements(code: str) -> list[str]:
    """The statements of a block, without comments."""
    lines = [line.partition("--")[0] for line in code.splitlines()]
    return [text.strip() for text in "\n".join(lines).split(";") if text.strip()]


@pytest.fixture
def name(database_server: TestServer) -> Iterator[str]:
    """A name for the role and the database, which are removed after the test."""
    name = f"owner_{uuid.uuid4().hex}"
    yield name
    database_server.drop(database_server.url(name))
    database_server.run(f"drop role if exists {name}")


async def test_an_ordinary_owner_of_a_database_can_migrate_it(database_server: TestServer, name: str) -> None:
    for statement in statements(CREATE):
        database_server.run(statement.replace("contextql", name))
    url = urlunsplit(urlsplit(database_server.url(name))._replace(netloc=f"{name}@"))
    settings = Settings(database_url=url, embedding_provider="none")
    with pytest.raises(Unfit, match="create extension vector"):
        await migrate(settings)
    for statement in statements(EXTEND):
        database_server.run(statement, name)
    await migrate(settings)
    connection = await asyncpg.connect(url)
    try:
        assert await settings_in_force(connection) == SETTINGS
        assert not await connection.fetchval("select rolsuper from pg_roles where rolname = current_user")
    finally:
        await connection.close()


async def test_the_index_of_vectors_can_be_built_anew(base_url: str) -> None:
    database = await Database.open(base_url, size=1)
    await build_index(database)
    await database.close()
    connection = await asyncpg.connect(base_url)
    try:
        before = await connection.fetchval("select pg_relation_filenode('fragment_vector_near')")
        for statement in statements(CLEAN):
            await connection.execute(statement)
        assert await connection.fetchval("select pg_relation_filenode('fragment_vector_near')") != before
    finally:
        await connection.close()
