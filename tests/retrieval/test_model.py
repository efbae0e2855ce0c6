"""Whoever writes goes by the model that the base holds now, whatever it held when the process began."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.database import Database
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.reembedding import begin, switch
from retrieval.migrations import prepare
from retrieval.model import Model, models_held, models_of
from retrieval.store import Store
from retrieval.tuning import Tuning
from tests.fixtures.embedders import DIMENSIONS, MODEL, HashEmbedder
from tests.fixtures.reembedding import OTHER, OtherEmbedder
from tests.fixtures.writing import ADMIN, DOCS, put, values

FRAGMENT = """
    with e as (insert into entity (ns, key_digest, key, kind, type, title)
               select ns, 'x', 'x', 'DOCUMENT', 'document', '' from namespace returning *)
    insert into fragment (ns, entity_id, acl_id, ordinal, title, heading, text) select ns, entity_id, 0, 0, '', '', 'x' from e"""


@pytest.fixture
async def without(database_url: str) -> AsyncIterator[Store]:
    """A server without a provider on a new base, with a namespace."""
    base = await prepare(database_url, search_config="russian", embedding_model=None, dimensions=None)
    database = await Database.open(database_url, acquire_seconds=20)
    await create_namespace(database, ADMIN, DOCS)
    yield Store(database, base, Tuning(), None)
    await database.close()


async def opened_beside(store: Store) -> Store:
    """A server with a provider that starts on the same base later."""
    base = await prepare(store.database.url, search_config="russian", embedding_model=MODEL, dimensions=DIMENSIONS)
    return Store(store.database, base, Tuning(), HashEmbedder())


async def test_a_server_without_a_provider_writes_for_those_that_have_one(without: Store) -> None:
    await put(without, "a", "до")
    assert await values(without, "select count(*) from embedding_queue") == [0]
    later = await opened_beside(without)
    await put(without, "b", "после")
    assert await values(without, "select count(*) from embedding_queue") == [2], "what was there, and what came after"
    assert await embed_pending(without, 10) == 0
    assert await embed_pending(later, 10) == 2
    await put(without, "b", "после", restricted=True)
    acls = await values(
        without, "select acl_id > 0 from fragment_vector v join fragment f using (ns, fragment_id, acl_id) order by 1"
    )
    assert acls == [False, True], "the right is on the vector too"


async def test_the_table_of_vectors_is_made_after_those_who_are_writing(without: Store) -> None:
    async with without.database.writing() as connection:
        assert (await models_held(connection)).current is None
        making = asyncio.create_task(opened_beside(without))
        await asyncio.sleep(0.4)
        assert not making.done(), "else the fragment would miss the queue"
        await connection.execute(FRAGMENT)
    await making
    assert await values(without, "select count(*) from embedding_queue") == [1]


async def test_a_switch_waits_for_those_who_are_writing(store: Store) -> None:
    model = await begin(store.database, OtherEmbedder())
    assert model is not None
    async with store.database.writing() as connection:
        assert (await models_held(connection)).current == Model(1, MODEL, DIMENSIONS)
        with pytest.raises(Exception, match="lock timeout"):
            await switch(store.database, model, 0)
    assert await switch(store.database, model, 0)
    async with store.database.reading() as connection:
        models = await models_of(connection)
    assert (models.current, models.following) == (Model(2, OTHER, model.dimensions), None)
