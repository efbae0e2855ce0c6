"""The counts that word search weighs by."""

from __future__ import annotations

import asyncio

import pytest

from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.statistics import due_namespaces, refresh_statistics
from retrieval.store import Store
from retrieval.tuning import TITLE_WEIGHT
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
WORDS = "select lexeme, fragments from word_statistics order by 1"


async def test_words_are_counted_over_unrestricted_fragments_only(store: Store, ns: int) -> None:
    await put(store, "a", "кот кот пёс", title="Дом")
    await put(store, "b", "кот тайна", title="Лес", restricted=True)
    await refresh_statistics(store.database, ns)
    assert await rows(store, WORDS) == [("дом", 1), ("кот", 1), ("пес", 1)]
    (restricted,) = await values(store, "select acl_id from entity where acl_id > 0")
    assert await rows(store, "select acl_id, fragments, words from fragment_statistics order by 1") == [
        (0, 1, 3 + TITLE_WEIGHT), (restricted, 1, 2 + TITLE_WEIGHT),
    ]  # fmt: skip


async def test_a_refresh_writes_differences_only(store: Store, ns: int) -> None:
    await put(store, "a", "кот пёс", title="Дом")
    await put(store, "b", "ёж", title="Дом")
    await refresh_statistics(store.database, ns)
    versions = dict(await rows(store, "select lexeme, xmin::text from word_statistics"))
    await refresh_statistics(store.database, ns)
    assert dict(await rows(store, "select lexeme, xmin::text from word_statistics")) == versions
    await put(store, "b", "кот", title="Дом")
    await refresh_statistics(store.database, ns)
    after = dict(await rows(store, "select lexeme, xmin::text from word_statistics"))
    assert {word for word in after if after[word] != versions.get(word)} == {"кот"}
    assert versions.keys() - after.keys() == {"еж"}


async def test_writes_mark_a_namespace_due_and_a_refresh_takes_the_marks(store: Store, ns: int) -> None:
    assert await due_namespaces(store.database) == []
    await put(store, "a", "кот")
    assert await due_namespaces(store.database) == [ns]
    await refresh_statistics(store.database, ns)
    await put(store, "a", "кот")
    assert await due_namespaces(store.database) == [], "nothing changed"
    await put(store, "a", "кот", restricted=True)
    assert await due_namespaces(store.database) == [ns], "the word is no longer counted"
    await refresh_statistics(store.database, ns)
    await delete_entity(store.database, ADMIN, DOCS, "a")
    assert await due_namespaces(store.database) == [ns]
    await refresh_statistics(store.database, ns)
    assert await rows(store, WORDS) == []
    assert await rows(store, "select * from fragment_statistics") == []


async def test_refreshes_at_the_same_time_do_not_disturb_each_other(store: Store, ns: int) -> None:
    await put(store, "a", "кот пёс ёж")
    assert all(await asyncio.gather(*(refresh_statistics(store.database, ns) for _ in range(8))))
    assert await values(store, "select count(*) from word_statistics") == [3]


async def test_a_namespace_that_is_gone_is_no_error(store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.execute("insert into statistics_due (ns) values (999)")
    assert not await refresh_statistics(store.database, 999)
    assert await due_namespaces(store.database) == []
