"""Lets the requests of one principal run one after the other while somebody else asks, so that they wait for each other only."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable
from time import monotonic

OTHERS_SECONDS = 1.0
"""Others ask when one of them has begun so short a time ago."""
YIELD_SECONDS = 0.1
"""So long the next request of one principal waits for nobody else to run; then it runs beside them."""
LONGEST_SECONDS = 0.5
"""A turn ends by itself: what takes longer waits for the database or a provider, and holds its next ones up no longer."""


class Queue:
    """The requests of one principal: those that have a turn, with when it began, and those that wait for one."""

    __slots__ = ("began", "turns", "waiting")

    def __init__(self) -> None:
        self.turns: dict[object, float] = {}
        self.waiting: deque[tuple[asyncio.Future[bool], object]] = deque()
        self.began = 0.0


class Turns:
    """The turns of a process. Whoever has no request running begins at once, and so does everyone who asks alone."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._running = 0
        self._latest: Queue | None = None
        self._previous: Queue | None = None
        self._waiting: OrderedDict[Queue, float] = OrderedDict()
        """Those with requests that wait, and since when the next of each does."""
        self._look: asyncio.TimerHandle | None = None

    async def take(self, queue: Queue, who: object) -> bool:
        """Wait for a turn and have it until `leave`; false when those who waited were sent away."""
        now = self._clock()
        if not queue.waiting and (not queue.turns or self._is_alone(queue, now)):
            self._begin(queue, who, now)
            return True
        turn: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        queue.waiting.append((turn, who))
        self._waiting.setdefault(queue, now)
        self._look_later()
        try:
            return await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                queue.waiting = deque(one for one in queue.waiting if one[0] is not turn)
            else:
                self.leave(queue, who)
            raise

    def leave(self, queue: Queue, who: object) -> None:
        """Give a turn back; leaving twice is harmless."""
        if queue.turns.pop(who, None) is not None:
            self._running -= 1
            if self._waiting:
                if queue in self._waiting:
                    self._waiting[queue] = self._clock()
                self._let_in()

    def send_away(self, queue: Queue) -> None:
        """Let nobody wait any longer: none of them will be served."""
        for turn, _ in queue.waiting:
            if not turn.done():
                turn.set_result(False)
        queue.waiting.clear()

    def _begin(self, queue: Queue, who: object, now: float) -> None:
        queue.turns[who] = queue.began = now
        self._running += 1
        if queue is not self._latest:
            self._previous, self._latest = self._latest, queue

    def _is_alone(self, queue: Queue, now: float) -> bool:
        other = self._previous if queue is self._latest else self._latest
        return other is None or now - other.began >= OTHERS_SECONDS

    def _let_in(self) -> None:
        """Begin what may: of each principal one, the one that waited longest first, or all when it is alone."""
        now = self._clock()
        for queue, since in list(self._waiting.items()):
            while queue.waiting and self._may_begin(queue, since, now):
                turn, who = queue.waiting.popleft()
                if not turn.done():
                    self._begin(queue, who, now)
                    turn.set_result(True)
                    self._waiting[queue] = now
                    self._waiting.move_to_end(queue)
            if not queue.waiting:
                del self._waiting[queue]

    def _may_begin(self, queue: Queue, since: float, now: float) -> bool:
        if self._is_alone(queue, now):
            return True
        return not queue.turns and (self._running == 0 or now - since >= YIELD_SECONDS)

    def _look_later(self) -> None:
        """Look again whether time has made room, as long as anybody waits."""
        if self._look is None:
            self._look = asyncio.get_running_loop().call_later(YIELD_SECONDS, self._look_now)

    def _look_now(self) -> None:
        self._look, now = None, self._clock()
        for queue in self._waiting:
            for who, began in list(queue.turns.items()):
                if now - began >= LONGEST_SECONDS:
                    del queue.turns[who]
                    self._running -= 1
        self._let_in()
        if self._waiting:
            self._look_later()
