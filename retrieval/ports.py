"""What the domain asks of the outside world; app.providers implements it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal, Protocol

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


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat; whoever makes it has neutralised and masked what is in it."""

    role: Literal["system", "user", "assistant"]
    content: str


class Finish(Enum):
    """Why a chat model ended: it was done, it ran out of room, or it (or a filter before it) would not answer."""

    STOP = "stop"
    LENGTH = "length"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Reply:
    """What a chat model said, at most 100,000 characters; a REFUSED one may have no text, a LENGTH one too."""

    text: str
    finish: Finish


class ChatModel(Protocol):
    """Answers chats; a call takes `seconds` at most, whatever is repeated inside it, and then raises `DeadlineExceeded`.

    Raises `ProviderUnavailable` when the provider fails, is left alone for a while after failures, or gives what cannot be used.
    """

    model: str

    async def complete(self, messages: Sequence[Message], *, temperature: float, seconds: float, json: bool = False) -> Reply:
        """The whole reply; `json` asks for a JSON object, which a provider may ignore."""
        ...

    def stream(self, messages: Sequence[Message], *, temperature: float, seconds: float) -> AsyncGenerator[str | Finish]:
        """The pieces of the reply as they come, none empty, and last a `Finish`; closing the generator closes the call.

        What fails after pieces were given raises too: they are all that there is.
        """
        ...

    async def close(self) -> None: ...
