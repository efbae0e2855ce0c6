"""Runs what a server does beside answering: embedding what waits, refreshing statistics."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from retrieval.ingest.worker import Worker
from retrieval.store import Store


@asynccontextmanager
async def background_work(store: Store) -> AsyncIterator[None]:
    """A worker for as long as the block lasts; what it has not finished is left in the queue."""
    stop = asyncio.Event()
    worker = asyncio.create_task(Worker(store).run(stop))
    try:
        yield
    finally:
        stop.set()
        try:
            await asyncio.wait_for(worker, 10)
        except TimeoutError:
            worker.cancel()
