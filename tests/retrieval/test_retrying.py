"""Which writes are tried again, and how often."""

from __future__ import annotations

import asyncpg
import pytest

from retrieval.errors import Conflict
from retrieval.retrying import retried
from retrieval.tuning import WRITE_RETRIES


class Failing:
    """A write that fails some times before it succeeds."""

    def __init__(self, times: int, error: Exception, cause: Exception | None = None) -> None:
        self.left, self.error, self.cause, self.tries = times, error, cause, 0

    async def __call__(self) -> str:
        self.tries += 1
        if self.left:
            self.left -= 1
            raise self.error from self.cause
        return "done"


async def test_a_write_that_lost_is_tried_again() -> None:
    for error, cause in (
        (Conflict("lost"), asyncpg.DeadlockDetectedError("deadlock")),
        (Conflict("lost"), asyncpg.SerializationError("serialization")),
        (asyncpg.ForeignKeyViolationError("gone"), None),
        (asyncpg.UniqueViolationError("there"), None),
    ):
        assert await retried(Failing(WRITE_RETRIES, error, cause)) == "done"


async def test_a_write_that_loses_every_time_is_a_conflict() -> None:
    for write in (
        Failing(9, asyncpg.UniqueViolationError("there")),
        Failing(9, Conflict("lost"), asyncpg.DeadlockDetectedError("x")),
    ):
        with pytest.raises(Conflict):
            await retried(write)
        assert write.tries == WRITE_RETRIES + 1


async def test_a_conflict_that_the_domain_means_is_not_tried_again() -> None:
    write = Failing(1, Conflict("The name is taken."))
    with pytest.raises(Conflict, match="taken"):
        await retried(write)
    assert write.tries == 1
