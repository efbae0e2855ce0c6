"""Stores sources: one transaction a document, so that each is whole or not there."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Sequence
from contextlib import suppress

from retrieval.access import Caller
from retrieval.administration.rights import bump_rights_epoch, require
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import counted, note_write
from retrieval.database import Connection, Database, json_text
from retrieval.domain.holding import check_entity
from retrieval.errors import ContextQLError
from retrieval.ingest.documents import Document, read_document
from retrieval.ingest.edges import refresh_edges, refresh_edges_around
from retrieval.ingest.fragments import replace_text
from retrieval.ingest.indexing import findings_of
from retrieval.ingest.rights_of_source import Stored, apply_rights, rights_hold
from retrieval.ingest.source_input import SourceInput, checked, digest_of_source
from retrieval.ingest.sql import statement
from retrieval.ingest.stated_links import Manner, replace_links
from retrieval.keys import key_digest
from retrieval.migrations import Base
from retrieval.model import models_held
from retrieval.outcomes import ItemResult, Outcome
from retrieval.retrying import Overtaken, retried

log = logging.getLogger(__name__)


async def ingest_many(
    database: Database, base: Base, caller: Caller, namespace: str, sources: Sequence[SourceInput]
) -> list[ItemResult]:
    """Store sources in the order of their keys; a result for each, in the order given, and one that fails stops no other.

    Raises `NamespaceNotFound` or `Forbidden` before anything is stored. Needs the role WRITER.
    """
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "WRITER")
    results: dict[int, ItemResult] = {}
    for number in sorted(range(len(sources)), key=lambda number: sources[number].key):
        results[number] = await ingest_source(database, base, caller, namespace, sources[number])
    with suppress(ContextQLError):
        await connect_links(database, ns)
    return [results[number] for number in range(len(sources))]


async def ingest_source(database: Database, base: Base, caller: Caller, namespace: str, source: SourceInput) -> ItemResult:
    """Store one source under its key: created, updated, unchanged, or failed with a code and a sentence.

    It is searchable by words when this returns, and by meaning as soon as the queue has embedded it.
    """
    try:
        return ItemResult(source.key, await store(database, base, caller, namespace, checked(source)))
    except ContextQLError as error:
        return ItemResult.failed(source.key, error)
    except Exception:
        log.exception("source_failed", extra={"namespace": namespace})
        return ItemResult(source.key, Outcome.FAILED, "INTERNAL", "The source could not be stored; the log says why.")


async def store(database: Database, base: Base, caller: Caller, namespace: str, source: SourceInput) -> Outcome:
    """Store a checked source; the text is only split when something changed, and then outside any transaction."""
    digest = digest_of_source(source)
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "WRITER")
        stored = await stored_state(connection, ns, source.key)
    if stored is not None and stored.digest == digest and rights_hold(stored, source):
        await connect_links(database, ns, stored.entity_id)
        return Outcome.UNCHANGED
    document = await asyncio.to_thread(read_document, source.key, source.content, source.media_type, source.title, source.meta)
    entity_id, outcome = await retried(lambda: write(database, base, caller, namespace, source, digest, document))
    await connect_links(database, ns, entity_id, hint=True)
    return outcome


async def stored_state(connection: Connection, ns: int, key: str) -> Stored | None:
    """What is stored under a key now."""
    row = await connection.fetchrow(statement("stored_state"), ns, key_digest(key))
    return None if row is None else Stored(row["entity_id"], row["acl_id"], row["digest"], frozenset(row["readers"]))


async def write(
    database: Database, base: Base, caller: Caller, namespace: str, source: SourceInput, digest: bytes, document: Document
) -> tuple[int, Outcome]:
    """The transaction of one document; gives its entity and what became of it."""
    async with database.writing() as connection:
        models = await models_held(connection)
        ns = await require(connection, caller, namespace, "WRITER")
        stored, created = await lock(connection, ns, source.key, source.kind, source.type, document.title)
        acl_id, rights_changed = await apply_rights(connection, ns, stored, source, models)
        text_changed, retracted = stored.digest != digest, list[int]()
        if text_changed:
            await put_entity(connection, ns, stored.entity_id, source, digest, document)
            retracted = await replace_text(connection, models, ns, stored.entity_id, acl_id, document)
            about = Manner("about", source.occurred_at, tuple(source.relevance_scopes or ()))
            retracted += await replace_links(connection, ns, stored.entity_id, source.key, source.about, about)
        if text_changed or rights_changed:
            await connection.execute(statement("mark_due"), ns)
        outcome = Outcome.CREATED if created else Outcome.UPDATED if text_changed or rights_changed else Outcome.UNCHANGED
        if outcome is not Outcome.UNCHANGED:
            action = Action.RECORD_OBSERVATIONS if source.kind == "OBSERVATION" else Action.INGEST_SOURCES
            await note_write(connection, caller, action, ns, entities=[stored.entity_id], outcome=counted([outcome]))
        await refresh_edges(connection, ns, retracted)
        if acl_id != stored.acl_id:
            await refresh_edges_around(connection, ns, stored.entity_id)
        # A new entity without readers changes nothing that anybody has resolved before.
        if rights_changed and not (created and not source.readers):
            await bump_rights_epoch(connection)
    return stored.entity_id, outcome


async def lock(connection: Connection, ns: int, key: str, kind: str, type: str, title: str) -> tuple[Stored, bool]:
    """What is stored under the key, kept from other writers until the transaction ends; an entity is made when none is there."""
    digest = key_digest(key)
    locked = await connection.fetchval(statement("lock_entity"), ns, digest)
    if locked is None:
        made = await connection.fetchval(statement("create_entity"), ns, digest, key, kind, type, title)
        if made is not None:
            return Stored(made, 0, None, frozenset()), True
        await connection.fetchval(statement("lock_entity"), ns, digest)
    # A statement of its own: its snapshot is younger than the lock.
    stored = await stored_state(connection, ns, key)
    if stored is None:
        raise Overtaken("The entity was deleted while this was written; send it again.")
    return stored, False


async def put_entity(
    connection: Connection, ns: int, entity_id: int, source: SourceInput, digest: bytes, document: Document
) -> None:
    """Store what the source says about its entity, and the original itself."""
    scopes, origin = list(source.relevance_scopes or ()), source.origin
    await check_entity(connection, ns, entity_id, source.kind, source.type)
    await connection.execute(
        statement("update_entity"), ns, entity_id, source.key, source.kind, source.type, document.title, source.status,
        source.source_path, json_text(document.meta), scopes, source.occurred_at,
    )  # fmt: skip
    if source.attributes is not None:
        await connection.execute(statement("add_version"), ns, entity_id, json_text(source.attributes))
    provenance = (None,) * 4 if origin is None else (origin.connector, origin.uri, origin.author, origin.fetched_at)
    findings = findings_of(document.title, document.text, (piece.text for piece in document.pieces))
    await connection.execute(
        statement("put_source"), ns, entity_id, digest, document.text, sha256(document.text), document.media_type, *provenance,
        json_text(findings),
    )  # fmt: skip


def sha256(text: str) -> bytes:
    """SHA-256 of a text in UTF-8."""
    return hashlib.sha256(text.encode()).digest()


async def connect_links(database: Database, ns: int, entity_id: int | None = None, hint: bool = False) -> None:
    """Turn links whose target is there into facts: those of and to one entity, or all of the namespace; may wake workers.

    Runs after the commit of a document, since two that link to each other may be written at the same moment.
    """

    async def connect() -> None:
        async with database.writing() as connection:
            stated = await connection.fetch(statement("connect_links"), ns, entity_id)
            if hint:
                await connection.execute(statement("notify"))
            await refresh_edges(connection, ns, [row["fact_id"] for row in stated])

    await retried(connect)
