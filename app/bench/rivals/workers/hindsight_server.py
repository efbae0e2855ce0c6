"""Hindsight's own server with one thing replaced: the vectors of the set are looked up, as if its cache held them all."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
from hindsight_api.engine import embeddings, memory_engine  # type: ignore[import-not-found, unused-ignore]
from hindsight_api.main import main  # type: ignore[import-not-found, unused-ignore]


class Given(embeddings.Embeddings):  # type: ignore[misc, unused-ignore]
    """Vectors by text; a text that is not known raises `KeyError`."""

    provider_name = "given"

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return len(next(iter(self.vectors.values())))

    async def initialize(self) -> None:
        """Nothing is loaded."""

    async def encode(self, texts: list[str]) -> list[list[float]]:
        """The vector of each text."""
        return [self.vectors[text] for text in texts]


def given(folder: Path) -> Given:
    """Those of the documents and the questions."""
    texts = json.loads((folder / "set.json").read_text())
    vectors = {}
    for name in ("documents", "questions"):
        rows = np.load(folder / f"{name}.npy").tolist()
        vectors.update({one["text"]: row for one, row in zip(texts[name], rows, strict=True)})
    return Given(vectors)


if __name__ == "__main__":
    vectors = given(Path(os.environ["BENCH_EXCHANGE"]))
    memory_engine.create_embeddings_from_env = lambda: vectors
    main()
