"""A loader: one key in, one value out; keys asked in the same turn of the event loop become one batch."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

from retrieval.stage import Work

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Answer(Generic[V]):
    """The value of one key or its failure, once it is there; everybody who waits has a future of their own.

    One future shared behind shields, so that one who leaves takes nobody along, costs three times as much.
    """

    __slots__ = ("_error", "_value", "_waiting", "settled")

    def __init__(self) -> None:
        self.settled = False
        self._value: V | None = None
        self._error: BaseException | None = None
        self._waiting: list[asyncio.Future[None]] = []

    async def value(self) -> V | None:
        """Wait for the value; raises what its batch failed with."""
        if not self.settled:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        if self._error is not None:
            raise self._error
        return self._value

    def settle(self, value: V | None, error: BaseException | None = None) -> None:
        """Wake whoever waits."""
        self.settled, self._value, self._error = True, value, error
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()


class Loader(Generic[K, V]):
    """Loads values by key in batches and keeps them for the life of its owner; a key without a value gives None.

    A batch is what is asked for within some turns of the event loop.
    """

    def __init__(
        self, work: Work, load: Callable[[list[K]], Awaitable[Mapping[K, V]]], most: int = 1_000, turns: int = 1
    ) -> None:
        self._work = work
        self._load = load
        self._most = most
        self._turns = turns
        self._known: dict[K, Answer[V]] = {}
        self._waiting: list[tuple[K, Answer[V]]] = []

    async def one(self, key: K) -> V | None:
        """The value of one key."""
        return await self._ask(key).value()

    async def many(self, keys: Iterable[K]) -> list[V | None]:
        """The values of several keys, in their order."""
        asked = [self._ask(key) for key in keys]
        return [await answer.value() for answer in asked]

    def _ask(self, key: K) -> Answer[V]:
        answer = self._known.get(key)
        if answer is None:
            answer = self._known[key] = Answer()
            if not self._waiting:
                self._work.start(self._flush())
            self._waiting.append((key, answer))
        return answer

    async def _flush(self) -> None:
        for _ in range(self._turns):
            await asyncio.sleep(0)  # lets resolvers that are ready by then add their keys
        asked, self._waiting = self._waiting, []
        for start in range(0, len(asked), self._most):
            await self._load_batch(asked[start : start + self._most])

    async def _load_batch(self, asked: list[tuple[K, Answer[V]]]) -> None:
        try:
            values = await self._load([key for key, _ in asked])
        except BaseException as error:
            for _, answer in asked:
                answer.settle(None, error)
            if not isinstance(error, Exception):
                raise
            return
        for key, answer in asked:
            answer.settle(values.get(key))
