"""Many writers at once: one version of each document, no constraint error, no deadlock that reaches a caller."""

from __future__ import annotations

import asyncio
import random

import pytest

from retrieval.administration.namespaces import create_namespace, delete_namespace
from retrieval.administration.rights import require
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.write import ingest_many
from retrieval.outcomes import Outcome
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, put, row_counts, rows, values

pytestmark = pytest.mark.usefixtures("ns")
EDGES = "select s.key, o.key from fact f join entity s on s.entity_id = subject_id join entity o on o.entity_id = object_id"


async def test_the_same_key_fifty_times_at_once_is_one_source(store: Store) -> None:
    results = await asyncio.gather(*(put(store, "a.md", "# Т\n\nодин\n\n## Б\n\nдва [b](b.md)") for _ in range(50)))
    assert sorted(result.outcome.value for result in results) == ["CREATED"] + ["UNCHANGED"] * 49
    counts = await row_counts(store)
    assert (counts["entity"], counts["source"], counts["fragment"], counts["link"]) == (1, 1, 2, 1)


async def test_the_same_change_fifty_times_at_once_is_one_update(store: Store) -> None:
    await put(store, "a.md", "раз")
    results = await asyncio.gather(*(put(store, "a.md", "два") for _ in range(50)))
    assert sorted(result.outcome.value for result in results) == ["UNCHANGED"] * 49 + ["UPDATED"]


async def test_readers_see_one_whole_version_while_writers_replace_it(store: Store) -> None:
    await put(store, "a.md", "v0 раз\n\n# Х\n\nv0 два")
    done = asyncio.Event()
    seen: set[tuple[str, ...]] = set()

    async def read() -> None:
        while not done.is_set():
            seen.add(tuple(sorted(text.split()[0] for text in await values(store, "select text from fragment"))))

    reader = asyncio.create_task(read())
    results = await asyncio.gather(*(put(store, "a.md", f"v{n} раз\n\n# Х\n\nv{n} два") for n in range(1, 11)))
    done.set()
    await reader
    assert {result.outcome for result in results} == {Outcome.UPDATED}
    assert {len(version) for version in seen} == {2}
    assert all(first == second for first, second in seen), seen


async def test_documents_that_link_to_each_other_are_connected_once_whoever_came_first(store: Store) -> None:
    for number in range(20):
        names = f"a{number}", f"b{number}"
        await asyncio.gather(*(put(store, one, f"[x]({other})") for one, other in (names, names[::-1])))
    edges = await rows(store, EDGES)
    assert len(edges) == len(set(edges)) == 40
    assert await values(store, "select count(*) from link where fact_id is null") == [0]
    assert await values(store, "select count(*) from fact_place") == [40]


async def test_forty_ingests_that_share_links_lose_nothing(store: Store) -> None:
    names = [f"d{number}" for number in range(40)]

    async def ingest(seed: int) -> list[Outcome]:
        order = random.Random(seed)
        sources = [
            SourceInput(name, " ".join(f"[x]({other})" for other in order.sample(names, 5)) + f" автор{seed}")
            for name in order.sample(names, 4)
        ]
        results = await ingest_many(store.database, store.base, ADMIN, DOCS, sources)
        assert [result.message for result in results] == [None] * 4
        return [result.outcome for result in results]

    await asyncio.gather(*(ingest(seed) for seed in range(40)))
    stored = await values(store, "select count(*) from source")
    assert await values(store, "select count(distinct entity_id) from fragment") == stored
    # Every link whose target is there is one fact in force, and nothing else is.
    linked = "select l.entity_id, t.entity_id from link l join entity t on t.ns = l.ns and t.key_digest = l.target_digest"
    in_force = "select subject_id, object_id from fact where retracted_at is null"
    assert sorted(await rows(store, linked)) == sorted(await rows(store, in_force))


async def test_writing_and_deleting_the_same_entities_at_once_leaves_no_orphan(store: Store) -> None:
    async def write(number: int) -> None:
        result = await put(store, f"k{number % 4}", f"текст {number} [x](k{(number + 1) % 4})")
        assert result.outcome is not Outcome.FAILED, result

    async def delete(number: int) -> None:
        await delete_entity(store.database, ADMIN, DOCS, f"k{number % 4}")

    async def embed() -> None:
        await embed_pending(store, 4)

    steps = [write(number) for number in range(40)] + [delete(number) for number in range(30)] + [embed() for _ in range(10)]
    random.Random(1).shuffle(steps)
    await asyncio.gather(*steps)
    for number in range(4):
        await delete_entity(store.database, ADMIN, DOCS, f"k{number}")
    counts = await row_counts(store)
    assert not any(counts.values()), counts


async def test_a_namespace_deleted_during_writes_is_gone_whole(store: Store) -> None:
    await create_namespace(store.database, ADMIN, "short")
    writes = [asyncio.create_task(put(store, f"k{number}", "текст [x](k1)", namespace="short")) for number in range(30)]
    await asyncio.sleep(0.05)
    await delete_namespace(store.database, ADMIN, "short", "short")
    results = await asyncio.gather(*writes)
    assert {result.code for result in results} <= {None, "NAMESPACE_NOT_FOUND"}
    counts = await row_counts(store)
    assert not any(counts.values()), counts


async def test_a_namespace_is_not_deleted_under_a_transaction_that_writes_in_it(store: Store) -> None:
    async with store.database.writing() as connection:
        ns = await require(connection, ADMIN, DOCS, "WRITER")
        deleting = asyncio.create_task(delete_namespace(store.database, ADMIN, DOCS, DOCS))
        assert not (await asyncio.wait([deleting], timeout=0.3))[0]
        await connection.execute("insert into embedding_queue (ns, fragment_id) values ($1, 1)", ns)
    await deleting
    assert await values(store, "select count(*) from embedding_queue") == [0]
