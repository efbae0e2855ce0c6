"""Works in the background: embeds what waits, refreshes statistics that are due, keeps the index over vectors, tidies up."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import perf_counter
from typing import Any

import asyncpg

from retrieval.auditing.listing import prune_audit
from retrieval.errors import ContextQLError, DatabaseUnavailable
from retrieval.ingest.leases import holding, take_lease
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.reembedding import finish_after_another
from retrieval.ingest.sql import statement
from retrieval.ingest.statistics import due_namespaces, refresh_statistics
from retrieval.ingest.vector_index import tend_index
from retrieval.ingest.write import connect_links
from retrieval.store import Store
from retrieval.tracing.storing import prune_traces
from retrieval.tuning import (
    FORMER_VECTOR_SECONDS,
    FORMER_VECTORS_AT_ONCE,
    INDEX_POLLS,
    LISTEN_AGAIN_SECONDS,
    POLL_SECONDS,
    PRUNE_POLLS,
    STATISTICS_SHARE,
    TIDY_POLLS,
)

log = logging.getLogger(__name__)

CHANNEL = "contextql_queue"
STATISTICS = "statistics"
TRACES = "traces"


class Worker:
    """One of any number of workers, in the server or a process of its own; the tables are all that they share."""

    def __init__(self, store: Store, poll_seconds: float = POLL_SECONDS) -> None:
        self.store = store
        self.holder = uuid.uuid4().hex
        self.poll_seconds = poll_seconds
        self.hint = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set; what is under way is given back to the queue. A database that is away is waited for."""
        tasks = [
            asyncio.create_task(coroutine)
            for coroutine in (
                self.repeat(self.embed),
                self.repeat(self.refresh_due),
                self.repeat(self.tend),
                self.repeat(self.tidy),
                self.repeat(self.prune),
                self.listen(),
            )
        ]
        try:
            await stop.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def repeat(self, step: Callable[[], Awaitable[float]]) -> None:
        """Run a step again and again, with the pauses it asks for; failures are logged once until it succeeds again."""
        failing = False
        while True:
            try:
                pause, failing = await step(), False
            except Exception as error:
                pause = 5 * self.poll_seconds
                if not failing and isinstance(error, ContextQLError):
                    log.warning("worker_waits", extra={"reason": str(error)})
                elif not failing:
                    log.exception("worker_waits")
                failing = True
            if pause:
                await self.wait(pause)

    async def wait(self, seconds: float) -> None:
        """Sleep, or less when a hint comes."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.hint.wait(), seconds)
        self.hint.clear()

    async def embed(self) -> float:
        """Embed one batch; gives the seconds to wait before the next."""
        sizes = [one.batch_size for one in (self.store.embedder, self.store.next_embedder) if one is not None]
        if not sizes or not await embed_pending(self.store, min(sizes)):
            return self.poll_seconds
        return 0.0

    async def refresh_due(self) -> float:
        """Refresh the statistics that are due unless another process does; gives the seconds to wait before the next time.

        A namespace that fails is told and stays due; it keeps no other from its turn.
        """
        database, started = self.store.database, perf_counter()
        due = await due_namespaces(database)
        if not due or not await take_lease(database, STATISTICS, self.holder):
            return self.poll_seconds
        failed: Exception | None = None
        async with holding(database, STATISTICS, self.holder):
            for ns in due:
                try:
                    await self.refresh(ns)
                except DatabaseUnavailable:
                    raise
                except Exception as error:
                    failed = error
        if failed is not None:
            raise failed
        return max(self.poll_seconds, (perf_counter() - started) / STATISTICS_SHARE)

    async def refresh(self, ns: int) -> None:
        """Count a namespace anew, and connect the links that a writer may have left."""
        await connect_links(self.store.database, ns)
        await refresh_statistics(self.store.database, ns)

    async def tend(self) -> float:
        """Build the index over vectors if it is due; gives the seconds to wait before the next look."""
        await tend_index(self.store, self.holder)
        return INDEX_POLLS * self.poll_seconds

    async def tidy(self) -> float:
        """Take away what others have left: vectors of former texts, and those of the model from before a switch."""
        database = self.store.database
        async with database.writing() as connection:
            await connection.execute(statement("drop_former_vectors"), FORMER_VECTOR_SECONDS, FORMER_VECTORS_AT_ONCE)
        await finish_after_another(database, self.holder)
        return TIDY_POLLS * self.poll_seconds

    async def prune(self) -> float:
        """Take away what is too old of traces and the audit, unless another process does; gives the seconds to the next time."""
        database = self.store.database
        if await take_lease(database, TRACES, self.holder):
            async with holding(database, TRACES, self.holder):
                await prune_traces(database, self.store.tuning.trace_days)
                await prune_audit(database, self.store.tuning.audit_days)
        return PRUNE_POLLS * self.poll_seconds

    async def listen(self) -> None:
        """Turn notifications into hints; without them the queue is looked at every second all the same."""
        while True:
            closed = asyncio.Event()
            with suppress(OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError):
                connection = await asyncpg.connect(self.store.database.direct_url, timeout=10)
                try:
                    connection.add_termination_listener(lambda _, closed=closed: closed.set())
                    await connection.add_listener(CHANNEL, self.on_hint)
                    await closed.wait()
                finally:
                    connection.terminate()
            await asyncio.sleep(LISTEN_AGAIN_SECONDS)

    def on_hint(self, *_: Any) -> None:
        """A writer says that something waits."""
        self.hint.set()
