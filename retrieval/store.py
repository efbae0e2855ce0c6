"""What lives as long as the process: the database, the embedder, the numbers, and what watches them."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from retrieval.calls import Calls
from retrieval.database import Database
from retrieval.errors import ProviderUnavailable
from retrieval.holding import Holding
from retrieval.migrations import Base
from retrieval.model import Model
from retrieval.ports import ChatModel, Embedder, Tokenizer
from retrieval.tokens import EstimatedTokens
from retrieval.tuning import Tuning


class Observer(Protocol):
    """Is told of each statement and provider call, of vectors that should have an index, and of helpers that did not help."""

    def statement(self, name: str, seconds: float) -> None: ...

    def provider_call(self, name: str, texts: int, seconds: float) -> None: ...

    def unindexed(self, vectors: int) -> None: ...

    def degraded(self, part: str, code: str) -> None: ...


class Unobserved:
    """An observer that does nothing."""

    def statement(self, name: str, seconds: float) -> None:
        """Ignore a statement."""

    def provider_call(self, name: str, texts: int, seconds: float) -> None:
        """Ignore a call."""

    def unindexed(self, vectors: int) -> None:
        """Ignore how many vectors are compared one by one for want of an index."""

    def degraded(self, part: str, code: str) -> None:
        """Ignore a helper that did not help."""


class QuestionVectors:
    """Vectors of questions by model and text: pure values, so they may outlive a request."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[bytes, np.ndarray] = OrderedDict()

    def get(self, model: str, text: str) -> np.ndarray | None:
        """The vector, if it is known."""
        key = digest_of(model, text)
        vector = self._kept.get(key)
        if vector is not None:
            self._kept.move_to_end(key)
        return vector

    def put(self, model: str, text: str, vector: np.ndarray) -> None:
        """Keep a vector; the one that was used longest ago goes."""
        self._kept[digest_of(model, text)] = vector
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


def digest_of(model: str, text: str) -> bytes:
    """What a vector is kept by: SHA-256 of model and text."""
    return hashlib.sha256(f"{model}\0{text}".encode()).digest()


@dataclass(slots=True)
class Store:
    """Everything a session needs from the process."""

    database: Database
    base: Base
    tuning: Tuning
    embedder: Embedder | None
    observer: Observer = field(default_factory=Unobserved)
    question_vectors: QuestionVectors = field(default_factory=lambda: QuestionVectors(4_096))
    next_embedder: Embedder | None = None
    """The provider of the model that the base is being re-embedded with, or was before: whichever holds it is asked."""
    exact_tokenizer: Tokenizer | None = None
    """Counts the tokens of texts; without one they are estimated."""
    chat: ChatModel | None = None
    """Who answers chats; None is echo mode, in which no model is called."""
    rerank_chat: ChatModel | None = None
    """Who judges the candidates of a rerank; None is echo mode, in which there is no rerank."""
    calls: Calls = field(init=False)
    """The room for calls to chat models, shared by all that make them."""
    holding: Holding = field(init=False)
    """Whether tokens and rights still hold, for streams."""

    def __post_init__(self) -> None:
        """Make the room as large as the numbers say."""
        self.holding = Holding(self)
        self.calls = Calls(self.tuning.chat_calls, self.tuning.chat_calls_of_one)

    @property
    def tokenizer(self) -> Tokenizer:
        """What texts are priced with."""
        return self.exact_tokenizer or EstimatedTokens(self.tuning.characters_per_token)

    def embedder_of(self, model: Model | None) -> Embedder:
        """The provider of the model that holds the base; raises `ProviderUnavailable` when this process has none."""
        for embedder in (self.embedder, self.next_embedder):
            if (
                embedder is not None
                and model is not None
                and (embedder.model, embedder.dimensions) == (model.name, model.dimensions)
            ):
                return embedder
        if self.embedder is None:
            raise ProviderUnavailable("CB_EMBEDDING_PROVIDER is none: there is no search by meaning.")
        if model is None:
            raise ProviderUnavailable("The base holds no vectors yet: there is no search by meaning.")
        raise ProviderUnavailable(
            f"The base holds vectors of {model.name} ({model.dimensions} numbers), the server is set up for "
            f"{self.embedder.model} ({self.embedder.dimensions}): there is no search by meaning until it is set up anew."
        )
