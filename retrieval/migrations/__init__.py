"""Brings a database to the schema of this release: numbered SQL, forward only, one server at a time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import asyncpg

from retrieval.database import Connection, translated
from retrieval.errors import ContextQLError

FOLDER = Path(__file__).parent
LOCK = 0x_C0_41_E7_71
"""Held to the end of the transaction, so that two servers on an empty database wait for each other."""

EXTENSIONS = {"vector": (0, 8), "pg_trgm": (0, 0), "btree_gin": (0, 0)}
SETTINGS = {
    "jit": "off",
    "plan_cache_mode": "force_custom_plan",
    "work_mem": "32MB",
    "idle_in_transaction_session_timeout": "1min",
    "hnsw.ef_search": "80",
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.max_scan_tuples": "20000",
    "hnsw.scan_mem_multiplier": "2",
}
"""Belong to the role in this database, since settings of a connection are lost behind a pooler (measured)."""


class Unfit(ContextQLError):
    """The database cannot carry the base; the message says what to change."""

    code = "DATABASE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    number: int
    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the file, kept with the record that it was applied."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Base:
    """What the base was initialised with."""

    search_config: str
    embedding_model: str | None
    dimensions: int | None
    cursor_secret: bytes


def migrations() -> list[Migration]:
    """All migrations of this release, in order."""
    files = sorted(FOLDER.glob("[0-9]*.sql"))
    return [Migration(int(file.name[:4]), file.stem, file.read_text(encoding="utf-8")) for file in files]


async def prepare(
    url: str, *, search_config: str, embedding_model: str | None, dimensions: int | None, jit: bool = False,
    also: tuple[str, int] | None = None,
) -> Base:  # fmt: skip
    """Check the database, set it up and migrate it; raises `Unfit` with one line that names what is wrong.

    `also` is a second model with its dimensions that the base may hold: the one it is re-embedded with. Where nothing is
    missing nothing is written, so that a server starts beside a database that takes no writes.
    """
    with translated():
        connection = await asyncpg.connect(url, timeout=10)
        try:
            await check_server(connection, search_config)
            async with connection.transaction():
                await connection.execute("select pg_advisory_xact_lock($1)", LOCK)
                await make_extensions(connection)
                await migrate(connection)
                base = await initialise(connection, search_config, embedding_model, dimensions, also)
                await apply_settings(connection, {**SETTINGS, "jit": "on" if jit else "off"})
        finally:
            await connection.close()
    return base


async def check_server(connection: Connection, search_config: str) -> None:
    """Refuse by name: an old server, a missing extension, a locale that does not fold Cyrillic, an unknown configuration."""
    version = int(await connection.fetchval("select current_setting('server_version_num')::int"))
    if version < 160_000:
        raise Unfit(f"PostgreSQL {version // 10_000} is too old; 16 or newer is needed.")
    found = await connection.fetch("select name, default_version, installed_version from pg_available_extensions")
    offered = {row["name"]: row["installed_version"] or row["default_version"] for row in found}
    for name, least in EXTENSIONS.items():
        if name not in offered:
            raise Unfit(f"The extension {name} is not installed on the database server; install it there and start again.")
        numbers = tuple(int(part) for part in offered[name].split(".")[:2])
        if numbers < least:
            raise Unfit(f"The extension {name} is {offered[name]}; {'.'.join(map(str, least))} or newer is needed.")
    if await connection.fetchval("select current_setting('server_encoding') <> 'UTF8' or lower('ЁЖ') <> 'ёж'"):
        raise Unfit(
            "The locale of the database does not fold Cyrillic; create the database with "
            "ENCODING UTF8 LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' TEMPLATE template0."
        )
    if not await connection.fetchval("select exists (select from pg_ts_config where cfgname = $1)", search_config):
        raise Unfit(f"CB_FTS_CONFIG={search_config} is no text search configuration of this database.")


async def make_extensions(connection: Connection) -> None:
    """Make the extensions that are not there yet; raises `Unfit` when the role may not."""
    made = {row["extname"] for row in await connection.fetch("select extname from pg_extension")}
    for name in (name for name in EXTENSIONS if name not in made):
        try:
            await connection.execute(f"create extension {name}")
        except asyncpg.InsufficientPrivilegeError as error:
            raise Unfit(
                f"The role may not make the extension {name}; run `create extension {name}` in the database once as a superuser."
            ) from error


async def migrate(connection: Connection) -> list[int]:
    """Apply what is missing, inside the caller's transaction; gives the numbers that were applied."""
    if await connection.fetchval("select to_regclass('migration') is null"):
        try:
            await connection.execute(
                "create table migration (number int primary key, name text not null, digest text not null, "
                "applied_at timestamptz not null default now())"
            )
        except asyncpg.InsufficientPrivilegeError as error:
            raise Unfit("The role may not make tables in the database; make it the owner of the database.") from error
    applied = {row["number"]: row["digest"] for row in await connection.fetch("select number, digest from migration")}
    known = migrations()
    if applied and max(applied) > known[-1].number:
        raise Unfit(f"The database was migrated by a newer release (migration {max(applied)}); use that release or a newer one.")
    done = []
    for migration in known:
        if migration.number not in applied:
            await connection.execute(migration.text)
            await connection.execute(
                "insert into migration (number, name, digest) values ($1, $2, $3)",
                migration.number, migration.name, migration.digest,
            )  # fmt: skip
            done.append(migration.number)
    return done


async def initialise(
    connection: Connection, search_config: str, embedding_model: str | None, dimensions: int | None,
    also: tuple[str, int] | None = None,
) -> Base:  # fmt: skip
    """Store what the base is made with, or refuse what differs; makes the vector table for the model's dimensions."""
    row = await connection.fetchrow("select search_config::text, embedding_model, embedding_size, cursor_secret from base")
    if row["search_config"] is None:
        await connection.execute("update base set search_config = $1::text::regconfig", search_config)
    elif row["search_config"] != search_config:
        raise Unfit(f"The base was indexed with CB_FTS_CONFIG={row['search_config']}; {search_config} would not find its words.")
    if embedding_model is None:
        return Base(search_config, row["embedding_model"], row["embedding_size"], row["cursor_secret"])
    if row["embedding_model"] is None:
        await connection.execute("lock table fragment in share row exclusive mode")  # waits for those who write fragments
        await make_vector_table(connection, "fragment_vector", int(dimensions or 0))
        await connection.execute(
            "insert into embedding_queue (ns, fragment_id) select ns, fragment_id from fragment on conflict do nothing"
        )
        await connection.execute(
            "update base set embedding_model = $1, embedding_size = $2, vector_table = to_regclass('fragment_vector')",
            embedding_model, dimensions,
        )  # fmt: skip
    elif (row["embedding_model"], row["embedding_size"]) not in ((embedding_model, dimensions), also):
        raise Unfit(
            f"The base holds vectors of {row['embedding_model']} ({row['embedding_size']} dimensions), the configuration names "
            f"{embedding_model} ({dimensions}): set CB_EMBEDDING_PROVIDER and CB_EMBEDDING_MODEL back, or use a new base; "
            "`contextql reembed` changes the model of a base."
        )
    else:
        embedding_model, dimensions = row["embedding_model"], row["embedding_size"]
    return Base(search_config, embedding_model, dimensions, row["cursor_secret"])


VectorTable = Literal["fragment_vector", "fragment_vector_next"]


async def make_vector_table(connection: Connection, name: VectorTable, dimensions: int) -> None:
    """Make a table of vectors, without the index over them: retrieval/ingest/vector_index.py builds it when there are many."""
    if not 1 <= dimensions <= 4_000:
        raise Unfit(f"Vectors of {dimensions} dimensions cannot be indexed; from 1 to 4000 can.")
    await connection.execute(
        f"""create table {name} (
                ns int not null, fragment_id bigint not null, entity_id bigint not null, acl_id int not null,
                embedding halfvec({dimensions}) not null,
                primary key (ns, fragment_id),
                foreign key (ns, fragment_id) references fragment on delete cascade);
            create index {name}_acl on {name} (ns, acl_id);
            create index {name}_entity on {name} (ns, entity_id)"""
    )


async def apply_settings(connection: Connection, settings: dict[str, str]) -> None:
    """Set what differs for this role in this database; new connections have it."""
    await connection.execute("select '[1]'::halfvec")  # loads the library, so that its settings are known
    kept = await connection.fetchval(
        "select setconfig from pg_db_role_setting "
        "where setdatabase = (select oid from pg_database where datname = current_database()) "
        "and setrole = (select oid from pg_roles where rolname = current_user)"
    )
    missing = {name: value for name, value in settings.items() if f"{name}={value}" not in (kept or [])}
    for name, value in missing.items():
        await connection.execute(
            await connection.fetchval(
                "select format('alter role %I in database %I set %s to %L', current_user, current_database(), "
                "$1::text, $2::text)",
                name,
                value,
            )
        )


async def settings_in_force(connection: Connection) -> dict[str, str]:
    """What a fresh connection really has, to be compared with `SETTINGS`."""
    await connection.execute("select '[1]'::halfvec")
    rows = await connection.fetch("select name, current_setting(name) as value from unnest($1::text[]) name", list(SETTINGS))
    return {row["name"]: row["value"] for row in rows}
