"""A loader: one key in, one value out; keys asked in the same turn of the event loop become one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from retrieval.stage import Work, settled

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Loader(Generic[K, V]):
    """Loads values by key in batches and keeps them for the life of its owner; a key without a value gives None."""

    def __init__(self, work: Work, load: Callable[[list[K]], Awaitable[Mapping[K, V]]], most: int = 1_000) -> None:
        self._work = work
        self._load = load
        self._most = most
        self._known: dict[K, asyncio.Future[V | None]] = {}
        self._waiting: list[K] = []

    async def one(self, key: K) -> V | None:
        """The value of one key."""
        return await settled(self._ask(key))

    async def many(self, keys: Iterable[K]) -> list[V | None]:
        """The values of several keys, in their order."""
        asked = [self._ask(key) for key in keys]
        return [await settled(future) for future in asked]

    def _ask(self, key: K) -> asyncio.Future[V | None]:
        future = self._known.get(key)
        if future is None:
            future = self._known[key] = asyncio.get_running_loop().create_future()
            if not self._waiting:
                self._work.start(self._flush())
            self._waiting.append(key)
        return future

    async def _flush(self) -> None:
        await asyncio.sleep(0)  # lets resolvers that are ready in this turn add their keys
        keys, self._waiting = self._waiting, []
        for start in range(0, len(keys), self._most):
            await self._load_batch(keys[start : start + self._most])

    async def _load_batch(self, keys: list[K]) -> None:
        try:
            values = await self._load(keys)
        except BaseException as error:
            for key in keys:
                self._settle(key, error=error)
            if not isinstance(error, Exception):
                raise
            return
        for key in keys:
            self._settle(key, value=values.get(key))

    def _settle(self, key: K, value: V | None = None, error: BaseException | None = None) -> None:
        future = self._known[key]
        if future.done():
            return
        if error is None:
            future.set_result(value)
        elif isinstance(error, asyncio.CancelledError):
            future.cancel()
        else:
            future.set_exception(error)
            future.exception()  # seen here: a caller that left must not leave a warning
