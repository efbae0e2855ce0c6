"""Says what a base needs from whoever looks after its database, one line a thing with what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from app.findings import Finding, counted, ok, warn
from retrieval.upkeep import Change, IndexSize, Table, Upkeep, VectorIndex

DEAD_ROWS, DEAD_SHARE = 10_000, 0.2
"""Dead rows are told from this many on that are this share of a table."""
LARGE_ROWS, CHANGED_SHARE = 1_000, 0.5
"""A table of so many rows should have been looked at by the planner, and again when so much of it changed."""
BLOATED_BYTES, BLOATED_TIMES = 64 * 2**20, 2
"""An index is told that is this large and this many times what it would be when built anew."""
STALE_SECONDS = 900
VECTOR_INDEX = "fragment_vector_near"


def upkeep_findings(upkeep: Upkeep, exact_most: int) -> Iterator[Finding]:
    """Everything about the upkeep of a base."""
    yield autovacuum_finding(upkeep)
    yield from table_findings(upkeep.tables)
    yield from size_findings(upkeep.indexes)
    if upkeep.vector_index is not None:
        yield from vector_index_findings(upkeep.vector_index, exact_most)
    yield from change_findings(upkeep.change)


def autovacuum_finding(upkeep: Upkeep) -> Finding:
    """Whether the server cleans up by itself."""
    off = [table.name for table in upkeep.tables if not table.autovacuum]
    if not upkeep.autovacuum:
        advice = "Set autovacuum and track_counts to on in postgresql.conf and reload; without them tables grow without end."
        return warn("autovacuum", "is off on the server", advice)
    if off:
        names = ", ".join(off)
        advice = "; ".join(f"alter table {name} reset (autovacuum_enabled)" for name in off)
        return warn("autovacuum", f"is off for {names}", advice)
    return ok("autovacuum", "on")


def table_findings(tables: Iterable[Table]) -> Iterator[Finding]:
    """Dead rows that nobody cleans up, and tables that the planner knows nothing of."""
    told = False
    for table in tables:
        if table.dead >= DEAD_ROWS and table.dead > DEAD_SHARE * (table.rows + table.dead):
            told = True
            vacuum = f"vacuum (analyze) {table.name}"
            if table.name == "fragment_vector":
                vacuum = f"reindex index concurrently {VECTOR_INDEX}; {vacuum} (in this order: it is faster)"
            yield warn("tables", f"{table.name} has {table.dead:,} dead rows beside {table.rows:,}", vacuum)
        elif table.rows >= LARGE_ROWS and not table.analysed:
            told = True
            yield warn("tables", f"{table.name} has {table.rows:,} rows and was never analysed", f"analyze {table.name}")
        elif table.changed >= LARGE_ROWS and table.changed > CHANGED_SHARE * table.rows:
            told = True
            found = f"{table.name} has {table.rows:,} rows, {table.changed:,} changed since it was analysed"
            yield warn("tables", found, f"analyze {table.name}")
    if not told:
        yield ok("tables", "analysed, few dead rows")


def size_findings(indexes: Iterable[IndexSize]) -> Iterator[Finding]:
    """Indexes that have grown far beyond what is in them."""
    bloated = [one for one in indexes if one.bytes >= BLOATED_BYTES and one.bytes > BLOATED_TIMES * one.fresh]
    for one in bloated:
        found = f"{one.name} takes {megabytes(one.bytes)}, about {megabytes(one.fresh)} when built anew"
        yield warn("index sizes", found, f"reindex index concurrently {one.name}")
    if not bloated:
        yield ok("index sizes", "no index is bloated")


def vector_index_findings(index: VectorIndex, exact_most: int) -> Iterator[Finding]:
    """Whether search by meaning has its index once it needs one, and whether a build has the memory it needs."""
    name = "vector index"
    if index.valid:
        yield ok(name, f"over about {counted(index.vectors, 'vector')}")
    elif index.present and not index.building:
        yield warn(name, "half built: a build was cut off", "A running server or `contextql worker` makes it anew; start one.")
    elif index.vectors <= exact_most:
        yield ok(name, f"none: {counted(index.vectors, 'vector')} are compared one by one up to {exact_most:,}")
    elif index.building:
        advice = "Wait; until then all vectors are compared, which is right and slower."
        yield warn(name, f"being built over {counted(index.vectors, 'vector')}", advice)
    else:
        advice = "A running server or `contextql worker` builds it, at most ten minutes after a load has begun; start one."
        yield warn(name, f"missing: {index.vectors:,} vectors or more are compared one by one, which is right and slow", advice)
    if index.vectors > exact_most and index.memory_needed > index.memory_given:
        needed = -(-index.memory_needed // 1024)
        found = (
            f"a build of the vector index needs {needed:,} MB and has {index.memory_given // 1024:,}: it takes many times as long"
        )
        yield warn("maintenance memory", found, f"alter system set maintenance_work_mem = '{needed}MB'; select pg_reload_conf()")


def change_findings(change: Change | None) -> Iterator[Finding]:
    """Whether the base is on its way to another model."""
    if change is None:
        return
    if change.model is None:
        advice = "A running server or `contextql worker` drops them; start one."
        yield warn("re-embedding", "over; the vectors of the model from before are still there", advice)
        return
    found = f"to {change.model} ({change.dimensions}): {change.done:,} of {change.total:,} vectors are made"
    advice = "`contextql reembed` goes on and changes over, unless one runs; `contextql reembed --abandon` throws them away."
    yield warn("re-embedding", found, advice)


def megabytes(number: int) -> str:
    """Bytes for people.

    >>> megabytes(3 * 2**20)
    '3 MB'
    """
    return f"{round(number / 2**20):,} MB"
