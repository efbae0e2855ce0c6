"""Vectors of texts that are no longer stored are kept for a day, because texts come back, and then forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from retrieval.ingest.queue import embed_pending
from retrieval.ingest.worker import Worker
from retrieval.ports import Vectors
from retrieval.store import Store
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.writing import put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
KEPT = "select former_since is not null, count(*) from vector_cache group by 1 order by 1"


async def after_a_day(store: Store) -> None:
    """Let a day pass, and a worker look."""
    async with store.database.writing() as connection:
        await connection.execute("update vector_cache set former_since = former_since - interval '25 hours'")
    await Worker(store).tidy()


async def test_a_text_that_was_replaced_is_forgotten_after_a_day(store: Store) -> None:
    await put(store, "a", "## Раз\n\nпервый\n\n## Два\n\nвторой")
    await put(store, "b", "иной")
    await embed_pending(store, 10)
    await put(store, "a", "## Раз\n\nпервый\n\n## Два\n\nизменён")
    await embed_pending(store, 10)
    assert await rows(store, KEPT) == [(False, 3), (True, 1)]
    await Worker(store).tidy()
    assert await rows(store, KEPT) == [(False, 3), (True, 1)], "not yet"
    await after_a_day(store)
    assert await rows(store, KEPT) == [(False, 3)]
    assert await values(store, "select count(*) from fragment_vector") == [3]


async def test_a_text_that_comes_back_is_not_embedded_again_and_stays(store: Store) -> None:
    for text in ("один", "два"):
        await put(store, "a", text)
        await embed_pending(store, 10)
    await put(store, "a", "один")
    assert await values(store, "select count(*) from embedding_queue") == [0]
    await after_a_day(store)
    assert await rows(store, KEPT) == [(False, 1)]


async def test_a_vector_that_comes_for_a_text_that_went_is_not_kept(store: Store) -> None:
    await put(store, "a", "один")

    class Late(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            await put(store, "a", "два")
            return await super().embed_passages(texts)

    await embed_pending(replace(store, embedder=Late()), 10)
    assert await rows(store, KEPT) == []
    await embed_pending(store, 10)
    assert await rows(store, KEPT) == [(False, 1)]
