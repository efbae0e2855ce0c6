"""The shipped vectors are those that the model makes of the shipped pages."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from app.config import LOCAL_MODEL
from app.demo.corpus import LANGUAGES, pages
from app.demo.vectors import embedded_texts, file_of, make_vectors, shipped_vectors
from app.providers.local import LocalEmbedder
from retrieval.store import digest_of
from tests.fixtures.embedders import HashEmbedder

MAKE_ANEW = "run `python -m app.demo.vectors`"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_fragment_has_its_vector_and_no_vector_is_left_over(language: str) -> None:
    assert shipped_vectors(file_of(language)).keys() == embedded_texts(pages(language)).keys(), MAKE_ANEW


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_vector_is_of_unit_length(language: str) -> None:
    vectors = np.stack(list(shipped_vectors(file_of(language)).values())).astype(np.float32)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=2e-3)


async def test_the_model_makes_the_same_of_a_sample() -> None:
    texts = {digest: text for language in LANGUAGES for digest, text in embedded_texts(pages(language)).items()}
    shipped = {digest: vector for language in LANGUAGES for digest, vector in shipped_vectors(file_of(language)).items()}
    sample = random.Random(7).sample(sorted(texts), 5)
    embedder = LocalEmbedder()
    made = await embedder.embed_passages([texts[digest] for digest in sample])
    await embedder.close()
    kept = np.stack([shipped[digest] for digest in sample]).astype(np.float32)
    assert ((made * kept).sum(axis=1) > 0.999).all(), MAKE_ANEW


async def test_only_what_is_missing_is_made_and_what_has_gone_goes(tmp_path: Path) -> None:
    file, embedder = tmp_path / "vectors-xx.npy", HashEmbedder(LOCAL_MODEL, 384, batch_size=2)
    texts = {digest_of(LOCAL_MODEL, text): text for text in ("one", "two", "three")}
    assert await make_vectors(file, texts, embedder) == 3
    before = file.read_bytes()
    assert await make_vectors(file, texts, embedder) == 0
    assert file.read_bytes() == before
    changed = {digest_of(LOCAL_MODEL, text): text for text in ("one", "four")}
    assert await make_vectors(file, changed, embedder) == 1
    assert shipped_vectors(file).keys() == changed.keys()
    assert shipped_vectors(tmp_path / "nothing.npy") == {}


def test_the_files_are_small() -> None:
    assert sum(file_of(language).stat().st_size for language in LANGUAGES) < 3_000_000
