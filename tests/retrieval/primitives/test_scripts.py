"""The weights of adaptive fusion follow the scripts of the namespaces that are asked, and of nothing hidden."""

from __future__ import annotations

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.ingest.statistics import refresh_statistics
from retrieval.question import make_question
from retrieval.ranking import Channel
from retrieval.store import Store
from tests.fixtures.world import session_for
from tests.fixtures.writing import ADMIN, put

RUSSIAN, ENGLISH = "загрузка больших файлов", "uploading large files"


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
        (RUSSIAN, ["ru"], 1.0),
        (RUSSIAN, ["en"], 0.05),
        (ENGLISH, ["ru"], 0.05),
        (RUSSIAN, ["ru", "en"], 1.0),
        (ENGLISH, None, 1.0),
        ("42", ["ru"], 1.0),
    ],
)
async def test_words_weigh_by_the_namespace_that_speaks_the_language(
    two_languages: Store, question: str, namespaces: list[str] | None, words: float
) -> None:
    async with session_for(two_languages, None) as session:
        run = await session.search(make_question(two_languages.tuning, question, namespaces=namespaces))
        weights = await run.lists.weights()
    assert (weights[Channel.LEXICAL], weights[Channel.VECTOR]) == (words, 2 - words)
