"""A stage: an async method without arguments whose first await starts it and whose result stays for the request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar, overload

T = TypeVar("T")
U = TypeVar("U")
R = TypeVar("R", bound="HasWork")


@dataclass(slots=True)
class StageRecord:
    """What a stage did: who it needed, when it started (seconds of `perf_counter`), how long it took."""

    name: str
    needs: list[str] = field(default_factory=list)
    started: float = 0.0
    seconds: float | None = None
    failed: bool = False


class Work:
    """The tasks of one request; closing it cancels what still runs and waits until it is gone."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[Any]] = set()
        self.records: list[StageRecord] = []

    def start(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Run a coroutine as part of the request."""
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self._finish)
        return task

    def _finish(self, task: asyncio.Task[Any]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            task.exception()  # seen here, so that a failure nobody waits for is no warning

    async def close(self) -> None:
        """Cancel what is left and wait for it."""
        left = list(self.tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


class HasWork(Protocol):
    """What a class of stages must offer."""

    work: Work


_running: ContextVar[Running[Any] | None] = ContextVar("running stage", default=None)


class Running(Generic[T]):
    """A stage of one run: a task that was started, joined by everyone who awaits it."""

    def __init__(self, work: Work, name: str, method: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self.record = StageRecord(name)
        self.needs: list[Running[Any]] = []
        work.records.append(self.record)
        self._waiting: list[asyncio.Future[None]] = []
        self._task = work.start(self._run(method))
        self._task.add_done_callback(self._wake)  # also one that was cancelled before it began

    async def _run(self, method: Callable[[], Coroutine[Any, Any, T]]) -> T:
        _running.set(self)
        self.record.started = perf_counter()
        try:
            return await method()
        except BaseException:
            self.record.failed = True
            raise
        finally:
            self.record.seconds = perf_counter() - self.record.started
            _running.set(None)  # the task keeps its context, and would hold the stage that holds the task
            self._wake()  # they run after this last step of the task, two turns of the loop before its callbacks could wake them

    def __await__(self) -> Generator[Any, None, T]:
        waiting = _running.get()
        if waiting is not None:
            if self.reaches(waiting):
                raise RuntimeError(f"stage {waiting.record.name} needs itself through {self.record.name}")
            waiting.needs.append(self)
            waiting.record.needs.append(self.record.name)
        return self._settled().__await__()

    async def _settled(self) -> T:
        """The value of what others wait for too; a future for each, so that one who is cancelled does not stop the work.

        One task shared behind shields costs more, and two more turns of the loop.
        """
        if not self._task.done():
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            await waiter
        return self._task.result()

    def _wake(self, task: asyncio.Task[T] | None = None) -> None:
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
        self._waiting.clear()

    def reaches(self, other: Running[Any]) -> bool:
        """True when `other` is this stage or one that it waits for."""
        return self is other or any(need.reaches(other) for need in self.needs if not need.done)

    @property
    def value(self) -> T | None:
        """The value when it is there; None while the stage runs and after a failure."""
        ended = self._task.done() and not self._task.cancelled() and self._task.exception() is None
        return self._task.result() if ended else None

    @property
    def failure(self) -> BaseException | None:
        """What broke the stage; None while it runs, when its value is there, and when it was cancelled."""
        return self._task.exception() if self._task.done() and not self._task.cancelled() else None

    @property
    def done(self) -> bool:
        """True when the value or the failure is there."""
        return self._task.done()


async def both(first: Awaitable[T], second: Awaitable[U]) -> tuple[T, U]:
    """The values of two stages; naming them has started them, so they run side by side."""
    return await first, await second


async def ended(stage: Awaitable[T]) -> T | None:
    """The value of a stage; None when it failed, which is told by whoever needs it."""
    try:
        return await stage
    except Exception:
        return None


class Stage(Generic[R, T]):
    """The descriptor behind `@stage`."""

    def __init__(self, method: Callable[[R], Coroutine[Any, Any, T]]) -> None:
        self.method = method
        self.name = method.__name__
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, run: None, owner: type[R]) -> Stage[R, T]: ...
    @overload
    def __get__(self, run: R, owner: type[R]) -> Awaitable[T]: ...
    def __get__(self, run: R | None, owner: type[R]) -> Stage[R, T] | Awaitable[T]:
        if run is None:
            return self
        running: Running[T] | None = run.__dict__.get(self.name)
        if running is None:
            running = run.__dict__[self.name] = Running(run.work, self.name, lambda: self.method(run))
        return running


def stage(method: Callable[[R], Coroutine[Any, Any, T]]) -> Stage[R, T]:
    """Mark a method as a stage: `await run.name` starts it once; value or failure stays for the request."""
    return Stage(method)
