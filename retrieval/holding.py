"""Says whether tokens still hold and what the rights epoch is by now, to all streams of the process by one statement at once."""

from __future__ import annotations

import asyncio
from contextvars import Context
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval.sql import statement

if TYPE_CHECKING:
    from retrieval.store import Store

NAME = "rights_epoch"


@dataclass(frozen=True, slots=True)
class _Asked:
    digest: bytes | None
    told: asyncio.Future[int | None]


class Holding:
    """Every answer is of a statement that began after it was asked for; those who ask meanwhile share the next one.

    So hundreds of streams that look before each event take one connection, and leave the others to who reads.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: list[_Asked] = []
        self._serving: asyncio.Task[None] | None = None

    async def epoch(self, digest: bytes | None) -> int | None:
        """The rights epoch by now; None when the token with this digest (None: no token) does not hold."""
        told: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self._asked.append(_Asked(digest, told))
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve(), context=Context())  # no request pays for what all share
        return await told

    async def _serve(self) -> None:
        while self._asked:
            asked, self._asked = self._asked, []
            try:
                epoch, holding = await self._look([one.digest for one in asked if one.digest is not None])
            except Exception as error:
                for one in asked:
                    if not one.told.done():
                        one.told.set_exception(error)
                continue
            for one in asked:
                if not one.told.done():
                    one.told.set_result(epoch if one.digest is None or one.digest in holding else None)

    async def _look(self, digests: list[bytes]) -> tuple[int, frozenset[bytes]]:
        seconds, started = self._store.tuning.statement_seconds, perf_counter()
        async with self._store.database.reading(seconds) as connection:
            row = await connection.fetchrow(statement(NAME), digests, True, timeout=seconds)
        self._store.observer.statement(NAME, perf_counter() - started)
        assert row is not None
        return row["epoch"], frozenset(row["holding"])
