"""The state of a database as it is found, for whoever looks after it: nothing is changed, and a half-made base is no error."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import asyncpg

from retrieval.database import Connection, translated
from retrieval.migrations import EXTENSIONS, SETTINGS, migrations, settings_in_force
from retrieval.tuning import POISONED_ATTEMPTS
from retrieval.upkeep import Upkeep, upkeep_of

_INDEX = re.compile(r"\b(create|drop)\s+(?:unique\s+)?index\s+(?:if\s+(?:not\s+)?exists\s+)?(\w+)", re.I)
VECTOR_INDEXES = ("fragment_vector_acl", "fragment_vector_entity")


@dataclass(frozen=True, slots=True)
class Extension:
    """An extension that is needed: the version in the base, the one the server offers, the least that will do."""

    name: str
    installed: str | None
    offered: str | None
    least: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Poisoned:
    """A fragment that could not be embedded again and again."""

    namespace: str
    key: str
    ordinal: int
    attempts: int
    last_error: str | None


@dataclass(frozen=True, slots=True)
class ServerState:
    """What holds for any database: version, locale, extensions, settings that differ (name, is, should be)."""

    version: str
    version_number: int
    folds_cyrillic: bool
    extensions: tuple[Extension, ...]
    differing: tuple[tuple[str, str, str], ...]
    milliseconds: float


@dataclass(frozen=True, slots=True)
class BaseState:
    """What holds for a migrated base.

    `unapplied` and `altered` name migrations; `refresh_due` counts namespaces whose word statistics are out of date, and
    `refreshing` is whether somebody is at it.
    """

    unapplied: tuple[str, ...]
    altered: tuple[str, ...]
    embedding_model: str | None
    dimensions: int | None
    missing_indexes: tuple[str, ...]
    invalid_indexes: tuple[str, ...]
    pending: int
    oldest_pending_seconds: float
    poisoned: tuple[Poisoned, ...]
    refresh_due: int
    refreshing: bool
    expired_tokens: int
    upkeep: Upkeep | None
    """None until all migrations are applied."""


async def examine(url: str, *, jit: bool = False, counted: int = 1_000) -> tuple[ServerState, BaseState | None]:
    """Look at a database over a connection of its own; the second part is None when it was never migrated.

    Vectors are counted up to `counted`. Raises `DatabaseUnavailable` when it does not answer.
    """
    started = perf_counter()
    with translated():
        connection = await asyncpg.connect(url, timeout=10)
        try:
            milliseconds = (perf_counter() - started) * 1_000
            server = await server_state(connection, jit, milliseconds)
            known = await connection.fetchval("select to_regclass('migration') is not null and to_regclass('base') is not null")
            return server, await base_state(connection, counted) if known else None
        finally:
            await connection.close()


async def server_state(connection: Connection, jit: bool, milliseconds: float) -> ServerState:
    """Version, locale, extensions and settings."""
    row = await connection.fetchrow(
        "select current_setting('server_version') as version, current_setting('server_version_num')::int as number, "
        "current_setting('server_encoding') = 'UTF8' and lower('ЁЖ') = 'ёж' as folds"
    )
    extensions = await extensions_of(connection)
    wanted = {**SETTINGS, "jit": "on" if jit else "off"}
    has_vector = any(one.name == "vector" and one.installed for one in extensions)
    found = await settings_in_force(connection) if has_vector else {}
    differing = tuple((name, value, wanted[name]) for name, value in found.items() if value != wanted[name])
    return ServerState(row["version"], row["number"], row["folds"], extensions, differing, milliseconds)


async def extensions_of(connection: Connection) -> tuple[Extension, ...]:
    """The extensions that a base needs."""
    rows = await connection.fetch("select name, default_version, installed_version from pg_available_extensions")
    found = {row["name"]: (row["installed_version"], row["default_version"]) for row in rows}
    return tuple(Extension(name, *found.get(name, (None, None)), least) for name, least in EXTENSIONS.items())


async def base_state(connection: Connection, counted: int) -> BaseState:
    """Migrations, indexes, queue, statistics and tokens of a base."""
    applied = {row["name"]: row["digest"] for row in await connection.fetch("select name, digest from migration")}
    known = {migration.name: migration.digest for migration in migrations()}
    base = await connection.fetchrow("select embedding_model, embedding_size from base")
    present = await connection.fetch(
        "select c.relname, i.indisvalid and i.indisready as valid from pg_index i join pg_class c on c.oid = i.indexrelid "
        "join pg_namespace n on n.oid = c.relnamespace where n.nspname = current_schema()"
    )
    named = {row["relname"] for row in present}
    queue = await connection.fetchrow(
        "select count(*)::int as pending, coalesce(extract(epoch from now() - min(available_at)), 0)::float as seconds "
        "from embedding_queue"
    )
    unapplied = tuple(name for name in known if name not in applied)
    return BaseState(
        unapplied=unapplied,
        altered=tuple(name for name in known if name in applied and applied[name] != known[name]),
        embedding_model=base["embedding_model"],
        dimensions=base["embedding_size"],
        missing_indexes=tuple(name for name in expected_indexes(base["embedding_model"] is not None) if name not in named),
        invalid_indexes=tuple(row["relname"] for row in present if not row["valid"]),
        pending=queue["pending"],
        oldest_pending_seconds=max(0.0, queue["seconds"]),
        poisoned=await poisoned(connection),
        refresh_due=await connection.fetchval("select count(distinct ns)::int from statistics_due"),
        refreshing=await connection.fetchval(
            "select exists (select from lease where name = 'statistics' and held_until > now())"
        ),
        expired_tokens=await connection.fetchval(
            "select count(*)::int from token where revoked_at is null and expires_at <= now()"
        ),
        upkeep=None if unapplied else await upkeep_of(connection, counted),
    )


async def poisoned(connection: Connection) -> tuple[Poisoned, ...]:
    """Fragments with many attempts behind them, most first."""
    rows = await connection.fetch(
        "select n.name, e.key, f.ordinal, q.attempts, q.last_error from embedding_queue q "
        "join namespace n using (ns) join fragment f on f.ns = q.ns and f.fragment_id = q.fragment_id "
        "join entity e on e.ns = f.ns and e.entity_id = f.entity_id "
        "where q.attempts >= $1 order by q.attempts desc, q.ns, q.fragment_id limit 100",
        POISONED_ATTEMPTS,
    )
    return tuple(Poisoned(row["name"], row["key"], row["ordinal"], row["attempts"], row["last_error"]) for row in rows)


def expected_indexes(with_vectors: bool) -> Sequence[str]:
    """The indexes that the migrations of this release leave behind, in their order."""
    names: dict[str, None] = {}
    for migration in migrations():
        for action, name in _INDEX.findall(migration.text):
            if action.lower() == "create":
                names[name] = None
            else:
                names.pop(name, None)
    return [*names, *(VECTOR_INDEXES if with_vectors else ())]
