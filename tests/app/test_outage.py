"""A database that goes away and comes back needs no restart of the server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from app.config import Settings
from app.embedded import embedded_database_url
from app.opening import open_store
from retrieval.errors import DatabaseUnavailable, Overloaded
from tests.fixtures.world import opened, served

ASK = {"query": '{ knowledge { isEmpty } search(question: "файл") { hits { score } } }'}


def kill(data_dir: Path) -> None:
    """End the whole PostgreSQL of a folder at once, as a power cut would."""
    postmaster = psutil.Process(int((data_dir / "postgres" / "cluster" / "postmaster.pid").read_text().split()[0]))
    for process in [postmaster, *postmaster.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):  # those that saw the end of the others are gone by themselves
            process.kill()


@pytest.mark.timeout(240)
async def test_requests_fail_clearly_while_it_is_down_and_work_when_it_is_back(tmp_path: Path) -> None:
    database = embedded_database_url(tmp_path)
    try:
        async with opened(database.url, size=3) as store, served(store, local_admin=True) as client:
            assert (await client.post("/graphql", json=ASK)).json()["data"]["knowledge"]["isEmpty"] is True
            kill(tmp_path)
            for _ in range(4):  # more often than there are connections in the pool
                answer = await client.post("/graphql", json=ASK)
                assert answer.status_code == 503
                assert {error["extensions"]["code"] for error in answer.json()["errors"]} == {"DATABASE_UNAVAILABLE"}
                assert "postgres" not in answer.text.lower()
            assert (await client.get("/readyz")).status_code == 503
            assert (await client.get("/healthz")).status_code == 200
            again = await asyncio.to_thread(embedded_database_url, tmp_path)
            async with asyncio.timeout(60):
                while (await client.post("/graphql", json=ASK)).status_code != 200:
                    await asyncio.sleep(0.1)
            assert (await client.get("/readyz")).status_code == 200
            again.close()
    finally:
        database.close()


@pytest.mark.timeout(240)
async def test_an_embedded_server_that_was_killed_is_started_again(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, embedding_provider="none")
    async with open_store(settings) as store:
        kill(tmp_path)
        async with asyncio.timeout(90):
            while True:
                with suppress(DatabaseUnavailable, Overloaded):
                    async with store.database.reading() as connection:
                        assert await connection.fetchval("select count(*) from namespace") == 0
                        break
                await asyncio.sleep(0.1)
