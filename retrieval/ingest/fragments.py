"""Replaces the searchable text of an entity: fragments, their words, vectors or places in the queue, and links."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.database import Connection, json_text
from retrieval.ingest.documents import Document
from retrieval.ingest.indexing import indexed
from retrieval.ingest.splitting import Piece
from retrieval.ingest.sql import statement
from retrieval.ingest.stated_links import LINKS_TO, replace_links
from retrieval.model import Models
from retrieval.personal.lookup import marks_of
from retrieval.sealing import earned_seal
from retrieval.store import digest_of
from retrieval.tuning import FRAGMENTS_PER_STATEMENT


async def replace_text(
    connection: Connection, models: Models, ns: int, entity_id: int, acl_id: int, document: Document
) -> list[int]:
    """Store the pieces and links of a document in place of those before, inside the caller's transaction.

    Gives the facts that were retracted; their edges are for the end of the transaction.
    """
    await clear_text(connection, ns, entity_id)
    for start in range(0, len(document.pieces), FRAGMENTS_PER_STATEMENT):
        pieces = document.pieces[start : start + FRAGMENTS_PER_STATEMENT]
        await insert_pieces(connection, models, ns, entity_id, acl_id, document, pieces)
    await connection.execute(statement("mark_former_vectors"), ns, entity_id, *digests_of(models, document))
    targets = [link.target_key for link in document.links]
    return await replace_links(connection, ns, entity_id, document.key, targets, LINKS_TO)


async def clear_text(connection: Connection, ns: int, entity_id: int) -> None:
    """Delete the fragments of an entity; facts stated in them rest on the entity."""
    await connection.execute(statement("unqueue_entity"), ns, entity_id)
    await connection.execute(statement("move_places"), ns, entity_id)
    await connection.execute(statement("delete_fragments"), ns, entity_id)


async def insert_pieces(
    connection: Connection, models: Models, ns: int, entity_id: int, acl_id: int, document: Document, pieces: Sequence[Piece]
) -> None:
    """Store pieces with their words; each gets the vector kept for its text, or a place in the queue."""
    forms = {piece.ordinal: indexed(document.title, piece.heading, piece.text) for piece in pieces}
    rows = await connection.fetch(
        statement("insert_fragments"), ns, entity_id, acl_id, document.title, json_text(document.meta),
        [piece.ordinal for piece in pieces], [piece.heading for piece in pieces], [piece.text for piece in pieces],
        ["\n".join(piece.identifiers) for piece in pieces], [forms[piece.ordinal].words for piece in pieces],
        ["\n".join(marks_of(ns, (document.title, piece.heading, piece.text))) for piece in pieces],
        [earned_seal(document.title, piece.heading, piece.text) for piece in pieces],
    )  # fmt: skip
    model = models.current
    if model is None:
        return
    digests = {row["fragment_id"]: digest_of(model.name, forms[row["ordinal"]].embedded) for row in rows}
    given = list(digests), list(digests.values()), model.number
    reused = await connection.fetch(statement("reuse_vectors"), ns, entity_id, acl_id, *given)
    missing = digests.keys() - {row["fragment_id"] for row in reused}
    await connection.execute(statement("enqueue"), ns, sorted(missing))


def digests_of(models: Models, document: Document) -> tuple[list[int], list[bytes]]:
    """What the vectors of a document are kept by: number of the model and digest of the text, for each model of the base."""
    known = [model for model in (models.current, models.following) if model is not None]
    texts = [indexed(document.title, piece.heading, piece.text).embedded for piece in document.pieces] if known else []
    pairs = [(model.number, digest_of(model.name, text)) for model in known for text in texts]
    return [number for number, _ in pairs], [digest for _, digest in pairs]
