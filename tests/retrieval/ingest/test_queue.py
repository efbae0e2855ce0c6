"""The queue of embeddings: leases, failures, waiting, never a wrong vector."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from retrieval.ingest.queue import embed_pending, pending
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.write import ingest_many
from retrieval.ports import Vectors
from retrieval.store import Store
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

VECTORS = "select f.title, f.text, v.embedding from fragment_vector v join fragment f using (ns, fragment_id)"
ACLS = "select acl_id from fragment_vector union all select acl_id from fragment union all select acl_id from entity"
pytestmark = pytest.mark.usefixtures("ns")


async def fill(store: Store, count: int) -> None:
    """Documents `d0`, `d1` … of one fragment each."""
    given = [SourceInput(f"d{number}", f"слово{number}", title=f"T{number}") for number in range(count)]
    await ingest_many(store.database, store.base, ADMIN, DOCS, given)


def embedder_of(store: Store) -> HashEmbedder:
    """The embedder whose faults can be switched on."""
    assert isinstance(store.embedder, HashEmbedder)
    return store.embedder


async def make_due(store: Store) -> None:
    """Let the waiting time pass."""
    async with store.database.writing() as connection:
        await connection.execute("update embedding_queue set available_at = now()")


async def check_vectors(store: Store) -> int:
    """Every vector belongs to the text of its fragment; gives how many there are."""
    found = await rows(store, VECTORS)
    for title, text, embedding in found:
        expected = embedder_of(store).vector(f"{title}\n{text}")
        assert np.allclose(embedding.to_numpy(), expected, atol=2e-3)
    return len(found)


async def test_every_fragment_gets_the_vector_of_its_own_text(store: Store, ns: int) -> None:
    await fill(store, 40)
    while await embed_pending(store, 7):
        pass
    assert await check_vectors(store) == 40
    assert await pending(store.database, [ns]) == 0


async def test_several_workers_share_the_queue_and_embed_nothing_twice(store: Store) -> None:
    await fill(store, 60)

    async def work() -> None:
        while await embed_pending(store, 5):
            pass

    await asyncio.gather(*(work() for _ in range(6)))
    assert await check_vectors(store) == 60
    assert sorted(embedder_of(store).passages) == sorted(set(embedder_of(store).passages))


async def test_one_poisoned_text_stops_no_other_and_its_reason_is_kept(store: Store) -> None:
    await fill(store, 40)
    embedder_of(store).poison = "слово17"
    (before,) = await values(store, "select clock_timestamp()")
    await embed_pending(store, 40)
    assert await check_vectors(store) == 39
    ((*failed, due),) = await rows(store, "select attempts, last_error, available_at from embedding_queue")
    assert failed == [1, "ValueError: this text is refused"]
    assert due > before + timedelta(seconds=0.5)
    async with store.database.writing() as connection:  # however long that took
        await connection.execute("update embedding_queue set available_at = available_at + interval '1 hour'")
    assert await embed_pending(store, 40) == 0, "it waits"
    embedder_of(store).poison = ""
    await make_due(store)
    assert await embed_pending(store, 40) == 1
    assert await check_vectors(store) == 40


async def test_waiting_grows_with_each_failure(store: Store) -> None:
    await fill(store, 2)
    embedder_of(store).poison = "слово1"
    least, most = [], []
    for _ in range(5):
        (before,) = await values(store, "select clock_timestamp()")
        await embed_pending(store, 10)
        ((due, after),) = await rows(store, "select available_at, clock_timestamp() from embedding_queue")
        least.append((due - after).total_seconds())
        most.append((due - before).total_seconds())
        await make_due(store)
    assert most[-1] > least[0] * 4
    assert (most[0] > 0.5, least[0] <= 2) == (True, True)


async def test_a_provider_that_takes_few_texts_gets_few(store: Store) -> None:
    await fill(store, 40)
    embedder_of(store).most_texts = 3
    await embed_pending(store, 40)
    assert await check_vectors(store) == 40


async def test_a_provider_that_is_away_is_asked_a_few_times_and_nothing_is_lost(store: Store, ns: int) -> None:
    await fill(store, 40)
    embedder_of(store).is_away = True
    await embed_pending(store, 40)
    assert embedder_of(store).calls <= 8
    assert await pending(store.database, [ns]) == 40
    assert await values(store, "select max(extract(epoch from available_at - now())) < 60 from embedding_queue") == [True]
    embedder_of(store).is_away = False
    await make_due(store)
    await embed_pending(store, 40)
    assert await check_vectors(store) == 40


@pytest.mark.parametrize(
    "reply",
    [
        np.zeros((2, 8), np.float32),
        np.full((2, 8), np.nan, np.float32),
        np.full((2, 8), np.inf, np.float32),
        np.ones((3, 8), np.float32),
        np.ones((2, 7), np.float32),
    ],
    ids=["zero", "nan", "infinite", "long", "narrow"],
)
async def test_vectors_that_are_none_are_never_stored(store: Store, reply: np.ndarray) -> None:
    await fill(store, 2)
    embedder_of(store).reply = reply
    await embed_pending(store, 2)
    assert await values(store, "select count(*) from fragment_vector") == [0]
    assert await values(store, "select count(*) from embedding_queue where last_error is not null") == [2]


async def test_a_reply_with_fewer_vectors_than_texts_is_not_used(store: Store) -> None:
    class Short(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            return (await super().embed_passages(texts))[: max(1, len(texts) - 1)]

    await fill(store, 25)
    await embed_pending(replace(store, embedder=Short()), 25)
    assert await check_vectors(store) == 25, "halved down to single texts, each with its own vector"


async def test_equal_texts_are_embedded_once(store: Store) -> None:
    for key in ("a", "b", "c"):
        await put(store, key, "один текст", title="Имя")
    await embed_pending(store, 2)
    await embed_pending(store, 2)
    await put(store, "d", "один текст", title="Имя")
    assert len(embedder_of(store).passages) == 1
    assert await check_vectors(store) == 4


async def test_without_a_provider_fragments_wait_for_one(store: Store, ns: int) -> None:
    await fill(store, 3)
    assert await embed_pending(replace(store, embedder=None), 10) == 0
    assert await pending(store.database, [ns]) == 3
    assert await embed_pending(store, 10) == 3


async def test_fragments_that_went_in_the_meantime_leave_the_queue(store: Store, ns: int) -> None:
    await fill(store, 2)
    async with store.database.writing() as connection:
        await connection.execute("delete from fragment where text = 'слово0'")
    await embed_pending(store, 10)
    assert (await check_vectors(store), await pending(store.database, [ns])) == (1, 0)


async def test_a_vector_written_while_its_entity_becomes_restricted_is_restricted(store: Store) -> None:
    for number in range(20):
        await put(store, "a", f"текст {number}", restricted=False)
        await asyncio.gather(embed_pending(store, 10), put(store, "a", f"текст {number}", restricted=True))
        await embed_pending(store, 10)
        acls = await values(store, ACLS)
        assert len(acls) == 3
        assert len(set(acls)) == 1


async def test_a_cancelled_batch_is_given_back_at_once(store: Store) -> None:
    await fill(store, 3)
    started = asyncio.Event()

    class Slow(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            started.set()
            await asyncio.sleep(60)
            raise AssertionError

    task = asyncio.create_task(embed_pending(replace(store, embedder=Slow()), 3))
    await started.wait()
    assert await embed_pending(store, 3) == 0, "claimed fragments are out of reach"
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await embed_pending(store, 3) == 3
