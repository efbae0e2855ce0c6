"""What the mutations and the subscription about content do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Any

from resolvers.arguments import Info
from retrieval.errors import LimitExceeded
from retrieval.ingest.deleting import delete_entity as delete_entity_of
from retrieval.ingest.deleting import delete_source as delete_source_of
from retrieval.ingest.erasing import erase_entity
from retrieval.ingest.source_input import Origin, SourceInput
from retrieval.ingest.write import ingest_many
from retrieval.outcomes import Deletion, ItemResult

SOURCES_MOST = 1_000
PROGRESS_SECONDS = 0.5


def source_value(given: Any) -> SourceInput:
    """A source of the API as the value that is stored; its limits are checked there, so that one bad source stops no other."""
    origin = given.origin
    return SourceInput(
        key=given.key,
        content=given.content,
        kind=given.kind.name,
        type=given.type,
        title=given.title,
        source_path=given.source_path,
        media_type=given.media_type,
        meta=given.meta,
        attributes=given.attributes,
        status=given.status,
        relevance_scopes=given.relevance_scopes,
        restricted=given.restricted,
        readers=given.readers,
        occurred_at=given.occurred_at,
        origin=None if origin is None else Origin(origin.connector, origin.uri, origin.author, origin.fetched_at),
    )


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of each source of one namespace."""

    namespace: str
    results: Sequence[ItemResult]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a namespace is."""

    namespace: str
    fragments: int
    pending_embeddings: int


async def ingest_sources(info: Info, namespace: str, given: Sequence[Any]) -> Ingested:
    """Store sources; a result for each."""
    sources = [source_value(source) for source in given]
    if len(sources) > SOURCES_MOST:
        raise LimitExceeded(f"{len(sources):,} sources are too many for one request; send at most {SOURCES_MOST:,}.")
    store = info.context.store
    results = await ingest_many(store.database, store.base, await info.context.caller, namespace, sources)
    info.context.touched.add(namespace)
    return Ingested(namespace, results)


async def pending_embeddings(root: Ingested, info: Info) -> int:
    """Fragments of the namespace that wait for their vector, counted after the write."""
    async with info.context.again() as session:
        return await (await session.knowledge([root.namespace])).pending_embeddings


async def delete_source(info: Info, namespace: str, key: str) -> Deletion:
    """Delete the text of an entity."""
    deletion = await delete_source_of(info.context.store.database, await info.context.caller, namespace, key)
    info.context.touched.add(namespace)
    return deletion


async def delete_entity(info: Info, namespace: str, key: str, erase: bool) -> Deletion:
    """Delete an entity with all that hangs on it, or erase it with all that speaks of it."""
    delete = erase_entity if erase else delete_entity_of
    deletion = await delete(info.context.store.database, await info.context.caller, namespace, key)
    info.context.touched.add(namespace)
    return deletion


async def progress(info: Info, namespace: str) -> AsyncGenerator[Progress, None]:
    """The state of a namespace now and after each change; rights are checked again before each event."""
    last = None
    while True:
        async with info.context.again() as session:
            knowledge = await session.knowledge([namespace])
            info.context.touched.add(namespace)
            counts = await knowledge.fragment_counts
            pending = await knowledge.pending_embeddings
        now = Progress(namespace, sum(counts.values()), pending)
        if now != last:
            yield now
        last = now
        await asyncio.sleep(PROGRESS_SECONDS)
