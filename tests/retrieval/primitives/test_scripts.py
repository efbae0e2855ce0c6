"""The weights of adaptive fusion follow the scripts of the namespaces that are asked, and of nothing hidden."""

from __future__ import annotations

import pytest

from retrieval.adaptive import adaptive_weights
from retrieval.administration.namespaces import create_namespace
from retrieval.ingest.statistics import refresh_statistics
from retrieval.question import make_question
from retrieval.ranking import Channel
from retrieval.store import Store
from retrieval.tuning import Tuning
from tests.fixtures.world import session_for
from tests.fixtures.writing import ADMIN, put

RUSSIAN, ENGLISH = "загрузка больших файлов", "uploading large files"
OWN, FOREIGN = (adaptive_weights(Tuning(), shares)[Channel.LEXICAL] for shares in ([1.0], [0.0]))


@pytest.fixture
async def two_languages(store: Store) -> Store:
    """A Russian and an English namespace, and in the English one a restricted Russian text."""
    for name, text in (("ru", RUSSIAN), ("en", ENGLISH)):
        space = await create_namespace(store.database, ADMIN, name)
        await put(store, "a", text, namespace=name, title=text)
        await put(store, "b", RUSSIAN, namespace=name, title=RUSSIAN, restricted=True)
        await refresh_statistics(store.database, space.ns)
    return store


@pytest.mark.parametrize(
    ("question", "namespaces", "words"),
    [
        (RUSSIAN, ["ru"], OWN),
        (RUSSIAN, ["en"], FOREIGN),
        (ENGLISH, ["ru"], FOREIGN),
        (RUSSIAN, ["ru", "en"], OWN),
        (ENGLISH, None, OWN),
        ("42", ["ru"], OWN),
    ],
)
async def test_words_weigh_by_the_namespace_that_speaks_the_language(
    two_languages: Store, question: str, namespaces: list[str] | None, words: float
) -> None:
    async with session_for(two_languages, None) as session:
        run = await session.search(make_question(two_languages.tuning, question, namespaces=namespaces))
        weights = await run.lists.weights()
    assert (weights[Channel.LEXICAL], weights[Channel.VECTOR]) == (words, 2 - words)
