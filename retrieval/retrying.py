"""Tries a write again when another one came first: deadlocks, and rows that went or came in between."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

import asyncpg

from retrieval.errors import Conflict
from retrieval.spending import uncounted
from retrieval.tuning import WRITE_RETRIES, WRITE_RETRY_SECONDS

T = TypeVar("T")

LOST = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
"""What the database raises for a transaction that lost to another one."""
OVERTAKEN = (asyncpg.ForeignKeyViolationError, asyncpg.UniqueViolationError)
"""What it raises when a row was deleted or made by another transaction after this one looked."""


class Overtaken(Conflict):
    """Another transaction came in between, and this one may well come through when it is tried again."""


async def retried(write: Callable[[], Awaitable[T]]) -> T:
    """The result of `write`, a whole transaction that may run several times; raises `Conflict` when it loses every time."""
    for attempt in range(WRITE_RETRIES + 1):
        try:
            if attempt:
                with uncounted():
                    return await write()
            return await write()
        except Conflict as error:
            lost = isinstance(error, Overtaken) or isinstance(error.__cause__, LOST)
            if attempt == WRITE_RETRIES or not lost:
                raise
        except OVERTAKEN as error:
            if attempt == WRITE_RETRIES:
                raise Conflict("Other writes came first each time; send this one again.") from error
        await asyncio.sleep(WRITE_RETRY_SECONDS * 2**attempt * random.uniform(1, 2))
    raise AssertionError("unreachable")
