"""Takes out a source, or an entity with all that hangs on it, and leaves no row behind."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from retrieval.access import Caller
from retrieval.administration.rights import bump_rights_epoch, require
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database
from retrieval.ingest.edges import facts_once_around, refresh_edges
from retrieval.ingest.source_input import KEY_LENGTH
from retrieval.ingest.sql import statement
from retrieval.keys import check_key, key_digest
from retrieval.outcomes import NOTHING_DELETED, Deletion
from retrieval.retrying import retried


async def delete_source(database: Database, caller: Caller, namespace: str, key: str) -> Deletion:
    """Delete the text of an entity and the facts that rest on it alone; needs the role ADMIN.

    The entity stays, without text, since facts stated elsewhere may speak of it; `delete_entity` takes it out too.
    """

    async def take(connection: Connection, ns: int, entity_id: int) -> Deletion:
        counts, stated = await clear_source(connection, ns, entity_id)
        await connection.execute(statement("touch_entity"), ns, entity_id)
        await refresh_edges(connection, ns, stated)
        return Deletion(bool(counts["sources"]), counts if counts["sources"] else {})

    return await taken(database, caller, namespace, key, take, Action.DELETE_SOURCE)


async def delete_entity(database: Database, caller: Caller, namespace: str, key: str) -> Deletion:
    """Delete an entity with its text, its facts in both directions and its grants; needs the role ADMIN.

    Facts between others go when this was their last place; links to it wait until it comes back.
    """

    async def take(connection: Connection, ns: int, entity_id: int) -> Deletion:
        facts = [row["fact_id"] for row in await connection.fetch(statement("facts_of_entity"), ns, entity_id)]
        once = await facts_once_around(connection, ns, [entity_id])
        around = await delete_facts(connection, ns, facts)
        counts, stated = await clear_source(connection, ns, entity_id)
        acl_id = await connection.fetchval(statement("delete_entity"), ns, entity_id)
        if acl_id:
            await connection.execute(statement("drop_acl"), ns, acl_id)
        await refresh_edges(connection, ns, [*facts, *once, *stated])
        if acl_id:
            await bump_rights_epoch(connection)
        return Deletion(True, counts | {"facts": counts["facts"] + around, "entities": 1})

    return await taken(database, caller, namespace, key, take, Action.DELETE_ENTITY)


Taking = Callable[[Connection, int, int], Awaitable[Deletion]]
"""Deletes inside a transaction: connection, namespace, locked entity."""


async def taken(database: Database, caller: Caller, namespace: str, key: str, take: Taking, action: Action) -> Deletion:
    """Run a deletion on the entity under a key in one transaction; nothing happens when there is none."""
    digest = key_digest(check_key(key, KEY_LENGTH))

    async def write() -> Deletion:
        async with database.writing() as connection:
            ns = await require(connection, caller, namespace, "ADMIN")
            entity_id = await connection.fetchval(statement("lock_entity_whole"), ns, digest)
            if entity_id is None:
                return NOTHING_DELETED
            deletion = await take(connection, ns, entity_id)
            if deletion.deleted:
                await connection.execute(statement("mark_due"), ns)
                await note_write(connection, caller, action, ns, digests=[digest], outcome=deletion.counts)
            return deletion

    return await retried(write)


async def clear_source(connection: Connection, ns: int, entity_id: int) -> tuple[dict[str, int], list[int]]:
    """Delete source, fragments, links and places of an entity, and the facts that had no other place.

    Gives the counts, and the facts that were stated there: their edges are for the end of the transaction.
    """
    stated = [row["fact_id"] for row in await connection.fetch(statement("delete_places"), ns, entity_id)]
    homeless = await connection.fetch(statement("homeless_facts"), ns, stated)
    facts = await delete_facts(connection, ns, [row["fact_id"] for row in homeless])
    await connection.execute(statement("unqueue_entity"), ns, entity_id)
    await connection.execute(statement("delete_links"), ns, entity_id)
    await connection.execute(statement("forget_vectors"), ns, entity_id)
    fragments = deleted(await connection.execute(statement("delete_fragments"), ns, entity_id))
    sources = deleted(await connection.execute(statement("delete_source"), ns, entity_id))
    return {"sources": sources, "fragments": fragments, "facts": facts}, stated


async def delete_facts(connection: Connection, ns: int, facts: list[int]) -> int:
    """Delete facts with every recorded row and place; links that had become one of them wait again. Gives how many facts."""
    if not facts:
        return 0
    await connection.execute(statement("delete_places_of_facts"), ns, facts)
    await connection.execute(statement("free_links"), ns, facts)
    gone = await connection.fetch(statement("delete_facts"), ns, facts)
    return len({row["fact_id"] for row in gone})


def deleted(status: str) -> int:
    """How many rows a DELETE took, out of its status line."""
    return int(status.split()[-1])
