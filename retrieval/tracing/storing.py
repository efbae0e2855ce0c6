"""Stores traces beside the answer, never in its way: what takes too long, or cannot be stored, is left."""

from __future__ import annotations

import asyncio
import unicodedata
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from retrieval.compilation.item import Item, ItemKind
from retrieval.database import Connection, Database, json_text
from retrieval.store import Store
from retrieval.tracing.plain import plain_of, record_of
from retrieval.tracing.record import TraceRecord, mark_of_key
from retrieval.tracing.sql import statement
from retrieval.tuning import TRACES_AT_ONCE

_left: set[asyncio.Task[Any]] = set()
"""What was given up and still has to let go of its connection."""


async def store_trace(store: Store, record: TraceRecord, since: str | None) -> bool:
    """Store a trace within the time that it has; false when it was not: too slow, no writes, no connection, an erasure.

    `since` is the snapshot in which its request began: what was erased later may stand in it, and nothing is left to find it by.
    """
    task = asyncio.create_task(insert(store, record, since))
    _left.add(task)
    task.add_done_callback(ended)
    try:
        await asyncio.wait({task}, timeout=store.tuning.trace_seconds)
    except asyncio.CancelledError:  # nobody waits for the answer any more, so the connection is given back first
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        raise
    if task.done():
        return not task.cancelled() and task.exception() is None and task.result()
    task.cancel()
    return False


def ended(task: asyncio.Task[Any]) -> None:
    """Let go of what was waited for; a failure is seen here, since it may come when nobody waits."""
    _left.discard(task)
    if not task.cancelled():
        task.exception()


async def insert(store: Store, record: TraceRecord, since: str | None) -> bool:
    """Write the row, in a connection of its own, unless what it names may have been erased; true when it is there."""
    started = perf_counter()
    body = json_text(plain_of(record))
    owner = (None, record.issuer, record.made_by) if record.issuer is not None else (record.principal_id, None, None)
    values = (record.trace_id, owner[0], list(record.namespaces), record.marks(), body, *owner[1:], since)
    async with store.database.writing(store.tuning.trace_seconds) as connection:
        await connection.execute(statement("keep_erasures_out"), list(record.namespaces))
        stored = taken(await connection.execute(statement("store_trace"), *values))
    store.observer.statement("store_trace", perf_counter() - started)
    return stored > 0


async def prune_traces(database: Database, days: int) -> int:
    """Take away traces that are too old, batch by batch; gives how many."""
    gone = 0
    while True:
        async with database.writing() as connection:
            batch = taken(await connection.execute(statement("prune_traces"), days, TRACES_AT_ONCE))
        gone += batch
        if batch < TRACES_AT_ONCE:
            return gone


async def drop_traces(connection: Connection, ns: int) -> None:
    """Take away every trace over a namespace that is being deleted, those too that are being stored."""
    await connection.execute(statement("keep_traces_out"), ns)
    await connection.execute(statement("drop_traces_of_namespace"), ns)


async def drop_traces_of_subject(connection: Connection, name: str) -> int:
    """Take away every trace that a subject of this name made while no principal stood for it; gives how many."""
    return taken(await connection.execute(statement("drop_traces_of_subject"), name))


async def erase_from_traces(
    connection: Connection, ns: int, namespace: str, entities: list[int], facts: list[int], keys: list[str]
) -> int:
    """Take entities, what belongs to them, facts and keys that were given out of every stored trace; gives how many held them.

    Traces of requests that are under way are not stored from here on.
    """
    await connection.execute(statement("keep_traces_out"), ns)
    marks = [f"e{one}" for one in entities] + [f"a{one}" for one in facts] + [mark_of_key(key) for key in keys]
    erased = Erased(ns, namespace, frozenset(entities), frozenset(facts), tuple(keys))
    asked = await traces_that_ask(connection, ns, keys)
    changed, last = 0, ""
    while True:
        rows = await connection.fetch(statement("marked_traces"), ns, marks, last, TRACES_AT_ONCE, asked)
        for row in rows:
            record = record_of(row["body"])
            kept = erased.taken_from(record)
            if kept != record:
                changed += 1
                await connection.execute(statement("change_trace"), row["trace_id"], kept.marks(), json_text(plain_of(kept)))
        if len(rows) < TRACES_AT_ONCE:
            return changed
        last = rows[-1]["trace_id"]


async def traces_that_ask(connection: Connection, ns: int, keys: list[str]) -> list[str]:
    """The ids of traces over a namespace whose questions or anchors hold a key: read one after another, no index finds them."""
    written = {json_text(form)[1:-1] for key in keys for form in (key, unicodedata.normalize("NFC", key))}
    found, last = list[str](), ""
    while True:
        row = await connection.fetchrow(statement("traces_that_ask"), ns, sorted(written), last, TRACES_AT_ONCE)
        if row is None or row["last"] is None:
            return found
        found += row["found"]
        last = row["last"]


@dataclass(frozen=True, slots=True)
class Erased:
    """What is erased in a namespace: entities and facts by id, and keys."""

    ns: int
    namespace: str
    entities: frozenset[int]
    facts: frozenset[int]
    keys: tuple[str, ...]

    def taken_from(self, record: TraceRecord) -> TraceRecord:
        """A trace without it."""
        gone = {item for item, entity_id in record.items.items() if item.ns == self.ns and self._holds(item, entity_id)}
        return record.without(gone).without_keys(self.namespace, self.keys)

    def _holds(self, item: Item, entity_id: int) -> bool:
        return entity_id in self.entities or (item.kind is ItemKind.FACT and item.id in self.facts)


def taken(status: str) -> int:
    """How many rows a statement took, out of its status line."""
    return int(status.split()[-1])
