"""Namespaces that exist for one evaluation and go with everything in them, however it ends."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from retrieval.administration.namespaces import Namespace, create_namespace, delete_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database


@asynccontextmanager
async def scratch_namespaces(database: Database, names: Sequence[str]) -> AsyncIterator[dict[str, Namespace]]:
    """New, empty namespaces that only administrators can read, by the names they are asked for under."""
    caller, run = local_administrator(), f"eval-{secrets.token_hex(6)}"
    made: dict[str, Namespace] = {}
    try:
        for place, name in enumerate(names):
            made[name] = await create_namespace(
                database, caller, f"{run}:{place}", f"An evaluation that is running: {name}"[:200]
            )
        yield made
    finally:
        # In a task of its own, so that a second Ctrl+C does not cut it short.
        await asyncio.shield(asyncio.create_task(delete_all(database, [namespace.name for namespace in made.values()])))


async def delete_all(database: Database, names: Sequence[str]) -> None:
    """Delete namespaces with everything in them."""
    for name in names:
        await delete_namespace(database, local_administrator(), name, name)
