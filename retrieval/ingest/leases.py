"""Leases let one process at a time do a piece of work; one that dies loses its lease when the time is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from retrieval.database import Database
from retrieval.errors import ContextQLError
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


@asynccontextmanager
async def holding(database: Database, name: str, holder: str, seconds: float = LEASE_SECONDS) -> AsyncIterator[None]:
    """Keep a lease that was taken for as long as the block runs, however long that is, and give it back.

    While the database is away it lapses: what is done under a lease must stay right when two do it.
    """
    renewing = asyncio.create_task(renew(database, name, holder, seconds))
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        with suppress(ContextQLError):
            await drop_lease(database, name, holder)


async def renew(database: Database, name: str, holder: str, seconds: float) -> None:
    """Renew a lease again and again, well before it ends."""
    while True:
        await asyncio.sleep(seconds / 4)
        with suppress(ContextQLError):
            await take_lease(database, name, holder, seconds)
