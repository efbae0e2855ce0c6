"""Tells other server processes what callers used here, and hears what they used there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from retrieval.database import Database
from retrieval.points.sql import statement


@dataclass(frozen=True, slots=True)
class Used:
    """The points of one share in one minute by one process, so far."""

    process: UUID
    share: bytes
    minute: datetime
    points: int
    is_past: bool
    """Whether another minute has begun since."""


async def exchange_points(database: Database, process: UUID, used: Mapping[bytes, int], seconds: float) -> list[Used]:
    """Add points by the digests of shares; gives what others added to in so many seconds."""
    async with database.writing() as connection:
        rows = await connection.fetch(statement("exchange_points"), process, list(used), list(used.values()), seconds)
    return [Used(*row) for row in rows]


async def forget_points(database: Database) -> None:
    """Take away what was used more than a minute or two ago."""
    async with database.writing() as connection:
        await connection.execute(statement("forget_points"))
