"""Callers see just the share that is said, at random or by topic, by grants that the product reads as its own."""

from __future__ import annotations

import numpy as np
import pytest

from app.bench.at_size.asking import open_base, question_by_meaning, session_of
from app.bench.at_size.corpus import NAMESPACES, Corpus, invent
from app.bench.at_size.loading import load, places_of
from app.bench.at_size.shares import Case, cases_of, store_rights, token_of


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Large enough for one document in a thousand."""
    return invent(20_000, 5)


@pytest.fixture(scope="module")
def cases(corpus: Corpus) -> list[Case]:
    """Nine callers."""
    return cases_of(corpus)


def test_shares_are_as_large_as_they_are_called(corpus: Corpus, cases: list[Case]) -> None:
    sizes = {case.name: len(case.fragments) for case in cases}
    assert sizes == {
        "100%-of-all": 20_000, "10%-at-random": 2_000, "10%-by-topic": 2_000, "1%-at-random": 200, "1%-by-topic": 200,
        "0.1%-at-random": 20, "0.1%-by-topic": 20, "0.01%-at-random": 10, "0.01%-by-topic": 10,
    }  # fmt: skip
    for case in cases:
        assert len(np.unique(case.fragments)) == len(case.fragments)


def test_by_topic_means_whole_topics(corpus: Corpus, cases: list[Case]) -> None:
    (tenth,) = (case for case in cases if case.name == "10%-by-topic")
    topics = np.unique(corpus.topics[tenth.documents])
    whole = [topic for topic in topics if np.isin(np.flatnonzero(corpus.topics == topic), tenth.documents).all()]
    assert len(whole) >= len(topics) - 1
    (scattered,) = (case for case in cases if case.name == "10%-at-random")
    assert len(np.unique(corpus.topics[scattered.documents])) > 5 * len(topics)


async def test_every_caller_finds_what_it_sees_and_nothing_else(database_url: str) -> None:
    corpus = invent(1_000, 3)
    cases = cases_of(corpus)
    await load(database_url, corpus, restricted=True)
    async with open_base(database_url) as store:
        await store_rights(store.database, cases)
        places = await places_of(store.database)
        assert sorted(places.values()) == list(range(1_000))
        for case in cases:
            async with session_of(store, await token_of(store.database, case)) as session:
                access = await session.access()
                found = await (await session.search(question_by_meaning(store, corpus, 1))).lists.vector_pool
            assert access.fragment_count == len(case.fragments)
            assert {places[hit.ns, hit.item_id] for hit in found.hits} <= set(case.fragments.tolist())
            assert len(found.hits) == min(20, len(case.fragments))
            assert len(access.spaces) == NAMESPACES
