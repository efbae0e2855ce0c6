"""Keeps the edges that walks read in step with facts, places and permission sets; always the last thing of a transaction.

The edges of a namespace are written under a lock that is held to the end of the transaction. It is taken last, so that nobody
who holds it waits for anything, and whoever reads a permission set that is being changed is followed by the one who changes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from retrieval.database import Connection
from retrieval.ingest.sql import statement


async def refresh_edges(connection: Connection, ns: int, facts: Iterable[int]) -> None:
    """Make the edges of facts anew that were written, changed, retracted or deleted, or whose places were."""
    changed = sorted(set(facts))
    if changed:
        await connection.execute(statement("refresh_edges"), ns, changed)


async def refresh_edges_around(connection: Connection, ns: int, entity_id: int) -> None:
    """Make the edges anew of all facts that an entity takes part in, since its permission set changed."""
    await connection.execute(statement("refresh_edges_around"), ns, entity_id)


async def facts_once_around(connection: Connection, ns: int, entities: Sequence[int]) -> list[int]:
    """The facts of which a row of before led to or from entities: who deletes these makes the edges of those anew."""
    return [row["fact_id"] for row in await connection.fetch(statement("facts_once_around"), ns, entities)]
