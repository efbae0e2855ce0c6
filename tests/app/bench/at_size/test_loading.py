"""What the benchmark loads at once is what the product's own writer would have stored document by document."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from app.bench.at_size.asking import open_base
from app.bench.at_size.corpus import FRAGMENTS_OF_DOCUMENT, invent
from app.bench.at_size.loading import load, namespace_names, prepared
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.ingest.documents import Document
from retrieval.ingest.fragments import replace_text
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.splitting import Piece
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import ingest_source
from retrieval.model import models_held

FRAGMENTS = """
    select f.ordinal, f.title, f.heading, f.text, f.meta::text, f.identifiers, l.words, l.lexemes::text, l.identifiers,
           l.identifier_text, f.acl_id = e.acl_id and l.acl_id = e.acl_id and l.entity_id = e.entity_id
      from fragment f join fragment_lexemes l using (ns, fragment_id) join entity e on (e.ns, e.entity_id) = (f.ns, f.entity_id)
     where e.key = $1 order by 1"""
ENTITY = """
    select key_digest, key, kind, type, title, status, source_path, meta::text, relevance_scopes, occurred_at, acl_id > 0
      from entity where key = $1"""
STATISTICS = {
    "word_statistics": "select lexeme, fragments from word_statistics order by 1",
    "fragment_statistics": "select acl_id > 0, fragments, words from fragment_statistics order by 1",
    "namespace_statistics": "select fragments from namespace_statistics where fragments > 0 order by 1",
}


async def rows(database: Database, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    async with database.reading() as connection:
        return [tuple(row) for row in await connection.fetch(query, *values)]


@pytest.mark.parametrize("restricted", [True, False])
async def test_the_rows_are_those_of_the_writer(fresh_database: Any, restricted: bool) -> None:
    corpus = invent(FRAGMENTS_OF_DOCUMENT, 1)
    loaded, written = fresh_database(), fresh_database()
    await load(loaded, corpus, restricted)
    base = await prepared(written)
    admin, space = local_administrator(), namespace_names()[int(corpus.spaces[0])]
    pieces = [Piece(ordinal, "", corpus.text(ordinal), ()) for ordinal in range(FRAGMENTS_OF_DOCUMENT)]
    other = await Database.open(written, size=2)
    try:
        ns = (await create_namespace(other, admin, space)).ns
        source = SourceInput("doc-0", "text", title=corpus.title(0), restricted=restricted)
        await ingest_source(other, base, admin, space, source)
        async with other.writing() as connection:
            ((entity_id, acl_id),) = await connection.fetch("select entity_id, acl_id from entity")
            document = Document("doc-0", corpus.title(0), "text", "text/plain", {}, tuple(pieces), ())
            await replace_text(connection, await models_held(connection), ns, entity_id, acl_id, document)
        await refresh_statistics(other, ns)
        async with open_base(loaded) as store:
            for query in (FRAGMENTS, ENTITY):
                ours = await rows(store.database, query, "doc-0")
                assert ours == await rows(other, query, "doc-0")
                assert ours
            for query in STATISTICS.values():
                assert await rows(store.database, query) == await rows(other, query)
            vectors = await rows(
                store.database, "select ns, entity_id, acl_id > 0, embedding from fragment_vector order by fragment_id"
            )
            assert len(vectors) == FRAGMENTS_OF_DOCUMENT
            assert {row[2] for row in vectors} == {restricted}
            assert np.allclose([row[3].to_numpy() for row in vectors], corpus.vectors, atol=2e-4)
    finally:
        await other.close()
