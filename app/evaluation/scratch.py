"""A namespace that exists for one evaluation and goes with everything in it, however the evaluation ends."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from retrieval.administration.namespaces import Namespace, create_namespace, delete_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database


@asynccontextmanager
async def scratch_namespace(database: Database) -> AsyncIterator[Namespace]:
    """A new, empty namespace that only administrators can read."""
    caller = local_administrator()
    namespace = await create_namespace(database, caller, f"eval-{secrets.token_hex(6)}", "An evaluation that is running")
    try:
        yield namespace
    finally:
        # In a task of its own, so that a second Ctrl+C does not cut it short.
        await asyncio.shield(asyncio.create_task(delete_namespace(database, caller, namespace.name, namespace.name)))


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
