"""Replaces the searchable text of an entity: fragments, their words, vectors or places in the queue, and links."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.database import Connection, json_text
from retrieval.ingest.documents import Document
from retrieval.ingest.indexing import indexed
from retrieval.ingest.links import Link
from retrieval.ingest.splitting import Piece
from retrieval.ingest.sql import statement
from retrieval.keys import key_digest
from retrieval.migrations import Base
from retrieval.store import digest_of
from retrieval.tuning import FRAGMENTS_PER_STATEMENT


async def replace_text(connection: Connection, base: Base, ns: int, entity_id: int, acl_id: int, document: Document) -> list[int]:
    """Store the pieces and links of a document in place of those before, inside the caller's transaction.

    Gives the facts that were retracted; their edges are for the end of the transaction.
    """
    await clear_text(connection, ns, entity_id)
    for start in range(0, len(document.pieces), FRAGMENTS_PER_STATEMENT):
        pieces = document.pieces[start : start + FRAGMENTS_PER_STATEMENT]
        await insert_pieces(connection, base, ns, entity_id, acl_id, document, pieces)
    return await replace_links(connection, ns, entity_id, document.key, document.links)


async def clear_text(connection: Connection, ns: int, entity_id: int) -> None:
    """Delete the fragments of an entity; facts stated in them rest on the entity."""
    await connection.execute(statement("unqueue_entity"), ns, entity_id)
    await connection.execute(statement("move_places"), ns, entity_id)
    await connection.execute(statement("delete_fragments"), ns, entity_id)


async def insert_pieces(
    connection: Connection, base: Base, ns: int, entity_id: int, acl_id: int, document: Document, pieces: Sequence[Piece]
) -> None:
    """Store pieces with their words; each gets the vector kept for its text, or a place in the queue."""
    forms = {piece.ordinal: indexed(document.title, piece.heading, piece.text) for piece in pieces}
    rows = await connection.fetch(
        statement("insert_fragments"), ns, entity_id, acl_id, document.title, json_text(document.meta),
        [piece.ordinal for piece in pieces], [piece.heading for piece in pieces], [piece.text for piece in pieces],
        ["\n".join(piece.identifiers) for piece in pieces], [forms[piece.ordinal].words for piece in pieces],
    )  # fmt: skip
    if base.embedding_model is None or base.dimensions is None:
        return
    digests = {row["fragment_id"]: digest_of(base.embedding_model, forms[row["ordinal"]].embedded) for row in rows}
    reused = await connection.fetch(statement("reuse_vectors"), ns, entity_id, acl_id, list(digests), list(digests.values()))
    missing = digests.keys() - {row["fragment_id"] for row in reused}
    await connection.execute(statement("enqueue"), ns, sorted(missing))


async def replace_links(connection: Connection, ns: int, entity_id: int, key: str, links: Sequence[Link]) -> list[int]:
    """Store the links of a document; gives the facts of links that vanished, which are retracted."""
    targets = {key_digest(link.target_key): link.target_key for link in links}
    targets.pop(key_digest(key), None)
    removed = await connection.fetch(statement("remove_links"), ns, entity_id, list(targets))
    vanished = [row["fact_id"] for row in removed if row["fact_id"] is not None]
    if vanished:
        await connection.execute(statement("retract_facts"), ns, vanished)
    if targets:
        await connection.execute(statement("add_links"), ns, entity_id, list(targets), list(targets.values()))
    return vanished
