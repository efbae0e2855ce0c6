"""Invents a corpus of a given size: words as frequent as in language, vectors as close as those of a real model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from retrieval.ingest.bulk import Prepared

WORDS_OF_TEXT = 80
VOCABULARY = 20_000
CLUSTERS = 200
DIMENSIONS = 384
SYLLABLES = {
    "ru": ("ка", "ло", "ми", "ре", "ту", "но", "са", "ви", "де", "по", "ги", "шо", "бу", "жа", "ня"),
    "en": ("ka", "lo", "mi", "re", "tu", "no", "sa", "vi", "de", "po", "gi", "sho", "bu", "za", "ny"),
}

Vectors = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True, slots=True, eq=False)
class Corpus:
    """Words in order of frequency, which of them each text is made of, and a vector each."""

    words: tuple[str, ...]
    texts: np.ndarray[Any, np.dtype[np.int64]]
    vectors: Vectors

    def documents(self) -> Iterator[Prepared]:
        """The documents, ready to be loaded."""
        for at, (places, vector) in enumerate(zip(self.texts, self.vectors, strict=True)):
            body = " ".join(self.words[place] for place in places)
            yield Prepared(f"doc-{at}", " ".join(self.words[place] for place in places[:3]), f"{body}.", "{}", vector)

    def question(self, number: int) -> str:
        """A question about one document: three words of its own, two medium ones, two that stand everywhere; all differ."""
        chance = np.random.default_rng(number)
        places = self.texts[number % len(self.texts)]
        own = chance.choice(places, 3, replace=False)
        chosen = [*own, *chance.integers(50, 500, 2), *chance.integers(0, 20, 2)]
        return " ".join(self.words[place] for place in chosen) + f" {self.words[number % VOCABULARY]}?"


def invent(documents: int, seed: int = 1) -> Corpus:
    """A corpus that is the same for the same numbers."""
    chance = np.random.default_rng(seed)
    share = 1 / np.arange(2, VOCABULARY + 2)
    texts = chance.choice(VOCABULARY, (documents, WORDS_OF_TEXT), p=share / share.sum())
    return Corpus(tuple(word(number) for number in range(VOCABULARY)), texts, near_vectors(chance, documents))


def word(number: int) -> str:
    """The word of a number, every other one Russian; different numbers give different words."""
    syllables = SYLLABLES["ru" if number % 2 else "en"]
    found, left = "", number // 2 + len(syllables)
    while left:
        left, place = divmod(left, len(syllables))
        found += syllables[place]
    return found


def near_vectors(chance: np.random.Generator, count: int) -> Vectors:
    """Unit vectors in clusters inside a narrow cone, as those of E5 are."""
    cone = chance.standard_normal(DIMENSIONS)
    centers = 1.5 * cone + chance.standard_normal((CLUSTERS, DIMENSIONS))
    inside = chance.standard_normal((count, 32)) @ chance.standard_normal((32, DIMENSIONS)) / np.sqrt(32)
    vectors = centers[chance.integers(0, CLUSTERS, count)] + 0.6 * inside
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit
