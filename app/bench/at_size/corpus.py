"""Invents many documents in many namespaces: clustered vectors, words as frequent as in language, topics, questions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from app.bench.corpus import DIMENSIONS, Vectors, word

FRAGMENTS_OF_DOCUMENT = 10
"""As many as a page of the demonstration has in the mean."""
WORDS_OF_TEXT, WORDS_OF_TITLE = 80, 3
VOCABULARY = 200_000
NAMESPACES = 400
TOPICS, CLUSTERS_OF_TOPIC = 200, 10
FREQUENT = 50
"""How many words are the filler of questions: the most frequent ones, such as "how" and "is" are."""
RANK = 24
"""How many directions the vectors of a cluster vary in."""

Numbers = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question in words about one fragment (its place in the corpus)."""

    text: str
    fragment: int


@dataclass(frozen=True, eq=False)
class Corpus:
    """Fragments in order, ten a document; the same numbers give the same corpus.

    `texts` and `titles` are words by their place in order of frequency, `spaces` and `topics` are those of each document;
    `asked` are vectors of questions, from the same clusters as the fragments and not among them.
    """

    spaces: Numbers
    topics: Numbers
    titles: Numbers
    texts: np.ndarray[Any, np.dtype[np.int32]]
    vectors: Vectors
    asked: Vectors

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.spaces)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The vocabulary in order of frequency; every other word is Russian."""
        return tuple(word(number) for number in range(VOCABULARY))

    def text(self, fragment: int) -> str:
        """What a fragment says."""
        return " ".join(self.words[place] for place in self.texts[fragment]) + "."

    def title(self, document: int) -> str:
        """What a document is called."""
        return " ".join(self.words[place] for place in self.titles[document])

    def head(self, fragments: int) -> Corpus:
        """The first fragments as a corpus of their own, in as many namespaces."""
        documents = fragments // FRAGMENTS_OF_DOCUMENT
        return Corpus(
            self.spaces[:documents], self.topics[:documents], self.titles[:documents],
            self.texts[:fragments], self.vectors[:fragments], self.asked,
        )  # fmt: skip

    def questions(self, count: int, within: int | None = None) -> list[Question]:
        """Noisy questions about fragments at random, the same ones each time; `within` takes the first fragments only.

        Two of the rarest words of the fragment, a medium one, and four frequent ones that it does not hold: the filler of a
        natural question (research/postgres.md 2.2).
        """
        chance = np.random.default_rng(7)
        fragments = chance.choice(within or len(self), count, replace=False)
        return [self._question(chance, int(fragment)) for fragment in fragments]

    def _question(self, chance: np.random.Generator, fragment: int) -> Question:
        held = np.unique(self.texts[fragment])
        absent = np.setdiff1d(np.arange(FREQUENT), held)
        chosen = [*held[-2:], held[len(held) // 2], *chance.choice(absent, 4, replace=False)]
        return Question(" ".join(self.words[place] for place in chance.permutation(chosen)) + "?", fragment)


def invent(fragments: int, questions: int, seed: int = 11) -> Corpus:
    """A corpus of a multiple of ten fragments."""
    chance = np.random.default_rng(seed)
    documents = fragments // FRAGMENTS_OF_DOCUMENT
    clusters = chance.permutation(documents) % (TOPICS * CLUSTERS_OF_TOPIC)
    frequency = 1 / np.arange(2, VOCABULARY + 2)
    steps = np.cumsum(frequency / frequency.sum())
    texts = np.minimum(np.searchsorted(steps, chance.random((fragments, WORDS_OF_TEXT))), VOCABULARY - 1).astype(np.int32)
    titles = np.minimum(np.searchsorted(steps, chance.random((documents, WORDS_OF_TITLE))), VOCABULARY - 1)
    asked = chance.integers(0, TOPICS * CLUSTERS_OF_TOPIC, questions)
    vectors = clustered(chance, np.concatenate([np.repeat(clusters, FRAGMENTS_OF_DOCUMENT), asked]))
    spaces = namespaces_of(chance, documents)
    return Corpus(spaces, clusters // CLUSTERS_OF_TOPIC, titles, texts, vectors[:fragments], vectors[fragments:])


def namespaces_of(chance: np.random.Generator, documents: int) -> Numbers:
    """The namespace of each document, whatever its topic: the first holds half of all, the others are of Zipf's sizes."""
    share = 1 / np.arange(1, NAMESPACES)
    weights = np.concatenate([[0.5], 0.5 * share / share.sum()])
    spaces: Numbers = np.searchsorted(np.cumsum(weights), (np.arange(documents) + 0.5) / documents)
    return chance.permutation(np.minimum(spaces, NAMESPACES - 1))


def clustered(chance: np.random.Generator, clusters: Numbers) -> Vectors:
    """Unit vectors inside a narrow cone, as those of E5 are: topics, clusters inside them, few directions inside a cluster."""
    cone = 2 * chance.standard_normal(DIMENSIONS)
    topics = chance.standard_normal((TOPICS, DIMENSIONS))
    centers = np.repeat(topics, CLUSTERS_OF_TOPIC, axis=0) + 0.6 * chance.standard_normal(
        (len(topics) * CLUSTERS_OF_TOPIC, DIMENSIONS)
    )
    directions = chance.standard_normal((TOPICS, RANK, DIMENSIONS)) / np.sqrt(RANK)
    vectors = np.empty((len(clusters), DIMENSIONS), np.float32)
    for topic in range(TOPICS):
        (members,) = np.nonzero(clusters // CLUSTERS_OF_TOPIC == topic)
        inside = chance.standard_normal((len(members), RANK)) @ directions[topic]
        vectors[members] = (
            cone + centers[clusters[members]] + 0.7 * inside + 0.1 * chance.standard_normal((len(members), DIMENSIONS))
        )
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors
