"""A pack shares its work, and leaves out what stops being visible between its ranking and its texts."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.compilation.compilation import Compilation
from retrieval.compilation.question import Strategy, make_pack_question
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.facts import assert_facts
from retrieval.session import Session
from retrieval.store import Store
from retrieval.subgraph import EntityRef
from tests.fixtures.world import opened, session_for
from tests.fixtures.writing import ADMIN, DOCS, put

FACTS = (
    FactInput("svc", "owned_by", "ann"),
    FactInput("svc", "owned_by", "boris"),
    FactInput("svc", "uses", "db"),
    FactInput("db", "runs_on", "host"),
)


@pytest.fixture
async def store(base_url: str) -> AsyncIterator[Store]:
    """A service with two owners, which hold it at once by a predicate of one value, and what it runs on."""
    async with opened(base_url) as store:
        await create_namespace(store.database, ADMIN, DOCS)
        for key in ("svc", "ann", "boris", "db", "host"):
            await put(store, key, f"restart {key}", title=key)
        async with store.database.writing() as connection:
            await connection.execute("insert into predicate (ns, name, cardinality) select ns, 'owned_by', 'ONE' from namespace")
        await assert_facts(store.database, ADMIN, DOCS, FACTS)
        yield store


async def pack_in(session: Session, strategy: Strategy = Strategy.GRAPH, text: str = "") -> Compilation:
    asked = make_pack_question(session.store.tuning, text, anchors=[EntityRef(None, "svc")], strategy=strategy)
    return await session.pack(asked)


async def texts(pack: Compilation) -> set[str]:
    return {item.text.removesuffix(" (… – …)") for item in await pack.items}


async def test_equal_packs_of_a_request_are_one(store: Store) -> None:
    async with session_for(store, None) as session:
        assert await pack_in(session) is await pack_in(session)
        assert await pack_in(session, Strategy.BRIEFING) is not await pack_in(session)


async def test_an_entity_that_goes_takes_its_facts_and_its_conflict_with_it(store: Store) -> None:
    async with session_for(store, None) as session:
        pack = await pack_in(session)
        ranked = await pack.channels.ranked
        assert [len(group) for group in ranked.conflicts] == [2]
        await delete_entity(store.database, ADMIN, DOCS, "boris")
        said = await texts(pack)
        assert "svc owned_by ann" in said
        assert not any("boris" in text for text in said)
        assert await pack.conflicts == []
        assert not any(item.conflict for item in await pack.items)
        assert sum(item.token_estimate for item in await pack.items) == (await pack.budget).used_tokens


async def test_a_text_that_goes_is_left_out(store: Store) -> None:
    async with session_for(store, None) as session:
        pack = await pack_in(session, Strategy.EXACT, "restart")
        await pack.channels.ranked
        await delete_entity(store.database, ADMIN, DOCS, "host")
        assert await texts(pack) == {"restart svc", "restart ann", "restart boris", "restart db"}


async def test_what_goes_after_the_texts_leaves_chains_and_sources_shorter(store: Store) -> None:
    async with session_for(store, None) as session:
        pack = await pack_in(session)
        (host,) = [item.entity for item in await pack.items if item.entity is not None and item.entity.key == "host"]
        assert host is not None
        ways = await pack.ways((host.ns, host.entity_id))
        assert [fact.predicate for fact in ways] == ["runs_on", "uses"]
    async with session_for(store, None) as session:
        pack = await pack_in(session)
        await pack.items
        await delete_entity(store.database, ADMIN, DOCS, "db")
        assert await pack.ways((host.ns, host.entity_id)) == []


async def test_what_is_selected_decides_which_stages_run(store: Store) -> None:
    async with session_for(store, None) as session:
        pack = await pack_in(session)
        assert (await pack.budget).used_tokens > 0
        ran = {record.name for record in session.work.records}
        assert not {"text", "text_token_estimate", "sections", "sources", "conflicts", "items"} & ran
