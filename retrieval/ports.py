"""What the domain asks of the outside world; app.providers implements it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Unit vectors, one row a text: shape (texts, dimensions)."""


class Embedder(Protocol):
    """Turns texts into vectors; questions and passages may need different prefixes.

    `model` and `dimensions` are stored with the base and compared at start: vectors of two models are never mixed.
    Raises `ProviderUnavailable` when the provider fails, times out, or gives a short, reordered or non-finite reply.
    """

    model: str
    dimensions: int
    batch_size: int

    async def embed_questions(self, texts: Sequence[str]) -> Vectors: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors: ...

    async def close(self) -> None: ...


class Tokenizer(Protocol):
    """Counts the tokens of a text: none of an empty text, and a longer text never takes much less than a shorter one."""

    def count(self, text: str) -> int: ...
