"""Stores entities by key: one transaction each; a text that an entity has stays and follows its title."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from retrieval.access import Caller
from retrieval.administration.rights import bump_rights_epoch, require
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import counted, note_write
from retrieval.database import Connection, Database, json_text
from retrieval.domain.holding import check_entity
from retrieval.errors import Conflict, ContextQLError
from retrieval.ingest.documents import Document, read_document
from retrieval.ingest.edges import refresh_edges, refresh_edges_around
from retrieval.ingest.entity_input import EntityInput, checked
from retrieval.ingest.fragments import replace_text
from retrieval.ingest.rights_of_source import Stored, apply_rights
from retrieval.ingest.sql import statement
from retrieval.ingest.write import connect_links, lock, stored_state
from retrieval.model import Models, models_held
from retrieval.outcomes import ItemResult, Outcome
from retrieval.retrying import retried

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Described:
    """What an entity says of itself beside its attributes and rights."""

    kind: str
    type: str
    title: str
    status: str | None
    source_path: str | None
    meta: Mapping[str, Any]
    relevance_scopes: tuple[str, ...]
    occurred_at: datetime | None


@dataclass(frozen=True, slots=True)
class Text:
    """The text of an entity read anew under another title or other tags, and the source that it was read from."""

    digest: bytes
    document: Document


async def upsert_entities(
    database: Database, caller: Caller, namespace: str, entities: Sequence[EntityInput]
) -> list[ItemResult]:
    """Store entities in the order of their keys; a result for each, in the order given, and one that fails stops no other.

    Several of one key are stored in the order given, such as versions of attributes. Raises `NamespaceNotFound` or `Forbidden`
    before anything is stored. Needs the role WRITER.
    """
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "WRITER")
    results: dict[int, ItemResult] = {}
    for number in sorted(range(len(entities)), key=lambda number: entities[number].key):
        results[number] = await upsert_entity(database, caller, namespace, entities[number])
    if any(result.outcome in (Outcome.CREATED, Outcome.UPDATED) for result in results.values()):
        with suppress(ContextQLError):
            await connect_links(database, ns, hint=True)
    return [results[number] for number in range(len(entities))]


async def upsert_entity(database: Database, caller: Caller, namespace: str, entity: EntityInput) -> ItemResult:
    """Store one entity under its key: created, updated, unchanged, or failed with a code and a sentence.

    Links that waited for it become edges with the next `connect_links`.
    """
    try:
        return ItemResult(entity.key, await store(database, caller, namespace, checked(entity)))
    except ContextQLError as error:
        return ItemResult.failed(entity.key, error)
    except Exception:
        log.exception("entity_failed", extra={"namespace": namespace})
        return ItemResult(entity.key, Outcome.FAILED, "INTERNAL", "The entity could not be stored; the log says why.")


async def store(database: Database, caller: Caller, namespace: str, entity: EntityInput) -> Outcome:
    """Store a checked entity; its text is read anew, outside any transaction, when its title or tags change."""
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "WRITER")
        reading = await reading_anew(connection, ns, entity)
    text = None if reading is None else await asyncio.to_thread(reading)
    return await retried(lambda: write(database, caller, namespace, entity, text))


async def reading_anew(connection: Connection, ns: int, entity: EntityInput) -> Callable[[], Text] | None:
    """How the text of an entity is read under the title and tags that it gets; None when it has none, or they stay."""
    stored = await stored_state(connection, ns, entity.key)
    if stored is None or stored.digest is None:
        return None
    row = await connection.fetchrow(statement("described"), ns, stored.entity_id)
    wanted = merged(row, entity)
    original = await connection.fetchrow(statement("original"), ns, stored.entity_id) if is_other(row, wanted) else None
    if original is None:
        return None
    given = row["key"], original["content"], original["media_type"], wanted.title, wanted.meta
    return lambda: Text(original["digest"], read_document(*given))


def is_other(row: Mapping[str, Any], wanted: Described) -> bool:
    """Whether fragments, which repeat the title and tags of their entity, are no longer those that are wanted."""
    return (wanted.title, wanted.meta) != (row["title"], row["meta"])


def merged(row: Mapping[str, Any], entity: EntityInput) -> Described:
    """What an entity will say of itself: what is given, and what is stored where that is left out.

    THING is what an entity is called that nobody calls anything, so that one with text keeps its kind.
    """
    keeps_kind = row["digest"] is not None and entity.kind == "THING"
    return Described(
        kind=row["kind"] if keeps_kind else entity.kind,
        type=entity.type,
        title=entity.title,
        status=row["status"] if entity.status is None else entity.status or None,
        source_path=row["source_path"] if entity.source_path is None else entity.source_path or None,
        meta=row["meta"] if entity.meta is None else entity.meta,
        relevance_scopes=tuple(row["relevance_scopes"] if entity.relevance_scopes is None else entity.relevance_scopes),
        occurred_at=row["occurred_at"] if entity.occurred_at is None else entity.occurred_at,
    )


def described(row: Mapping[str, Any]) -> Described:
    """What an entity says of itself now."""
    return Described(
        row["kind"], row["type"], row["title"], row["status"], row["source_path"], row["meta"],
        tuple(row["relevance_scopes"]), row["occurred_at"],
    )  # fmt: skip


async def write(database: Database, caller: Caller, namespace: str, entity: EntityInput, text: Text | None) -> Outcome:
    """The transaction of one entity."""
    async with database.writing() as connection:
        models = await models_held(connection)
        ns = await require(connection, caller, namespace, "WRITER")
        stored, created = await lock(connection, ns, entity.key, entity.kind, entity.type, entity.title)
        acl_id, rights_changed = await apply_rights(connection, ns, stored, entity, models)
        described_anew, vanished = await describe(connection, models, ns, stored, acl_id, entity, text)
        attributes_changed = await put_attributes(connection, ns, stored.entity_id, entity)
        if attributes_changed and not described_anew:
            await connection.execute(statement("touch_entity"), ns, stored.entity_id)
        if text is not None or rights_changed:
            await connection.execute(statement("mark_due"), ns)
        changed = described_anew or attributes_changed or rights_changed
        outcome = Outcome.CREATED if created else Outcome.UPDATED if changed else Outcome.UNCHANGED
        if outcome is not Outcome.UNCHANGED:
            wrote = counted([outcome])
            await note_write(connection, caller, Action.UPSERT_ENTITIES, ns, entities=[stored.entity_id], outcome=wrote)
        await refresh_edges(connection, ns, vanished)
        if acl_id != stored.acl_id:
            await refresh_edges_around(connection, ns, stored.entity_id)
        # A new entity without readers changes nothing that anybody has resolved before.
        if rights_changed and not (created and not entity.readers):
            await bump_rights_epoch(connection)
    return outcome


async def describe(
    connection: Connection, models: Models, ns: int, stored: Stored, acl_id: int, entity: EntityInput, text: Text | None
) -> tuple[bool, list[int]]:
    """Store what the entity says of itself, its text with it; whether that is anything new, and the facts that vanished."""
    row = await connection.fetchrow(statement("described"), ns, stored.entity_id)
    wanted, vanished = merged(row, entity), list[int]()
    overtaken = row["digest"] is not None and is_other(row, wanted) if text is None else row["digest"] != text.digest
    if overtaken:
        raise Conflict("The text of the entity was replaced while this was written; send it again.")
    if text is not None:
        wanted = replace(wanted, title=text.document.title, meta=text.document.meta)
        if is_other(row, wanted):
            vanished = await replace_text(connection, models, ns, stored.entity_id, acl_id, text.document)
    await check_entity(connection, ns, stored.entity_id, wanted.kind, wanted.type)
    if wanted == described(row):
        return False, vanished
    await connection.execute(
        statement("update_entity"), ns, stored.entity_id, row["key"], wanted.kind, wanted.type, wanted.title, wanted.status,
        wanted.source_path, json_text(wanted.meta), list(wanted.relevance_scopes), wanted.occurred_at,
    )  # fmt: skip
    return True, vanished


async def put_attributes(connection: Connection, ns: int, entity_id: int, entity: EntityInput) -> bool:
    """Store the given attributes from their instant on; without one, when they differ from those in force. True when new."""
    if entity.attributes is None:
        return False
    given = ns, entity_id, json_text(entity.attributes)
    if entity.valid_from is None:
        status: str = await connection.execute(statement("add_version"), *given)
        return not status.endswith(" 0")
    return await connection.fetchval(statement("put_version"), *given, entity.valid_from) is not None
