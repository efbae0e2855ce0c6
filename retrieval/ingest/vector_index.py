"""Builds the index over vectors once there are many, after a load and not during it, and builds it again when it is broken.

Below `Tuning.exact_most` visible fragments all vectors are compared, so a small base needs no index, and filling one row by row
takes several times as long as building it over what is there (docs/measurements.md). While it is missing or being built, every
search compares all vectors: right, and slower the more there are, which a metric and `contextql doctor` tell.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import perf_counter

import asyncpg

from retrieval.database import Connection, Database, translated
from retrieval.ingest.leases import holding, take_lease
from retrieval.ingest.sql import statement
from retrieval.store import Store
from retrieval.tuning import (
    BYTES_PER_INDEXED_VECTOR,
    INDEX_DROP_FROM,
    INDEX_DROP_RATIO,
    INDEX_WAIT_SECONDS,
    INDEX_WAITING_SHARE,
)

log = logging.getLogger(__name__)
LEASE = "vector_index"
NO_ROOM = (asyncpg.DiskFullError, asyncpg.OutOfMemoryError)
"""What a parallel build raises where shared memory is small, as in a container."""

INDEX = "using hnsw (embedding halfvec_cosine_ops) with (m = 24, ef_construction = 256)"
"""With 128, five questions in 200 never entered the right cluster of 200,000 vectors and found none of theirs."""
CREATE = {
    "fragment_vector": f"create index concurrently fragment_vector_near on fragment_vector {INDEX}",
    "fragment_vector_next": f"create index concurrently fragment_vector_next_near on fragment_vector_next {INDEX}",
}
DROP = {
    "fragment_vector": "drop index concurrently if exists fragment_vector_near",
    "fragment_vector_next": "drop index concurrently if exists fragment_vector_next_near",
}
ANALYZE = {"fragment_vector": "analyze fragment_vector", "fragment_vector_next": "analyze fragment_vector_next"}
"""The two tables that may have one, each with its statements; `concurrently` lets reading and writing go on."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """An index over vectors as it is found: about how many vectors, how many wait to be made, seconds since it is due."""

    vectors: int
    waiting: int
    present: bool
    valid: bool
    building: bool
    due_seconds: float | None


async def index_state(connection: Connection, most: int) -> IndexState | None:
    """How the index stands; vectors are counted up to `most`, beyond that as the planner takes them. None without vectors."""
    if not await connection.fetchval("select to_regclass('fragment_vector') is not null"):
        return None
    row = await connection.fetchrow(statement("index_state"), most)
    return IndexState(row["vectors"], row["waiting"], row["present"], row["valid"], row["building"], row["due_seconds"])


def should_build(state: IndexState, index_from: int) -> bool:
    """Whether it is time: there are many vectors and few are still to come, or it has been due for too long to wait."""
    if state.vectors < index_from or state.valid or state.building:
        return False
    calm = state.waiting <= state.vectors * INDEX_WAITING_SHARE
    return calm or (state.due_seconds or 0) > INDEX_WAIT_SECONDS


def should_drop(state: IndexState, index_from: int, exact_most: int) -> bool:
    """Whether a load is coming that dwarfs what is there, while nobody reads through the index yet: it is built after it.

    So is one that a crash left half built where there is no need of it.
    """
    if not state.present or state.building or state.vectors > exact_most:
        return False
    if not state.valid and state.vectors < index_from:
        return True
    return state.waiting > max(INDEX_DROP_FROM, INDEX_DROP_RATIO * state.vectors)


async def tend_index(store: Store, holder: str, *, load_is_over: bool = False) -> bool:
    """Build or drop the index if it is time, unless another process does; true when something was done.

    `load_is_over` builds it whatever still waits. A half-built one that a crash left behind is taken away first.
    """
    database, tuning = store.database, store.tuning
    async with database.reading() as connection:
        state = await index_state(connection, tuning.exact_most + 1)
    if state is None:
        return False
    slow = state.vectors > tuning.exact_most and not state.valid
    store.observer.unindexed(state.vectors if slow else 0)
    due = state.vectors >= tuning.index_from and not state.valid
    if due != (state.due_seconds is not None):
        await note_due(database, due)
    build = should_build(state, tuning.index_from) or (load_is_over and due and not state.building)
    if not build and not should_drop(state, tuning.index_from, tuning.exact_most):
        return False
    if not await take_lease(database, LEASE, holder):
        return False
    async with holding(database, LEASE, holder):
        if build:
            await build_index(database)
            store.observer.unindexed(0)
        else:
            async with own_connection(database) as connection:
                await connection.execute(DROP["fragment_vector"])
    return True


async def note_due(database: Database, due: bool) -> None:
    """Remember since when the index is due, so that no load puts it off for ever; every process reads the same."""
    async with database.writing() as connection:
        await connection.execute(statement("note_index_due"), due)


async def build_index(database: Database, table: str = "fragment_vector") -> None:
    """Build the index of a table while it is read and written, in place of a broken one; does nothing when it is there."""
    async with own_connection(database) as connection:
        if await connection.fetchval(statement("index_is_valid"), f"{table}_near"):
            return
        await connection.execute(DROP[table])
        await connection.execute(ANALYZE[table])
        await connection.fetchval(statement("give_memory"), table, BYTES_PER_INDEXED_VECTOR)
        started = perf_counter()
        try:
            await connection.execute(CREATE[table])
        except NO_ROOM:
            await connection.execute(DROP[table])
            await connection.execute("set max_parallel_maintenance_workers = 0")
            await connection.execute(CREATE[table])
        log.info("vector_index_built", extra={"table": table, "seconds": round(perf_counter() - started, 1)})


@asynccontextmanager
async def own_connection(database: Database) -> AsyncIterator[Connection]:
    """A connection past any pooler, for work that may take long and is in no transaction."""
    with translated():
        connection = await asyncpg.connect(database.direct_url, timeout=10)
        try:
            await connection.execute("set statement_timeout = 0")
            yield connection
        finally:
            connection.terminate()
