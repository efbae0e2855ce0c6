"""Chats with any server that speaks OpenAI's protocol: bounded in time, attempts and size, closed when the caller leaves."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Any

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, OpenAIError

from app.providers.breaker import Breaker
from app.providers.completions import MOST_BYTES, UNUSABLE, StreamedReply, reply_of
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
from retrieval.errors import DeadlineExceeded
from retrieval.ports import Finish, Message, Reply

ATTEMPTS = 3  # to be answered at all; a reply that began is never asked for again, because it is paid for
LAST_BYTES_SECONDS = 0.2  # for what follows the end of a reply, so that the connection can be used again
PROVIDER = "chat provider"
MODEL = "CB_LLM_MODEL"


class OpenAIChat:
    """Replies by `/chat/completions`; parameters that the model does not take are left out from then on."""

    def __init__(self, *, model: str, base_url: str | None = None, api_key: str | None = None) -> None:
        self.model = model
        self._breaker = Breaker(PROVIDER)
        self._not_taken: set[str] = set()
        # Retries are ours: the library's know neither the deadline nor the breaker.
        self._client = AsyncOpenAI(base_url=base_url, api_key=api_key or "unused", max_retries=0, timeout=None)

    async def complete(self, messages: Sequence[Message], *, temperature: float, seconds: float, json: bool = False) -> Reply:
        """The whole reply, retries and all within `seconds`; with `json` the messages must speak of JSON, or OpenAI refuses."""
        wanted = {"temperature": temperature, **({"response_format": {"type": "json_object"}} if json else {})}
        with self._breaker.attempt(HEALTHY):
            try:
                async with self._opened(messages, wanted, patience := Patience(seconds)) as parts:
                    body = bytearray()
                    while part := await patience.next(parts):
                        body += part
                        if len(body) > MOST_BYTES:
                            raise Failed(f"{UNUSABLE}: it has more than {MOST_BYTES} bytes.")
                return reply_of(bytes(body))
            except _Filtered:
                return Reply("", Finish.REFUSED)

    async def stream(self, messages: Sequence[Message], *, temperature: float, seconds: float) -> AsyncGenerator[str | Finish]:
        """The pieces as they come, last a `Finish`; `seconds` of waiting for the provider, not for who takes the pieces."""
        reply = StreamedReply()
        with self._breaker.attempt(HEALTHY):
            try:
                wanted = {"temperature": temperature, "stream": True}
                async with self._opened(messages, wanted, patience := Patience(seconds)) as parts:
                    while part := await patience.next(parts):
                        for piece in reply.feed(part):
                            yield piece
                        if reply.finish is not None:
                            await _read_out(parts)
                            break
                finish = reply.end()
            except _Filtered:
                finish = Finish.REFUSED
        yield finish

    async def close(self) -> None:
        """Close the connections to the provider."""
        await self._client.close()

    @contextlib.asynccontextmanager
    async def _opened(
        self, messages: Sequence[Message], wanted: dict[str, Any], patience: Patience
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of a reply that began, closed at the end of the block."""
        sent = [{"role": one.role, "content": one.content.encode("utf-8", "replace").decode()} for one in messages]
        async with contextlib.AsyncExitStack() as stack:
            response = await self._answered(stack, sent, wanted, patience)
            try:
                async with contextlib.aclosing(response.iter_bytes()) as parts:
                    yield parts
            except httpx2.HTTPError:
                raise Failed(f"{UNUSABLE}: it broke off.") from None

    async def _answered(
        self, stack: contextlib.AsyncExitStack, sent: list[dict[str, str]], wanted: dict[str, Any], patience: Patience
    ) -> Any:
        """The response with a good status; what passes is tried again as long as there is time."""
        attempt = 1
        while True:
            options = {name: value for name, value in wanted.items() if name not in self._not_taken}
            try:
                return await self._post(stack, sent, options, patience)
            except _NotTaken as refusal:
                self._not_taken.add(refusal.parameter)
            except Passing as failure:
                pause = pause_before_next(attempt, failure.hint)
                if attempt == ATTEMPTS or pause > min(LONGEST_PAUSE_SECONDS, patience.left):
                    raise
                attempt += 1
                await patience.sleep(pause)

    async def _post(
        self, stack: contextlib.AsyncExitStack, sent: list[dict[str, str]], options: dict[str, Any], patience: Patience
    ) -> Any:
        """One attempt; causes are cut off, because the body of a refusal may hold the prompt."""
        create: Any = self._client.chat.completions.with_streaming_response.create
        try:
            async with patience.wait():
                return await stack.enter_async_context(create(model=self.model, messages=sent, **options))
        except APIStatusError as error:
            raise _refusal_of(error, options) or failure_of(error, PROVIDER, model=MODEL, shape=MODEL) from None
        except APIConnectionError:
            raise unreachable(PROVIDER) from None
        except OpenAIError:
            raise Failed(f"The call to the {PROVIDER} failed.") from None


class Patience:
    """How long a call still waits for its provider; only time inside `wait` and `sleep` is counted."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.left = seconds

    @contextlib.asynccontextmanager
    async def wait(self) -> AsyncIterator[None]:
        """Count the time of the block; raises `DeadlineExceeded` when there is none left."""
        started = time.monotonic()
        try:
            async with asyncio.timeout(self.left):
                yield
        except TimeoutError:
            raise DeadlineExceeded(f"The {PROVIDER} did not answer within {self._seconds:.3g} s.") from None
        finally:
            self.left -= time.monotonic() - started

    async def sleep(self, seconds: float) -> None:
        """Spend some of it."""
        async with self.wait():
            await asyncio.sleep(seconds)

    async def next(self, parts: AsyncIterator[bytes]) -> bytes:
        """The part that comes next; none when there is no more."""
        async with self.wait():
            return await anext(parts, b"")


class _Filtered(Refused):
    """A filter before the model would not let the messages through."""


class _NotTaken(Refused):
    """The model does not take a parameter, or not this value of it."""

    def __init__(self, parameter: str) -> None:
        super().__init__(f"The {PROVIDER} does not take {parameter}.")
        self.parameter = parameter


def _refusal_of(error: APIStatusError, options: dict[str, Any]) -> Refused | None:
    """Refusals that are no failure: of a filter, and of a parameter that can be left out."""
    if error.status_code != 400:
        return None
    if error.code == "content_filter":
        return _Filtered(f"A filter of the {PROVIDER} refused.")
    for name in ("temperature", "response_format"):
        if name in options and (error.param == name or f"'{name}" in error.message):
            return _NotTaken(name)
    return None


async def _read_out(parts: AsyncIterator[bytes]) -> None:
    """Read what follows the end of a reply, for a moment."""
    with contextlib.suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(LAST_BYTES_SECONDS):
            async for _ in parts:
                pass
