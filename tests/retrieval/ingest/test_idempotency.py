"""Keeping what was given for an idempotency key, beside others who forget."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.facts import assert_facts
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, put, values

pytestmark = pytest.mark.usefixtures("ns")


async def assert_under(store: Store, key: str, value: int) -> None:
    """Assert a fact under an idempotency key."""
    await assert_facts(store.database, ADMIN, DOCS, [FactInput("a", "p", value=value)], key)


async def test_old_results_are_forgotten_by_the_next_write_which_waits_for_nobody_who_forgets_them_too(store: Store) -> None:
    await put(store, "a", "текст")
    await assert_under(store, "old", 1)
    async with store.database.writing() as connection:
        await connection.execute("update idempotency set created_at = now() - interval '1 year'")
    async with store.database.writing() as connection:
        await connection.execute("select from idempotency for update")
        await asyncio.wait_for(assert_under(store, "second", 2), 30)
    assert await values(store, "select count(*) from idempotency") == [2]
    await assert_under(store, "third", 3)
    assert await values(store, "select count(*) from idempotency") == [2]
