"""The invented corpus is the same each time and has the shape that the measurements speak of."""

from __future__ import annotations

import numpy as np
import pytest

from app.bench.at_size.corpus import NAMESPACES, Corpus, invent


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    """Fifty fragments a namespace in the mean."""
    return invent(20_000, 30)


def test_the_same_numbers_give_the_same_corpus(corpus: Corpus) -> None:
    again = invent(20_000, 30)
    assert np.array_equal(again.vectors, corpus.vectors)
    assert np.array_equal(again.texts, corpus.texts)
    assert again.questions(5) == corpus.questions(5)


def test_one_namespace_holds_half_and_the_others_fewer_and_fewer(corpus: Corpus) -> None:
    sizes = np.bincount(corpus.spaces, minlength=NAMESPACES)
    assert sizes[0] == corpus.documents / 2
    assert sizes[1] > 3 * sizes[10] > 6 * sizes[100]


def test_fragments_of_a_document_are_near_each_other_and_questions_near_a_cluster(corpus: Corpus) -> None:
    assert np.allclose(np.linalg.norm(corpus.vectors, axis=1), 1, atol=1e-5)
    likeness = corpus.vectors[:1000] @ corpus.vectors[:1000].T
    document = np.repeat(np.arange(100), 10)
    same = document[:, None] == document[None, :]
    assert likeness[same].mean() > 0.85 > 0.75 > likeness[~same].mean() > 0.6
    assert np.sort(corpus.asked @ corpus.vectors.T, axis=1)[:, -1].min() > 0.85


def test_a_question_has_rare_words_of_its_fragment_and_frequent_ones_that_are_not_in_it(corpus: Corpus) -> None:
    for question in corpus.questions(20, within=500):
        assert question.fragment < 500
        own = corpus.text(question.fragment).rstrip(".").split()
        asked = question.text.rstrip("?").split()
        held = [word for word in asked if word in own]
        assert len(asked) == 7
        assert len(held) == 3
        places = sorted(corpus.words.index(word) for word in held)
        assert places[-1] == max(corpus.words.index(word) for word in own)


def test_the_head_is_the_beginning(corpus: Corpus) -> None:
    head = corpus.head(1_000)
    assert (len(head), head.documents) == (1_000, 100)
    assert head.text(999) == corpus.text(999)
    assert head.title(99) == corpus.title(99)
