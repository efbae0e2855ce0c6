"""Word search ranks by BM25: the statement gives the scores that the formula gives, computed here by itself."""

from __future__ import annotations

import asyncio
import math
import random
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from app.sessions import Identity
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.ingest.bulk import Prepared, load
from retrieval.ingest.statistics import refresh_statistics
from retrieval.migrations import prepare
from retrieval.question import make_question
from retrieval.session import Session
from retrieval.store import Store
from retrieval.tuning import TITLE_WEIGHT, Tuning

WORDS = (
    "zebra", "lamp", "river", "stone", "cloud", "forest", "pepper", "violin", "anchor", "button", "candle", "dragon",
    "engine", "falcon", "garden", "hammer", "island", "jacket", "kettle", "ladder",
)  # fmt: skip
"""More than the sixteen that the statement writes out."""


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    base = await prepare(database_url, search_config="simple", embedding_model=None, dimensions=None)
    database = await Database.open(database_url, size=2)
    yield Store(database, base, Tuning(), None)
    await database.close()


def corpus(seed: int, documents: int) -> dict[str, tuple[str, str]]:
    """Titles and texts of random words, frequent and rare ones, short and long."""
    chance = random.Random(seed)
    weights = [1.4**-at for at in range(len(WORDS))]
    return {
        f"doc{at}": (chance.choice(WORDS), " ".join(chance.choices(WORDS, weights, k=chance.randint(1, 60))))
        for at in range(documents)
    }


def bm25(texts: dict[str, tuple[str, str]], question: list[str], k1: float, b: float) -> dict[str, float]:
    """The formula, a document and a word at a time."""
    counts = {key: Counter([title] * TITLE_WEIGHT + text.split()) for key, (title, text) in texts.items()}
    mean = sum(sum(count.values()) for count in counts.values()) / len(counts)
    scores: dict[str, float] = {}
    for key, count in counts.items():
        for word in set(question) & count.keys():
            held = sum(1 for other in counts.values() if word in other)
            idf = math.log(1 + (len(counts) - held + 0.5) / (held + 0.5))
            norm = k1 * (1 - b + b * sum(count.values()) / mean)
            scores[key] = scores.get(key, 0.0) + idf * count[word] * (k1 + 1) / (count[word] + norm)
    return scores


async def ask(store: Store, text: str) -> dict[str, float]:
    deadline = asyncio.get_running_loop().time() + 60
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        run = await session.search(make_question(store.tuning, text, k=50))
        names = {hit.fragment.fragment_id: hit.entity.key for hit in await run.lexical}
        return {names[hit.item_id]: hit.raw_score for hit in (await run.lists.lexical_pool).hits if hit.item_id in names}


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_raw_score_is_bm25(store: Store, seed: int) -> None:
    texts = corpus(seed, 40)
    namespace = await create_namespace(store.database, local_administrator(), "words")
    async for _ in load(store.database, namespace.ns, [Prepared(key, *both) for key, both in texts.items()]):
        pass
    await refresh_statistics(store.database, namespace.ns)
    for question in (["zebra"], ["zebra", "dragon"], ["candle", "river", "lamp"], list(WORDS)):
        expected = bm25(texts, question, store.tuning.bm25_k1, store.tuning.bm25_b)
        found = await ask(store, " ".join(question))
        assert found == pytest.approx(expected, rel=1e-9)
        assert list(found) == sorted(found, key=lambda key: -found[key])


async def test_a_word_that_stands_often_is_counted_exactly(store: Store) -> None:
    texts = {f"doc{times}": ("title", "needle " * times + "hay") for times in (1, 2, 5, 20, 100, 250)}
    namespace = await create_namespace(store.database, local_administrator(), "words")
    async for _ in load(store.database, namespace.ns, [Prepared(key, *both) for key, both in texts.items()]):
        pass
    await refresh_statistics(store.database, namespace.ns)
    expected = bm25(texts, ["needle"], store.tuning.bm25_k1, store.tuning.bm25_b)
    assert await ask(store, "needle") == pytest.approx(expected, rel=1e-9)
