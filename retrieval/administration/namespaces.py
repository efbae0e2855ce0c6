"""Creates, lists and deletes namespaces."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.access import Caller
from retrieval.administration.names import check_name, check_title
from retrieval.administration.rights import bump_rights_epoch, is_local, require, require_administrator
from retrieval.administration.sql import statement
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database
from retrieval.errors import BadInput, Conflict
from retrieval.outcomes import Deletion
from retrieval.retrying import retried
from retrieval.tracing.storing import drop_traces


@dataclass(frozen=True, slots=True)
class Namespace:
    """A namespace as its readers see it."""

    ns: int
    name: str
    title: str | None


async def create_namespace(database: Database, caller: Caller, name: str, title: str | None = None) -> Namespace:
    """Make a namespace; raises `Forbidden` for anyone but an administrator, `Conflict` when the name is taken."""
    name, title = check_name(name, "The name of a namespace"), check_title(title)
    async with database.writing() as connection:
        await require_administrator(connection, caller)
        ns = await connection.fetchval(statement("create_namespace"), name, title)
        if ns is None:
            raise Conflict(f"Namespace {name!r} exists already.")
        await note_write(connection, caller, Action.CREATE_NAMESPACE, ns)
        await bump_rights_epoch(connection)
    return Namespace(ns, name, title)


async def list_namespaces(database: Database, caller: Caller) -> tuple[Namespace, ...]:
    """The namespaces that the caller may read, by name."""
    async with database.reading() as connection:
        rows = await connection.fetch(statement("list_namespaces"), caller.principal_id, is_local(caller))
    return tuple(Namespace(row["ns"], row["name"], row["title"]) for row in rows)


async def delete_namespace(database: Database, caller: Caller, name: str, confirm: str) -> Deletion:
    """Delete a namespace with everything in it; needs ADMIN there, and `confirm` equal to the name.

    Waits for the writes that are under way in it. Raises `NamespaceNotFound`, `Forbidden`, `BadInput`.
    """

    async def write() -> Deletion:
        async with database.writing() as connection:
            ns = await require(connection, caller, name, "ADMIN")
            if confirm != name:
                raise BadInput("`confirm` must repeat the name of the namespace that is to be deleted.")
            await connection.execute(statement("lock_namespace"), ns)
            counts = await empty(connection, ns)
            await drop_traces(connection, ns)
            await note_write(connection, caller, Action.DELETE_NAMESPACE, ns, outcome=counts)
            await connection.execute("delete from namespace where ns = $1", ns)
            await bump_rights_epoch(connection)
            return Deletion(True, counts)

    return await retried(write)


# The order spares the cascades their work: what depends on a row goes before it.
TABLES = (
    "embedding_queue", "statistics_due", "vector_cache", "fragment_lexemes", "fragment", "link", "edge", "former_edge", "said",
    "fact_place", "fact", "entity_version", "source", "entity", "acl_grant", "namespace_role", "word_statistics",
    "fragment_statistics", "namespace_statistics",
)  # fmt: skip
COUNTED = {"entity": "entities", "source": "sources", "fragment": "fragments", "fact": "facts"}


async def empty(connection: Connection, ns: int) -> dict[str, int]:
    """Delete all rows of a namespace; gives the counts of those that people know by name."""
    counts: dict[str, int] = {}
    if await connection.fetchval("select to_regclass('fragment_vector') is not null"):
        await connection.execute("delete from fragment_vector where ns = $1", ns)
    for table in TABLES:
        status = await connection.execute(f"delete from {table} where ns = $1", ns)  # noqa: S608 - names of our own
        if table in COUNTED:
            counts[COUNTED[table]] = int(status.split()[-1])
    return counts
