"""Taking out sources, entities and namespaces: nothing is left, nothing of others goes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace, delete_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.errors import BadInput, NamespaceNotFound
from retrieval.ingest.deleting import delete_entity, delete_source
from retrieval.ingest.erasing import erase_entity
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.facts import assert_facts, retract_facts
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import connect_links
from retrieval.outcomes import Deletion
from retrieval.store import Store
from tests.fixtures.edges import wrong_edges
from tests.fixtures.writing import ADMIN, DOCS, put, row_counts, rows, values

pytestmark = pytest.mark.usefixtures("ns")
KEYS = ("a.md", "b.md", "c.md")
NAMED_FACTS = """select s.key, o.key from fact f
                   join entity s on s.entity_id = subject_id join entity o on o.entity_id = object_id"""
ADD_FACT = """insert into fact (ns, fact_id, subject_id, predicate, value, evidence, has_places)
              values ($1, 7, $2, 'p', '1', 3, true)"""
ADD_PLACES = "insert into fact_place (ns, fact_id, entity_id) values ($1, 7, $2), ($1, 7, $3)"


async def fill(store: Store, ns: int) -> None:
    """Three documents that link to each other, one restricted; two with vectors, one waiting; a value and a fact of before."""
    await put(store, "a.md", "# А\n\nкот E0308 [b](b.md) [c](c.md)", attributes={"n": 1})
    await put(store, "b.md", "# Б\n\nпёс [a](a.md)", restricted=True, readers=["ann"])
    await embed_pending(store, 10)
    await put(store, "c.md", "# В\n\nёж [b](b.md) [нет](nowhere.md)")
    told = FactInput("a.md", "weighs", value=3, stated_in=("b.md",)), FactInput("a.md", "knew", "c.md")
    _, gone = await assert_facts(store.database, ADMIN, DOCS, told)
    await retract_facts(store.database, ADMIN, DOCS, [gone.fact_id])
    await refresh_statistics(store.database, ns)


async def everything(store: Store, ns: int) -> dict[str, int]:
    """Row counts once the statistics are fresh."""
    await refresh_statistics(store.database, ns)
    return await row_counts(store)


async def by_entity(store: Store) -> None:
    for key in KEYS:
        await delete_entity(store.database, ADMIN, DOCS, key)


async def by_entity_backwards(store: Store) -> None:
    for key in reversed(KEYS):
        await delete_entity(store.database, ADMIN, DOCS, key)


async def by_source_then_entity(store: Store) -> None:
    for key in KEYS:
        await delete_source(store.database, ADMIN, DOCS, key)
    await by_entity(store)


async def after_changes(store: Store) -> None:
    await put(store, "a.md", "# А\n\nвсё иначе [c](c.md)")
    await embed_pending(store, 10)
    await put(store, "a.md", "# А\n\nснова [b](b.md)", restricted=True, readers=["everyone"])
    await put(store, "b.md", "# Б\n\nпёс", restricted=False)
    await by_entity(store)


@pytest.mark.parametrize("way", [by_entity, by_entity_backwards, by_source_then_entity, after_changes])
async def test_every_way_of_deleting_leaves_every_table_as_before(
    store: Store, ns: int, way: Callable[[Store], Awaitable[None]]
) -> None:
    await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
    before = await everything(store, ns)
    await fill(store, ns)
    filled = await everything(store, ns)
    assert min(filled[table] for table in filled) > 0, filled
    await way(store)
    assert await everything(store, ns) == before


async def test_deleting_a_namespace_leaves_every_table_as_before(store: Store) -> None:
    await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
    before = await row_counts(store) | {"due": await values(store, "select count(*) from statistics_due")}
    other = await create_namespace(store.database, ADMIN, "other")
    await grant(store.database, ADMIN, "ann", "other", "WRITER")
    await put(store, "a.md", "[b](b.md)", namespace="other", restricted=True, readers=["ann"], attributes={"a": 1})
    await put(store, "b.md", "[a](a.md)", namespace="other")
    await embed_pending(store, 1)
    await refresh_statistics(store.database, other.ns)
    with pytest.raises(BadInput):
        await delete_namespace(store.database, ADMIN, "other", "Other")
    deletion = await delete_namespace(store.database, ADMIN, "other", "other")
    assert deletion.counts == {"entities": 2, "sources": 2, "fragments": 2, "facts": 2}
    assert await row_counts(store) | {"due": await values(store, "select count(*) from statistics_due")} == before
    assert await values(store, "select count(*) from namespace_role") == [0]
    with pytest.raises(NamespaceNotFound):
        await delete_namespace(store.database, ADMIN, "other", "other")


async def test_a_deleted_source_leaves_its_entity_and_the_facts_that_others_state(store: Store, ns: int) -> None:
    await put(store, "a", "[b](b)")
    await put(store, "b", "[a](a) текст")
    deletion = await delete_source(store.database, ADMIN, DOCS, "b")
    assert (deletion.deleted, deletion.counts) == (True, {"sources": 1, "fragments": 1, "facts": 1})
    assert await values(store, "select key from entity order by key") == ["a", "b"]
    assert await rows(
        store,
        NAMED_FACTS,
    ) == [("a", "b")]
    assert not (await delete_source(store.database, ADMIN, DOCS, "b")).deleted
    assert not (await delete_entity(store.database, ADMIN, DOCS, "nothing")).deleted


async def test_a_fact_with_another_place_stays(store: Store, ns: int) -> None:
    await put(store, "a", "один")
    await put(store, "b", "два")
    first, second = await values(store, "select entity_id from entity order by key")
    async with store.database.writing() as connection:
        await connection.execute(ADD_FACT, ns, first)
        await connection.execute(ADD_PLACES, ns, first, second)
    await delete_source(store.database, ADMIN, DOCS, "b")
    assert await values(store, "select count(*) from fact") == [1]
    await delete_source(store.database, ADMIN, DOCS, "a")
    assert await values(store, "select count(*) from fact") == [0]


async def test_links_to_a_deleted_entity_become_facts_again_when_it_comes_back(store: Store, ns: int) -> None:
    await put(store, "a", "[b](b)")
    await put(store, "b", "текст")
    deletion = await delete_entity(store.database, ADMIN, DOCS, "b")
    assert deletion.counts == {"sources": 1, "fragments": 1, "facts": 1, "entities": 1}
    assert await values(store, "select fact_id from link") == [None]
    await connect_links(store.database, ns)
    assert await values(store, "select count(*) from fact") == [0]
    await put(store, "b", "текст")
    assert await values(store, "select count(*) from fact") == [1]


@pytest.mark.parametrize("delete", [delete_entity, erase_entity])
async def test_a_fact_that_was_changed_to_lead_elsewhere_stays_without_its_rows_of_before(
    store: Store, ns: int, delete: Callable[..., Awaitable[Deletion]]
) -> None:
    for key in ("ticket", "ann", "bob"):
        await put(store, key, f"текст {key}")
    (first,) = await assert_facts(store.database, ADMIN, DOCS, [FactInput("ticket", "assigned_to", "ann")])
    await assert_facts(store.database, ADMIN, DOCS, [FactInput("ticket", "assigned_to", "bob", fact_id=first.fact_id)])
    deletion = await delete(store.database, ADMIN, DOCS, "ann")
    assert deletion.counts["facts"] == 0
    assert await rows(store, NAMED_FACTS) == [("ticket", "bob")]
    assert await wrong_edges(store) == ({}, {})
    deletion = await delete(store.database, ADMIN, DOCS, "bob")
    assert deletion.counts["facts"] == 1
    assert await values(store, "select count(*) from fact") == [0]
