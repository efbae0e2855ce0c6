"""Under a pack, facts and things that it does not declare are refused at every way in, and the others are stored."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.domain.applying import apply_pack
from retrieval.domain.reading import pack_of
from retrieval.ingest.entities import upsert_entities
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.facts import Assertions, assert_facts
from retrieval.outcomes import FactResult, ItemResult
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, put, values

PACK = {
    "name": "team", "version": "1.0.0", "types": {"person": {}, "ticket": {}},
    "predicates": {
        "assigned_to": {"cardinality": "one", "subjects": ["ticket"], "objects": ["person"]},
        "estimate": {"subjects": ["ticket"], "value": "integer"},
    },
}  # fmt: skip


@pytest.fixture(autouse=True)
async def team(store: Store) -> None:
    """The namespace `docs` under the pack, with two people and a ticket."""
    await create_namespace(store.database, ADMIN, DOCS)
    await apply_pack(store.database, ADMIN, DOCS, pack_of(PACK))
    stored = await things(store, ("ann", "person"), ("bob", "person"), ("job", "ticket"))
    assert {one.outcome for one in stored} == {"CREATED"}


async def things(store: Store, *given: tuple[str, str]) -> Sequence[ItemResult]:
    """Store things by key and type."""
    return await upsert_entities(store.database, ADMIN, DOCS, [EntityInput(key, type_, key) for key, type_ in given])


async def facts(store: Store, *given: FactInput) -> Sequence[FactResult]:
    """Assert facts."""
    return await assert_facts(store.database, ADMIN, DOCS, given)


async def test_a_fact_that_is_not_declared_is_refused_and_stops_no_other(store: Store) -> None:
    results = await facts(
        store,
        FactInput("job", "asigned_to", object="ann"),
        FactInput("ann", "assigned_to", object="job"),
        FactInput("job", "assigned_to", value="ann"),
        FactInput("job", "estimate", value="three"),
        FactInput("job", "estimate", value=3),
        FactInput("job", "assigned_to", object="ann"),
        FactInput("job", "assigned_to", object="bob"),
    )
    assert [one.code for one in results] == ["BAD_INPUT"] * 4 + [None] * 3
    said = [one.message or "" for one in results]
    wanted = ["did you mean 'assigned_to'", "said of 'ticket'", "leads to an entity", "takes a whole number"]
    for words, message in zip(wanted, said, strict=False):
        assert words in message
    assert results[6].conflicts_with == (results[5].fact_id,)
    closed = await facts(store, FactInput("job", "estimate", fact_id=results[4].fact_id, evidence=2))
    assert closed[0].code is None
    changed = await facts(store, FactInput("job", "estimate", fact_id=results[4].fact_id, value="four"))
    assert "takes a whole number" in (changed[0].message or "")


async def test_a_thing_of_another_type_is_refused_and_a_text_is_not(store: Store) -> None:
    (refused,) = await things(store, ("r2", "preson"))
    assert (refused.outcome, refused.code) == ("FAILED", "BAD_INPUT")
    assert "did you mean 'person'" in (refused.message or "")
    assert (await put(store, "page", "text", type="page")).outcome == "CREATED"
    assert (await put(store, "robot", "text", type="robot", kind="THING")).code == "BAD_INPUT"
    assert (await put(store, "carl", "text", type="person", kind="THING")).outcome == "CREATED"


async def test_a_thing_keeps_the_type_that_its_facts_need(store: Store) -> None:
    await facts(store, FactInput("job", "assigned_to", object="ann"))
    for key, type_ in (("job", "person"), ("ann", "ticket")):
        (refused,) = await things(store, (key, type_))
        assert "facts about it that do not allow it" in (refused.message or "")
    assert [one.outcome for one in await things(store, ("bob", "ticket"), ("ann", "person"))] == ["UPDATED", "UNCHANGED"]


@pytest.mark.parametrize(("key", "type_"), [("ann", "ticket"), ("job", "person")])
async def test_a_thing_gets_no_type_that_a_fact_does_not_allow_that_is_being_stored(store: Store, key: str, type_: str) -> None:
    (ns,) = await values(store, "select ns from namespace where name = $1", DOCS)
    async with store.database.writing() as connection:
        (stored,) = await Assertions(connection, ns).write([FactInput("job", "assigned_to", object="ann")])
        changing = asyncio.create_task(things(store, (key, type_)))
        await asyncio.sleep(0.2)
    assert stored.code is None
    (changed,) = await changing
    assert (changed.code, "there are facts about it" in (changed.message or "")) == ("BAD_INPUT", True)


async def test_facts_are_held_to_the_types_that_things_have_got_while_they_waited(store: Store) -> None:
    async with store.database.writing() as connection:
        await connection.execute("select from entity where key = 'ann' for update")
        await connection.execute("update entity set type = 'ticket' where key = 'ann'")
        asserting = asyncio.create_task(facts(store, FactInput("job", "assigned_to", object="ann")))
        await asyncio.sleep(0.2)
    (refused,) = await asserting
    assert refused.code == "BAD_INPUT"
