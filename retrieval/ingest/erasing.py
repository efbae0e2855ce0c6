"""Erases an entity so that nothing of it is left: with the observations about it, cached vectors, and what points to it."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.access import Caller
from retrieval.administration.rights import bump_rights_epoch, require
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database, json_text
from retrieval.ingest.aliases import forget_aliases
from retrieval.ingest.deleting import delete_facts, deleted
from retrieval.ingest.edges import facts_once_around, refresh_edges
from retrieval.ingest.fact_input import named
from retrieval.ingest.indexing import indexed
from retrieval.ingest.source_input import KEY_LENGTH
from retrieval.ingest.sql import statement
from retrieval.ingest.statistics import refresh_statistics
from retrieval.keys import check_key, key_digest
from retrieval.model import Models, models_held
from retrieval.outcomes import NOTHING_DELETED, Deletion
from retrieval.retrying import retried
from retrieval.store import digest_of
from retrieval.tracing.storing import erase_from_traces

VECTORS = {
    "fragment_vector": "delete from fragment_vector v where v.ns = $1 and v.entity_id = any($2::bigint[])",
    "fragment_vector_next": "delete from fragment_vector_next v where v.ns = $1 and v.entity_id = any($2::bigint[])",
    "fragment_vector_former": "delete from fragment_vector_former v where v.ns = $1 and v.entity_id = any($2::bigint[])",
}
"""Of tables that may be there: vectors in use, those of a model that the base is being given, those that a change left behind."""

NOBODY = 0
"""The number of no entity."""


async def erase_entity(database: Database, caller: Caller, namespace: str, key: str) -> Deletion:
    """Erase an entity with all that `delete_entity` takes, and with what that leaves; needs the role ADMIN.

    That is: observations about it, its aliases in domain packs, vectors kept for equal texts of others, links of others to it,
    attributes of every instant, recorded rows of facts that are long closed, answers kept under idempotency keys that name it,
    its places in stored traces, and, once the statistics are counted anew, its words. Of one that was deleted before, what that
    left. Counts say how many of each.
    """
    digest = key_digest(check_key(key, KEY_LENGTH))

    async def write() -> tuple[int, Deletion]:
        async with database.writing() as connection:
            models = await models_held(connection)
            ns = await require(connection, caller, namespace, "ADMIN")
            entity_id = await connection.fetchval(statement("lock_entity_whole"), ns, digest)
            erased, keys = await erase(connection, models, ns, entity_id, namespace, key)
            if erased.deleted:
                digests = [digest, *(key_digest(one) for one in keys)]
                await note_write(connection, caller, Action.ERASE_ENTITY, ns, digests=digests, outcome=erased.counts)
            return ns, erased

    ns, deletion = await retried(write)
    if deletion.deleted:
        await refresh_statistics(database, ns)  # word statistics hold the words themselves
    return deletion


async def erase(
    connection: Connection, models: Models, ns: int, entity_id: int | None, namespace: str, key: str
) -> tuple[Deletion, list[str]]:
    """Erase a locked entity, or what a deletion has left of it (None), in the caller's transaction; with the keys that went."""
    found = await with_observations(connection, ns, NOBODY if entity_id is None else entity_id, key_digest(key))
    rows = await connection.fetch(statement("lock_entities_whole"), ns, found)
    ids = [row["entity_id"] for row in rows]
    keys = list({key, *(row["key"] for row in rows)})
    entities = int(entity_id is not None)
    counts = {"entities": entities, "observations": len(ids) - entities, "aliases": await forget_aliases(connection, ns, keys)}
    facts = [row["fact_id"] for row in await connection.fetch(statement("facts_around"), ns, ids)]
    once = await facts_once_around(connection, ns, ids)
    counts["facts"] = await delete_facts(connection, ns, facts)
    stated = [row["fact_id"] for row in await connection.fetch(statement("erase_places"), ns, ids)]
    counts |= await erase_texts(connection, models, ns, ids)
    counts["links"] = await count(connection, "erase_links", ns, ids, [key_digest(one) for one in keys])
    counts["versions"] = await count(connection, "erase_versions", ns, ids)
    acls = [row["acl_id"] for row in rows if row["acl_id"]]
    counts["grants"] = await count(connection, "erase_acls", ns, acls)
    await connection.execute(statement("erase_entities"), ns, ids)
    await connection.execute(statement("erase_results"), ns, keys, [in_sentences(one) for one in keys])
    counts["traces"] = await erase_from_traces(connection, ns, namespace, ids, facts, keys)
    if not any(counts.values()):
        return NOTHING_DELETED, keys
    await connection.execute(statement("mark_due"), ns)
    await refresh_edges(connection, ns, [*facts, *once, *stated])
    if acls:
        await bump_rights_epoch(connection)
    return Deletion(True, counts), keys


def in_sentences(key: str) -> str:
    """A key as refusals of facts name it, in the text of a JSON value."""
    return json_text(named(key))[1:-1]


async def with_observations(connection: Connection, ns: int, entity_id: int, digest: bytes) -> list[int]:
    """An entity, the observations about it, the observations about these, and so on; each step is one statement for all."""
    found = front = {entity_id: digest}
    while front:
        rows = await connection.fetch(statement("observations_about"), ns, list(front), list(front.values()))
        front = {row["entity_id"]: row["key_digest"] for row in rows if row["entity_id"] not in found}
        found = found | front
    return list(found)


async def erase_texts(connection: Connection, models: Models, ns: int, ids: Sequence[int]) -> dict[str, int]:
    """Delete sources, fragments and their vectors, also those kept for equal texts; gives the counts."""
    texts = [indexed(*row).embedded for row in await connection.fetch(statement("texts_of_entities"), ns, ids)]
    known = [model for model in (models.current, models.following) if model is not None]
    kept = [(model.number, digest_of(model.name, text)) for model in known for text in texts]
    numbers, digests = [number for number, _ in kept], [digest for _, digest in kept]
    cached = await count(connection, "erase_vectors", ns, ids, numbers, digests)
    await connection.execute(statement("erase_queue"), ns, ids)
    vectors = 0
    for table, statement_of_it in VECTORS.items():
        if await connection.fetchval("select to_regclass($1) is not null", table):
            vectors += deleted(await connection.execute(statement_of_it, ns, ids))
    fragments = await count(connection, "erase_fragments", ns, ids)
    sources = await count(connection, "erase_sources", ns, ids)
    return {"sources": sources, "fragments": fragments, "vectors": vectors, "cachedVectors": cached}


async def count(connection: Connection, name: str, *arguments: object) -> int:
    """Run a DELETE; gives how many rows it took."""
    return deleted(await connection.execute(statement(name), *arguments))
