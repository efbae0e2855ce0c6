"""Namespaces that exist for one evaluation and go with everything in them, however it ends."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

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


@contextmanager
def ended_by_sigterm() -> Iterator[None]:
    """SIGTERM cancels the task that is running, as Ctrl+C does, so that what it cleans up at its end is cleaned up."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    try:
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    except (NotImplementedError, RuntimeError, ValueError):  # not the main thread, or no Unix
        yield
        return
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
