"""Loads many prepared documents of one fragment each into a namespace, past splitting and the queue of embeddings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
from pgvector import HalfVector

from retrieval.administration.rights import local_administrator
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database
from retrieval.errors import Conflict
from retrieval.identifiers import find_identifiers
from retrieval.ingest.edges import refresh_edges
from retrieval.ingest.indexing import indexed
from retrieval.ingest.sql import statement
from retrieval.ingest.vector_index import build_index
from retrieval.keys import key_digest
from retrieval.model import models_held
from retrieval.personal.lookup import marks_of
from retrieval.sealing import earned_seal
from retrieval.tuning import FRAGMENTS_PER_STATEMENT

Vector = np.ndarray[Any, np.dtype[np.floating[Any]]]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A document (or an episode, an observation) that is one fragment: clean text, JSON text of its meta, its vector if given."""

    key: str
    title: str
    text: str
    meta: str = "{}"
    vector: Vector | None = None
    kind: str = "DOCUMENT"
    occurred_at: datetime | None = None
    scopes: tuple[str, ...] = ()

    @property
    def embedded(self) -> str:
        """What a model would be given."""
        return indexed(self.title, "", self.text).embedded


async def load(database: Database, ns: int, documents: Iterable[Prepared]) -> AsyncIterator[dict[int, str]]:
    """Store documents batch by batch, one transaction each; gives the keys of a batch by fragment. Keys must be new.

    Raises `Conflict` when the base is given another model meanwhile: the vectors would not be of it.
    """
    left, began_with = iter(documents), None
    while batch := list(islice(left, FRAGMENTS_PER_STATEMENT)):
        async with database.writing() as connection:
            model = (await models_held(connection)).current
            began_with = began_with or model
            if model != began_with:
                raise Conflict("The base was re-embedded with another model meanwhile; load again.")
            stored = await store(connection, ns, batch)
            wrote, digests = {"created": len(stored)}, [key_digest(one.key) for one in batch]
            await note_write(
                connection, local_administrator(), Action.INGEST_SOURCES, ns, digests=digests, items=len(stored), outcome=wrote
            )
            await connection.execute(statement("mark_due"), ns)
        yield stored


async def store(connection: Connection, ns: int, batch: Sequence[Prepared]) -> dict[int, str]:
    """Store one batch inside the caller's transaction; gives the key of each fragment."""
    rows = await connection.fetch(
        statement("bulk_documents"), ns,
        [key_digest(one.key) for one in batch], [one.key for one in batch], [one.title for one in batch],
        [one.text for one in batch], [one.meta for one in batch],
        ["\n".join(find_identifiers(one.embedded)) for one in batch],
        [indexed(one.title, "", one.text).words for one in batch],
        [one.kind for one in batch], [one.occurred_at for one in batch], ["\n".join(one.scopes) for one in batch],
        ["\n".join(marks_of(ns, (one.title, one.text))) for one in batch],
        [earned_seal(one.title, "", one.text) for one in batch],
    )  # fmt: skip
    vectors = {one.key: one.vector for one in batch if one.vector is not None}
    placed = [(row, vectors[row["key"]]) for row in rows if row["key"] in vectors]
    if placed:
        await connection.execute(
            statement("bulk_vectors"), ns, [row["fragment_id"] for row, _ in placed], [row["entity_id"] for row, _ in placed],
            [HalfVector(vector) for _, vector in placed],
        )  # fmt: skip
    return {row["fragment_id"]: row["key"] for row in rows}


async def link(database: Database, ns: int, links: Sequence[tuple[str, str]]) -> None:
    """State that documents link to others, pairs of keys."""
    async with database.writing() as connection:
        stated = await connection.fetch(
            statement("bulk_links"), ns, [key_digest(start) for start, _ in links], [key_digest(end) for _, end in links]
        )
        if stated:
            made = {"created": len(stated)}
            await note_write(connection, local_administrator(), Action.ASSERT_FACTS, ns, items=len(stated), outcome=made)
        await refresh_edges(connection, ns, [row["fact_id"] for row in stated])


@asynccontextmanager
async def index_built_at_the_end(database: Database) -> AsyncIterator[None]:
    """Have no index over vectors meanwhile, and one at the end however few there are: several times as fast as filling it.

    For a base that nobody else uses.
    """
    async with database.writing() as connection:
        await connection.execute("drop index if exists fragment_vector_near")
    yield
    await build_index(database)


async def refresh_plans(database: Database) -> None:
    """Tell the planner about what was loaded; without it word search takes six times as long (locomo10: 79 s, then 12 s)."""
    async with database.writing() as connection:
        await connection.execute("set local statement_timeout = 0")
        await connection.execute(
            "analyze entity, fact, fact_place, edge, fragment, fragment_lexemes, word_statistics, fragment_statistics, "
            "namespace_statistics, acl_grant"
        )
        if await connection.fetchval("select to_regclass('fragment_vector') is not null"):
            await connection.execute("analyze fragment_vector")
