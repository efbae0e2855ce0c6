"""Refreshes the counts that word search weighs by: words over unrestricted fragments, and sizes of permission sets."""

from __future__ import annotations

from retrieval.database import Database
from retrieval.ingest.sql import statement
from retrieval.retrying import retried


async def refresh_statistics(database: Database, ns: int) -> bool:
    """Count a namespace anew in one transaction; readers see the counts before or after. False when it is gone.

    Only differences are written. Runs one at a time in a namespace, whoever calls.
    """

    async def write() -> bool:
        async with database.writing() as connection:
            await connection.execute("set local statement_timeout = 0")
            await connection.execute(statement("take_due"), ns)
            if await connection.fetchval(statement("lock_statistics"), ns) is None:
                return False
            await connection.execute(statement("refresh_words"), ns)
            await connection.execute(statement("refresh_scripts"), ns)
            await connection.execute(statement("refresh_fragments"), ns)
            return True

    return await retried(write)


async def due_namespaces(database: Database) -> list[int]:
    """The namespaces whose counts are out of date, longest waiting first."""
    async with database.reading() as connection:
        return [row["ns"] for row in await connection.fetch(statement("due_namespaces"))]
