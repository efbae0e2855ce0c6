"""What the tables of a base need from whoever looks after the database: vacuum, statistics, indexes, memory."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.database import Connection
from retrieval.tuning import BYTES_PER_INDEXED_VECTOR


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the statistics of the server have it: rows, dead rows, rows changed since the planner looked at it."""

    name: str
    rows: int
    dead: int
    changed: int
    analysed: bool
    autovacuum: bool


@dataclass(frozen=True, slots=True)
class IndexSize:
    """The bytes of an index, and what one that is freshly built would have at most."""

    name: str
    bytes: int
    fresh: int


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The index over vectors: about how many there are, whether it is there, usable, being built, memory for a build in kB."""

    vectors: int
    present: bool
    valid: bool
    building: bool
    memory_given: int
    memory_needed: int


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the model under way, `done` of `total` vectors; or over, with the table from before still there."""

    model: str | None
    dimensions: int | None
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Upkeep:
    """All of it; `statistics_seconds` is how long the longest waiting namespace has been out of date."""

    autovacuum: bool
    tables: tuple[Table, ...]
    indexes: tuple[IndexSize, ...]
    vector_index: VectorIndex | None
    change: Change | None
    statistics_seconds: float


TABLES = """
    select s.relname as name, greatest(s.n_live_tup, c.reltuples, 0)::bigint as rows, s.n_dead_tup as dead,
           s.n_mod_since_analyze as changed, coalesce(s.last_analyze, s.last_autoanalyze) is not null as analysed,
           not coalesce('autovacuum_enabled=false' = any(c.reloptions) or 'autovacuum_enabled=off' = any(c.reloptions), false)
               as autovacuum
      from pg_stat_user_tables s join pg_class c on c.oid = s.relid
     where s.schemaname = current_schema() order by s.relname"""
INDEXES = """
    select c.relname as name, pg_relation_size(c.oid) as bytes,
           case c.relname
                when 'fragment_vector_near' then
                     (select greatest(t.reltuples, 0)::bigint * (2 * a.atttypmod + 600)
                        from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attname = 'embedding'
                       where t.oid = to_regclass('fragment_vector'))
                else (select 8 * coalesce(sum(s.words), 0)::bigint from fragment_statistics s) end as fresh
      from pg_class c
     where c.relnamespace = current_schema()::regnamespace and c.relname in ('fragment_vector_near', 'fragment_lexemes_words')"""
VECTOR_INDEX = """
    select greatest(t.reltuples, (select count(*) from (select from fragment_vector limit $2) counted), 0)::bigint as vectors,
           i.indexrelid is not null as present, coalesce(i.indisvalid and i.indisready, false) as valid,
           exists (select from pg_stat_progress_create_index p where p.relid = t.oid) as building,
           greatest(pg_size_bytes(current_setting('maintenance_work_mem')),
                    pg_size_bytes(current_setting('shared_buffers'))) / 1024 as given,
           greatest(t.reltuples, 0)::bigint * ($1 + 2 * a.atttypmod) / 1024 as needed
      from pg_class t join pg_attribute a on a.attrelid = t.oid and a.attname = 'embedding'
      left join pg_index i on i.indexrelid = to_regclass('fragment_vector_near')
     where t.oid = to_regclass('fragment_vector')"""
CHANGE = """
    select b.next_model as model, b.next_size as dimensions, (select count(*)::int from fragment) as total
      from base b where b.next_model is not null or to_regclass('fragment_vector_former') is not null"""


async def upkeep_of(connection: Connection, counted: int) -> Upkeep:
    """Look at a migrated base; vectors are counted up to `counted`, beyond that the planner's number is taken."""
    due = "select coalesce(extract(epoch from now() - min(marked_at)), 0)::float8 from statistics_due"
    return Upkeep(
        autovacuum=await connection.fetchval(
            "select 'on' = all(array[current_setting('autovacuum'), current_setting('track_counts')])"
        ),
        tables=tuple(Table(**row) for row in await connection.fetch(TABLES)),
        indexes=tuple(IndexSize(**row) for row in await connection.fetch(INDEXES)),
        vector_index=await vector_index_of(connection, counted),
        change=await change_of(connection),
        statistics_seconds=await connection.fetchval(due),
    )


async def vector_index_of(connection: Connection, counted: int) -> VectorIndex | None:
    """The index over vectors; None for a base without vectors."""
    if not await connection.fetchval("select to_regclass('fragment_vector') is not null"):
        return None
    row = await connection.fetchrow(VECTOR_INDEX, BYTES_PER_INDEXED_VECTOR, counted)
    return VectorIndex(row["vectors"], row["present"], row["valid"], row["building"], row["given"], row["needed"])


async def change_of(connection: Connection) -> Change | None:
    """The change of the model that is under way, if one is."""
    row = await connection.fetchrow(CHANGE)
    if row is None:
        return None
    done = 0
    if row["model"] is not None:
        done = await connection.fetchval("select count(*)::int from fragment_vector_next")
    return Change(row["model"], row["dimensions"], done, row["total"])
