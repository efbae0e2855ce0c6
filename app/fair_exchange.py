"""Has the processes of a deployment count points together, to the second, without a statement more in any request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from time import monotonic
from uuid import UUID, uuid4

import structlog

from app.fair_use import FairUse, digest_of
from retrieval.database import Database
from retrieval.points.exchange import Used, exchange_points, forget_points

log = structlog.stdlib.get_logger(__name__)

PAUSE_SECONDS = 1.0
LATE_SECONDS = 5.0
"""Others may have taken so long to commit what they say was added before."""
KEPT_SECONDS = 130.0
"""After so long without a request nothing is left to be heard, and it is taken away."""


class Exchange:
    """What one process tells and has heard. While the database is away or takes no writes, each process goes on by itself."""

    def __init__(self, fair: FairUse, database: Database, clock: Callable[[], float] = monotonic) -> None:
        self.fair = fair
        self.process: UUID = uuid4()
        self._database = database
        self._heard: dict[tuple[UUID, bytes, datetime], tuple[int, float]] = {}
        """Points, and when they were heard of."""
        self._silent_since: float | None = None
        """Since when nothing could be told."""
        self._clock = clock
        self._last = self._tidied = clock()
        self._is_left = False
        fair.used = {}

    async def run(self) -> None:
        """Exchange once a second, for as long as the process lives."""
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            try:
                await self.once()
            except Exception as error:  # what was not told is told with the next
                log.debug("points_not_exchanged", reason=type(error).__name__)

    async def once(self) -> None:
        """Tell and hear, if anything was used here; take away what is old, now and then and when all is quiet."""
        now, used = self._clock(), dict(self.fair.used or {})
        if used:
            if self._silent_since is None:
                self._silent_since = now
            told = {digest_of(name): self._not_back(points, now - self._silent_since) for name, points in used.items()}
            heard = await exchange_points(self._database, self.process, told, min(KEPT_SECONDS, now - self._last + LATE_SECONDS))
            self._last, self._silent_since, self._is_left = now, None, True
            self.fair.told_of(used)
            self._hear(heard, now)
        if self._is_left and now - self._tidied >= KEPT_SECONDS:
            await forget_points(self._database)
            self._tidied, self._is_left = now, bool(used)

    def _not_back(self, points: int, seconds: float) -> int:
        """What is missing of points that were used over so long a time in which nobody heard of it: most have come back since."""
        return max(0, points - int(seconds * self.fair.limits.points / 60))

    def _hear(self, heard: list[Used], now: float) -> None:
        """Take from each share that is known here what was used elsewhere since it was last heard of."""
        shares = {digest_of(name): share for name, share in self.fair.shares.items()} if heard else {}
        for one in heard:
            share, key = shares.get(one.share), (one.process, one.share, one.minute)
            if share is None:
                continue
            known, _ = self._heard.get(key, (one.points if one.is_past else 0, now))
            self._heard[key] = one.points, now
            share.used_elsewhere(one.points - known, self.fair.clock())
        # By our own clock: that of the database may be set back.
        self._heard = {key: known for key, known in self._heard.items() if now - known[1] < KEPT_SECONDS}


@asynccontextmanager
async def exchanging(fair: FairUse, database: Database) -> AsyncIterator[None]:
    """Exchange until the block ends; without a budget there is nothing to exchange."""
    if not fair.limits.points:
        yield
        return
    running = asyncio.create_task(Exchange(fair, database).run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
