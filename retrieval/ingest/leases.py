"""Leases let one process at a time do a piece of work; one that dies loses its lease when the time is over."""

from __future__ import annotations

from retrieval.database import Database
from retrieval.ingest.sql import statement
from retrieval.tuning import LEASE_SECONDS


async def take_lease(database: Database, name: str, holder: str, seconds: float = LEASE_SECONDS) -> bool:
    """Take or renew a lease; false when another process holds it."""
    async with database.writing() as connection:
        return await connection.fetchval(statement("take_lease"), name, holder, seconds) is not None


async def drop_lease(database: Database, name: str, holder: str) -> None:
    """Give a lease back."""
    async with database.writing() as connection:
        await connection.execute(statement("drop_lease"), name, holder)
