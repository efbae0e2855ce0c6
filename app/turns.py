"""Lets the requests of one principal run one after the other while somebody else asks, so that they wait for each other only."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic

BESIDE_OTHERS = 1
"""Turns of one principal at once while others ask: all of them share one thread, and as much of the database as is theirs."""
OTHERS_SECONDS = 1.0
"""Others ask when one of them has begun so short a time ago."""
LONGEST_SECONDS = 0.5
"""A turn ends by itself: what takes longer waits for the database or a provider, and holds its next ones up no longer."""


class Queue:
    """The requests of one principal: those that have a turn, with when it began, and those that wait for one."""

    __slots__ = ("began", "look", "turns", "waiting")

    def __init__(self) -> None:
        self.turns: dict[object, float] = {}
        self.waiting: deque[tuple[asyncio.Future[None], object]] = deque()
        self.began = 0.0
        self.look: asyncio.TimerHandle | None = None


class Turns:
    """The turns of a process; as long as one principal asks alone, all its requests run at once."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._latest: Queue | None = None
        self._previous: Queue | None = None

    async def take(self, queue: Queue, who: object) -> None:
        """Wait for a turn and have it until `leave`."""
        now = self._clock()
        if not queue.waiting and self._has_room(queue, now):
            self._begin(queue, who, now)
            return
        turn = asyncio.get_running_loop().create_future()
        queue.waiting.append((turn, who))
        self._look_later(queue)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.waiting = deque(one for one in queue.waiting if one[0] is not turn)
            else:
                self.leave(queue, who)
            raise

    def leave(self, queue: Queue, who: object) -> None:
        """Give the turn to the next; leaving twice is harmless."""
        if queue.turns.pop(who, None) is not None and queue.waiting:
            self._let_in(queue)

    def _begin(self, queue: Queue, who: object, now: float) -> None:
        queue.turns[who] = queue.began = now
        if queue is not self._latest:
            self._previous, self._latest = self._latest, queue

    def _has_room(self, queue: Queue, now: float) -> bool:
        other = self._previous if queue is self._latest else self._latest
        return len(queue.turns) < BESIDE_OTHERS or other is None or now - other.began >= OTHERS_SECONDS

    def _let_in(self, queue: Queue) -> None:
        now = self._clock()
        for who, began in list(queue.turns.items()):
            if now - began >= LONGEST_SECONDS:
                del queue.turns[who]
        while queue.waiting and self._has_room(queue, now):
            turn, who = queue.waiting.popleft()
            if not turn.done():
                self._begin(queue, who, now)
                turn.set_result(None)
        self._look_later(queue)

    def _look_later(self, queue: Queue) -> None:
        """Let the next in when a turn has taken too long."""
        if queue.look is not None:
            queue.look.cancel()
            queue.look = None
        if queue.waiting:
            queue.look = asyncio.get_running_loop().call_later(LONGEST_SECONDS, self._let_in, queue)
