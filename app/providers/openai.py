"""Embeddings from any server that speaks OpenAI's protocol: bounded batches, bounded retries, checked replies."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime

import numpy as np
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError, omit

from app.providers.breaker import Breaker
from app.providers.replies import vectors_of
from retrieval.errors import ProviderUnavailable
from retrieval.ports import Vectors

ATTEMPTS = 4  # of one batch
FIRST_PAUSE_SECONDS = 0.5  # doubled at each further attempt
LONGEST_PAUSE_SECONDS = 30.0
BATCH_BYTES = 250_000  # a provider's limit is 300,000 tokens in one call, and a token is at least a byte
PASSAGES_TIMEOUT_FACTOR = 6


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
        self._breaker = Breaker("embedding provider")
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
            except _Refused:
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
            except _Passing as failure:
                pause = _pause(attempt, failure.hint)
                too_late = pause > LONGEST_PAUSE_SECONDS or time.monotonic() + pause >= until
                if attempt == ATTEMPTS or too_late or self._breaker.is_open:
                    raise
            await asyncio.sleep(pause)

    async def _once(self, batch: Sequence[str], seconds: float) -> Vectors:
        """One call; a refused input and a rate limit are answers of a healthy provider, which the breaker does not count."""
        healthy: ProviderUnavailable | None = None
        with self._breaker.attempt():
            try:
                body = await self._post(batch, seconds)
                return vectors_of(body, len(batch), self.dimensions)
            except (_Refused, _RateLimited) as failure:
                healthy = failure
            except (_Failed, _Passing):
                raise
            except ProviderUnavailable as error:
                raise _Passing(error.message) from error
        raise healthy

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
            raise _Passing(f"The embedding provider did not answer within {seconds:.3g} s.") from error
        except APIStatusError as error:
            raise _failure_of(error) from error
        except APIConnectionError as error:
            raise _Passing("The embedding provider cannot be reached; check CB_OPENAI_BASE_URL.") from error
        except OpenAIError as error:
            raise _Failed("The call to the embedding provider failed.") from error


class _Failed(ProviderUnavailable):
    """Another attempt would fail as well."""


class _Refused(_Failed):
    """The provider does not take this input: too many texts, or one that it rejects."""


class _Passing(ProviderUnavailable):
    """Another attempt may succeed, after `hint` seconds if the provider said so."""

    def __init__(self, message: str, hint: float | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class _RateLimited(_Passing):
    """The provider asks to wait."""


def _failure_of(error: APIStatusError) -> ProviderUnavailable:
    """What a status means; the body is not quoted, because it may hold texts or parts of a key."""
    status = error.status_code
    said = f"The embedding provider answered {status}"
    if status in (400, 413, 422):
        return _Refused(f"{said}: it does not take this input; check CB_EMBEDDING_MODEL and CB_EMBEDDING_DIMENSIONS.")
    if status in (401, 403):
        return _Failed(f"{said}; check CB_OPENAI_API_KEY.")
    if status == 404:
        return _Failed(f"{said}; check CB_OPENAI_BASE_URL and CB_EMBEDDING_MODEL.")
    if status == 429:
        return _RateLimited(f"{said}: too many requests.", _hint(error))
    if status in (408, 409) or status >= 500:
        return _Passing(f"{said}.", _hint(error))
    return _Failed(f"{said}.")


def _hint(error: APIStatusError) -> float | None:
    """The seconds to wait that a reply names, in any of the three forms in use."""
    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "")
        return max(0.0, float(value)) if value[:1].isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, TypeError):
        return None


def _pause(attempt: int, hint: float | None) -> float:
    """Seconds to the next attempt: the hint and up to a quarter more, so that clients do not come back together."""
    base = FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1) if hint is None else max(hint, 0.0)
    return base * random.uniform(1.0, 1.25)
