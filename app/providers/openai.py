"""Embeddings from any server that speaks OpenAI's protocol: bounded batches, bounded retries, checked replies."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence

import numpy as np
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError, omit

from app.providers.breaker import Breaker
from app.providers.failures import (
    HEALTHY,
    LONGEST_PAUSE_SECONDS,
    Failed,
    Passing,
    Refused,
    failure_of,
    pause_before_next,
    unreachable,
)
from app.providers.replies import vectors_of
from retrieval.errors import ProviderUnavailable
from retrieval.ports import Vectors

ATTEMPTS = 4  # of one batch
BATCH_BYTES = 250_000  # a provider's limit is 300,000 tokens in one call, and a token is at least a byte
PASSAGES_TIMEOUT_FACTOR = 6
PROVIDER = "embedding provider"


class OpenAIEmbedder:
    """Vectors by `/embeddings`; `batch_size` falls when the provider refuses so many texts in one call."""

    def __init__(
        self,
        *,
        model: str,
        dimensions: int,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 5.0,
        batch_size: int = 32,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.batch_size = batch_size
        self._timeout = timeout
        self._breaker = Breaker(PROVIDER)
        # Retries are ours: the library's know neither batches nor the breaker.
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key or "unused", max_retries=0, timeout=None)

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Vectors of questions, shape (texts, dimensions); everything, retries too, within the timeout."""
        return await self._embed(texts, self._timeout, time.monotonic() + self._timeout)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages, shape (texts, dimensions); only batches that failed are sent again."""
        return await self._embed(texts, self._timeout * PASSAGES_TIMEOUT_FACTOR, math.inf)

    async def close(self) -> None:
        """Close the connections to the provider."""
        await self._client.close()

    async def _embed(self, texts: Sequence[str], seconds: float, until: float) -> Vectors:
        """Batch after batch; a refused batch goes again in halves, and when both pass, their size is the new limit."""
        parts = [np.empty((0, self.dimensions), dtype=np.float32)]
        done = 0
        while done < len(texts):
            batch = texts[done : done + self._batch_length(texts, done)]
            try:
                parts.append(await self._with_retries(batch, seconds, until))
            except Refused:
                if len(batch) == 1:
                    raise
                half = (len(batch) + 1) // 2
                parts.append(await self._embed(batch[:half], seconds, until))
                parts.append(await self._embed(batch[half:], seconds, until))
                self.batch_size = min(self.batch_size, half)
            done += len(batch)
        return np.concatenate(parts)

    def _batch_length(self, texts: Sequence[str], start: int) -> int:
        size = 0
        for count, text in enumerate(texts[start : start + self.batch_size]):
            size += len(text.encode("utf-8", "replace"))
            if count and size > BATCH_BYTES:
                return count
        return self.batch_size

    async def _with_retries(self, batch: Sequence[str], seconds: float, until: float) -> Vectors:
        """At most `seconds` an attempt, and no attempt after `until` on the monotonic clock."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._once(batch, min(seconds, until - time.monotonic()))
            except Passing as failure:
                pause = pause_before_next(attempt, failure.hint)
                too_late = pause > LONGEST_PAUSE_SECONDS or time.monotonic() + pause >= until
                if attempt == ATTEMPTS or too_late or self._breaker.is_open:
                    raise
            await asyncio.sleep(pause)

    async def _once(self, batch: Sequence[str], seconds: float) -> Vectors:
        """One call; a reply that cannot be used is asked for again."""
        with self._breaker.attempt(HEALTHY):
            body = await self._post(batch, seconds)
            try:
                return vectors_of(body, len(batch), self.dimensions)
            except ProviderUnavailable as error:
                raise Passing(error.message) from error

    async def _post(self, batch: Sequence[str], seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                reply = await self._client.embeddings.with_raw_response.create(
                    model=self.model,
                    input=[text.encode("utf-8", "replace").decode() for text in batch],
                    encoding_format="float",
                    # Other models refuse the parameter, even with their own size.
                    dimensions=self.dimensions if self.model.startswith("text-embedding-3") else omit,
                )
                return reply.content
        except TimeoutError as error:
            raise Passing(f"The {PROVIDER} did not answer within {seconds:.3g} s.") from error
        except APIStatusError as error:
            shape = "CB_EMBEDDING_MODEL and CB_EMBEDDING_DIMENSIONS"
            raise failure_of(error, PROVIDER, model="CB_EMBEDDING_MODEL", shape=shape) from error
        except APIConnectionError as error:
            raise unreachable(PROVIDER) from error
        except OpenAIError as error:
            raise Failed(f"The call to the {PROVIDER} failed.") from error
