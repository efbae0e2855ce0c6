"""Loads an invented corpus into a base: many documents a statement, into the rows that the product's writer would make."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from typing import Any

from pgvector import HalfVector

from app.bench.at_size.corpus import FRAGMENTS_OF_DOCUMENT, NAMESPACES, Corpus
from app.config import LOCAL_MODEL, Settings
from app.providers.local import DIMENSIONS
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.identifiers import find_identifiers
from retrieval.ingest.bulk import index_built_at_the_end, refresh_plans
from retrieval.ingest.indexing import indexed
from retrieval.ingest.statistics import refresh_statistics
from retrieval.keys import key_digest
from retrieval.migrations import Base, prepare
from retrieval.sealing import earned_seal

DOCUMENTS_OF_STATEMENT = 200
# Of each document: $1 namespace, $2 digest of the key, $3 key, $4 title; $5 whether each is restricted by itself.
# Of each fragment: $6 place of its document, $7 ordinal, $8 text, $9 identifiers by line, $10 text that words are made from,
# $11 seal, $12 vector
STORE = """
    with documents as materialized (
        select * from unnest($1::int[], $2::bytea[], $3::text[], $4::text[])
                 with ordinality as d(ns, key_digest, key, title, place)
    ), made as (
        insert into entity (ns, acl_id, key_digest, key, kind, type, title)
        select d.ns, case when $5 then nextval('acl_id') else 0 end, d.key_digest, d.key, 'DOCUMENT', 'document', d.title
          from documents d order by d.place
        returning ns, entity_id, acl_id, key_digest, title
    ), pieces as materialized (
        select d.key_digest, p.ordinal, p.text, p.identifier_text, p.embedding, p.seal,
               to_tsvector((select b.search_config from base b), p.words) as lexemes
          from unnest($6::int[], $7::int[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::halfvec[])
               as p(place, ordinal, text, identifier_text, words, seal, embedding)
          join documents d using (place)
    ), stored as (
        insert into fragment (ns, entity_id, acl_id, ordinal, title, heading, text, identifiers, seal)
        select m.ns, m.entity_id, m.acl_id, p.ordinal, m.title, '', p.text, string_to_array(p.identifier_text, E'\\n'),
               p.seal
          from pieces p join made m using (key_digest) order by m.entity_id, p.ordinal
        returning ns, fragment_id, entity_id, acl_id, ordinal, identifiers
    ), placed as materialized (
        select s.*, p.lexemes, p.identifier_text, p.embedding
          from stored s join made m using (ns, entity_id) join pieces p using (key_digest, ordinal)
    ), worded as (
        insert into fragment_lexemes (ns, fragment_id, entity_id, acl_id, words, lexemes, identifiers, identifier_text)
        select p.ns, p.fragment_id, p.entity_id, p.acl_id,
               (select coalesce(sum(cardinality(l.positions)), 0) from unnest(p.lexemes) l),
               p.lexemes, p.identifiers, p.identifier_text
          from placed p order by p.fragment_id
    )
    insert into fragment_vector (ns, fragment_id, entity_id, acl_id, embedding)
    select p.ns, p.fragment_id, p.entity_id, p.acl_id, p.embedding from placed p order by p.fragment_id"""

Values = tuple[Any, ...]


async def prepared(url: str) -> Base:
    """Migrate the database as a server would that uses the model in the package."""
    config = Settings.model_fields["fts_config"].default
    return await prepare(url, search_config=config, embedding_model=LOCAL_MODEL, dimensions=DIMENSIONS)


async def load(url: str, corpus: Corpus, restricted: bool) -> None:
    """Fill an empty database; with `restricted` every document has a permission set of its own, without it all are open."""
    await prepared(url)
    database = await Database.open(url, size=2)
    try:
        spaces = [(await create_namespace(database, local_administrator(), name)).ns for name in namespace_names()]
        async with index_built_at_the_end(database):
            await store(database, corpus, spaces, restricted)
            for ns in spaces:
                await refresh_statistics(database, ns)
        await refresh_plans(database)
    finally:
        await database.close()


def namespace_names() -> list[str]:
    """The namespaces, largest first."""
    return [f"space-{number}" for number in range(NAMESPACES)]


async def store(database: Database, corpus: Corpus, spaces: list[int], restricted: bool) -> None:
    """Store all documents in order; the next ones are made ready while the database works."""
    batches = (batch_values(corpus, spaces, batch, restricted) for batch in batches_of(range(corpus.documents)))
    ready = await asyncio.to_thread(next, batches, None)
    while ready is not None:
        async with database.writing() as connection:
            await connection.execute("set local statement_timeout = 0")
            _, ready = await asyncio.gather(connection.execute(STORE, *ready), asyncio.to_thread(next, batches, None))


def batches_of(documents: range) -> Iterator[range]:
    """The documents of each statement."""
    for start in documents[::DOCUMENTS_OF_STATEMENT]:
        yield documents[start : start + DOCUMENTS_OF_STATEMENT]


def batch_values(corpus: Corpus, spaces: list[int], documents: range, restricted: bool) -> Values:
    """The parameters of `STORE`."""
    titles = [corpus.title(document) for document in documents]
    fragments = range(documents.start * FRAGMENTS_OF_DOCUMENT, documents.stop * FRAGMENTS_OF_DOCUMENT)
    texts = [corpus.text(fragment) for fragment in fragments]
    forms = [indexed(titles[at // FRAGMENTS_OF_DOCUMENT], "", text) for at, text in enumerate(texts)]
    keys = [f"doc-{document}" for document in documents]
    places = itertools.product(range(1, len(documents) + 1), range(FRAGMENTS_OF_DOCUMENT))
    return (
        [spaces[corpus.spaces[document]] for document in documents], [key_digest(key) for key in keys], keys, titles, restricted,
        *map(list, zip(*places, strict=True)),
        texts, ["\n".join(find_identifiers(form.embedded)) for form in forms], [form.words for form in forms],
        [earned_seal(titles[at // FRAGMENTS_OF_DOCUMENT], "", text) for at, text in enumerate(texts)],
        [HalfVector(corpus.vectors[fragment]) for fragment in fragments],
    )  # fmt: skip


async def places_of(database: Database) -> dict[tuple[int, int], int]:
    """The place in the corpus of each fragment, by namespace and id."""
    async with database.reading() as connection:
        rows = await connection.fetch(
            "select f.ns, f.fragment_id, f.ordinal, substr(e.key, 5)::int as document "
            "from fragment f join entity e using (ns, entity_id)"
        )
    return {(row["ns"], row["fragment_id"]): row["document"] * FRAGMENTS_OF_DOCUMENT + row["ordinal"] for row in rows}
