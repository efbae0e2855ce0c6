"""A base is given another model while it is written: every vector is of the new model then, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import asyncpg
import pytest

from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.errors import BadInput, Conflict
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.reembedding import abandon, amount, begin, reembed, switch
from retrieval.migrations import prepare
from retrieval.model import Model
from retrieval.ports import Vectors
from retrieval.store import Store
from tests.fixtures.embedders import DIMENSIONS, HashEmbedder
from tests.fixtures.reembedding import OTHER
from tests.fixtures.two_models import (
    MODELS,
    TABLES,
    check_vectors,
    fill,
    quiet,
    reembed_until_filled,
    values_of_one,
    with_other,
)
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
SCHEMA = """
    select c.relname, pg_get_indexdef(c.oid) from pg_class c join pg_index i on i.indexrelid = c.oid
     where i.indrelid = 'fragment_vector'::regclass and c.relname <> 'fragment_vector_near'
    union all select conname, pg_get_constraintdef(oid) from pg_constraint where conrelid = 'fragment_vector'::regclass
    union all select attname, format_type(atttypid, atttypmod) from pg_attribute
               where attrelid = 'fragment_vector'::regclass and attnum > 0
     order by 1, 2"""


@MODELS
async def test_a_base_is_given_another_model(store: Store, fresh_database: Any, name: str, dimensions: int) -> None:
    await fill(store)
    both, other = with_other(store, name=name, dimensions=dimensions)
    assert await amount(store.database) == type(await amount(store.database))(
        30, 0, sum(len(f"T{n}слово{n} пропуск") for n in range(30))
    )
    told: list[tuple[int, int]] = []
    model = await reembed(both, other, lambda done, total: told.append((done, total)))
    assert model == Model(2, name, dimensions)
    assert await check_vectors(store, other) == 30
    assert (told[0], told[-1]) == ((0, 30), (30, 30))
    assert await values(store, TABLES) == ["fragment_vector"]
    assert await values(store, "select distinct model_number from vector_cache") == [2], "vectors of the former model are gone"
    alone = fresh_database()
    await prepare(alone, search_config="russian", embedding_model=name, dimensions=dimensions)
    connection = await asyncpg.connect(alone)
    assert [tuple(row) for row in await connection.fetch(SCHEMA)] == await rows(store, SCHEMA), "as if it had never had another"
    await connection.close()
    assert await reembed(both, other, quiet) == model, "a second run finds nothing to do"


async def test_what_is_written_meanwhile_is_there_afterwards(store: Store) -> None:
    await fill(store)
    await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
    both, other = with_other(store, pause=0.02)
    task = asyncio.create_task(reembed(both, other, quiet))
    for number in range(30):
        await put(store, f"new{number}", f"свежее{number}", title=f"N{number}")
        await put(store, f"d{number}", f"слово{number} иначе", title=f"T{number}", restricted=number % 2 == 0)
        if number % 5 == 0:
            await delete_entity(store.database, ADMIN, DOCS, f"d{number}")
        await asyncio.sleep(0.01)
    await task
    while await embed_pending(both, 50):
        pass
    assert await check_vectors(store, other) == await values_of_one(store, "select count(*) from fragment") == 54
    assert await values(store, "select count(*) from embedding_queue") == [0]
    differing = "select count(*) from fragment_vector v join fragment f using (ns, fragment_id) where v.acl_id <> f.acl_id"
    assert await values(store, differing) == [0]
    assert await values_of_one(store, "select count(*) from fragment_vector where acl_id <> 0") == 12


async def test_a_right_that_was_taken_while_it_ran_holds_for_the_new_vectors(store: Store) -> None:
    await fill(store, 3)
    both, other = with_other(store, batch_size=3)
    model = await begin(store.database, other)
    assert model is not None
    await reembed_until_filled(both, other)
    await put(store, "d1", "слово1 пропуск", title="T1", restricted=True)
    assert await values(store, "select count(*) from fragment_vector_next where acl_id <> 0") == [0]
    await reembed(both, other, quiet)
    assert await values(store, "select count(*) from fragment_vector where acl_id <> 0") == [1]


async def test_a_batch_of_the_former_model_that_comes_after_the_switch_is_thrown_away(store: Store) -> None:
    await fill(store, 10)
    both, other = with_other(store, dimensions=DIMENSIONS)
    await reembed_until_filled(both, other)
    await put(store, "late", "позднее", title="L")

    class Late(HashEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            assert await switch(store.database, Model(2, OTHER, DIMENSIONS), 0)
            return await super().embed_passages(texts)

    assert await embed_pending(replace(store, embedder=Late()), 10) == 1
    while await embed_pending(both, 10):
        pass
    assert await check_vectors(store, other) == 11
    assert await embed_pending(store, 10) == 0, "whoever has the former model only claims nothing"


async def test_a_text_that_the_new_model_refuses_keeps_the_base_as_it_is_until_that_is_allowed(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    other.poison = "слово17"
    with pytest.raises(Conflict, match="1 fragments were refused"):
        await reembed(both, other, quiet)
    assert await check_vectors(store, HashEmbedder()) == 30
    assert (await reembed(both, other, quiet, allow_missing=True)).name == OTHER
    assert await check_vectors(store, other) == 29
    assert await values(store, "select count(*) from embedding_queue") == [1], "it waits, as any other"


async def test_what_a_provider_refuses_in_passing_is_asked_for_again(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    other.poison = "слово17"

    def relent(done: int, total: int) -> None:
        if done == 29:
            other.poison = ""

    assert (await reembed(both, other, relent)).name == OTHER
    assert await check_vectors(store, other) == 30


async def test_each_step_of_a_change_is_in_the_audit(store: Store) -> None:
    await fill(store)
    both, other = with_other(store)
    await reembed_until_filled(both, other)
    await abandon(store.database)
    await reembed(both, other, quiet)
    steps = "select action || ' ' || (what->>'model') from audit where ns is null order by audit_id desc limit 4"
    assert await values(store, steps) == [
        f"{step} {other.model}" for step in ("REEMBED", "BEGIN_REEMBEDDING", "ABANDON_REEMBEDDING", "BEGIN_REEMBEDDING")
    ]
    await reembed(both, other, quiet)
    assert (await values(store, "select count(*) from audit where action like '%REEMBED%'"))[0] == 4, "nothing was changed"


async def test_two_at_once_are_one(store: Store) -> None:
    await fill(store)
    (both, other), (again, second) = with_other(store, pause=0.02), with_other(store, pause=0.02)
    models = await asyncio.gather(reembed(both, other, quiet), reembed(again, second, quiet))
    assert models[0] == models[1]
    assert await check_vectors(store, other) == 30
    assert len(other.passages) + len(second.passages) == 30


async def test_a_base_without_vectors_has_nothing_to_change(fresh_database: Any, store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.execute("update base set embedding_model = null, embedding_size = null")
    both, other = with_other(store)
    with pytest.raises(BadInput, match="no vectors yet"):
        await reembed(both, other, quiet)


async def test_a_refused_text_is_told_though_others_never_stop_writing(store: Store) -> None:
    await fill(store, 6)
    both, other = with_other(store)
    other.poison = "слово3"
    embed, number = other.embed_passages, count()

    async def while_others_write(texts: Sequence[str]) -> Vectors:
        if len(texts) == 1 and other.poison in texts[0]:
            await put(store, f"new{next(number)}", "свежее")
        return await embed(texts)

    other.embed_passages = while_others_write  # type: ignore[method-assign]
    with pytest.raises(Conflict, match="1 fragments were refused"):
        await asyncio.wait_for(reembed(both, other, quiet), 60)


async def test_a_refused_text_that_is_deleted_meanwhile_stops_nothing(store: Store) -> None:
    await fill(store, 6)
    both, other = with_other(store)
    other.poison = "слово3"
    embed = other.embed_passages

    async def until_it_is_gone(texts: Sequence[str]) -> Vectors:
        if len(texts) == 1 and other.poison in texts[0]:
            await delete_entity(store.database, ADMIN, DOCS, "d3")
        return await embed(texts)

    other.embed_passages = until_it_is_gone  # type: ignore[method-assign]
    assert (await reembed(both, other, quiet)).name == OTHER
    assert await check_vectors(store, other) == 5


async def test_vectors_of_the_former_model_are_forgotten_though_a_long_reader_keeps_their_table(
    store: Store, base_url: str
) -> None:
    await fill(store)
    both, other = with_other(store)
    connection = await asyncpg.connect(base_url)
    reading = connection.transaction()
    await reading.start()
    await connection.execute("lock table fragment in access share mode")
    task = asyncio.create_task(reembed(both, other, quiet))
    async with asyncio.timeout(60):
        while await values_of_one(store, "select count(*) from vector_cache where model_number = 1"):
            await asyncio.sleep(0.05)
    assert "fragment_vector_former" in await values(store, TABLES)
    await reading.rollback()
    await connection.close()
    await task
    assert await values(store, TABLES) == ["fragment_vector"]
