"""Storing sources: outcomes, fragments, words, vectors, links, rights."""

from __future__ import annotations

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from retrieval.ingest.queue import embed_pending, pending
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import ingest_many, ingest_source
from retrieval.outcomes import Outcome
from retrieval.store import Store

ADMIN = local_administrator()


@pytest.fixture
async def ns(store: Store) -> int:
    return (await create_namespace(store.database, ADMIN, "docs")).ns


async def test_a_source_is_created_then_unchanged_then_updated(store: Store, ns: int) -> None:
    first = SourceInput("a.md", "# Заголовок\n\nТекст про собак и кошек E0308.\n\n[b](b.md)")
    results = [
        await ingest_source(store.database, store.base, ADMIN, "docs", first),
        await ingest_source(store.database, store.base, ADMIN, "docs", first),
        await ingest_source(store.database, store.base, ADMIN, "docs", SourceInput("a.md", "Другой текст")),
    ]
    assert [(r.outcome, r.message) for r in results] == [
        (Outcome.CREATED, None), (Outcome.UNCHANGED, None), (Outcome.UPDATED, None)
    ]  # fmt: skip


async def test_the_queue_embeds_and_statistics_count(store: Store, ns: int) -> None:
    results = await ingest_many(store.database, store.base, ADMIN, "docs", [
        SourceInput("a.md", "# Один\n\nсобака собака кошка\n\n[b](b.md)"), SourceInput("b.md", "# Два\n\nкошка [a](a.md)"),
    ])  # fmt: skip
    assert {r.outcome for r in results} == {Outcome.CREATED}, results
    assert await pending(store.database, [ns]) == 2
    assert await embed_pending(store, 10) == 2
    assert await pending(store.database, [ns]) == 0
    assert await refresh_statistics(store.database, ns)
    async with store.database.reading() as connection:
        words = dict(await connection.fetch("select lexeme, fragments from word_statistics"))
        counted = await connection.fetch("select acl_id, fragments, words from fragment_statistics")
        facts = await connection.fetch("select subject_id, object_id, predicate, evidence, has_places from fact")
    assert (words["кошк"], words["собак"]) == (2, 1)
    assert [tuple(row) for row in counted] == [(0, 2, 8)]
    assert len(facts) == 2
