"""The audit at work: with its write or not at all, reads for users before they leave, erased keys gone, old rows pruned."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from app.config import Settings
from app.opening import tuning_of
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, let_act, upsert_principals
from retrieval.administration.tokens import create_token
from retrieval.auditing.actions import Action
from retrieval.auditing.listing import Entry, Wanted, list_audit, prune_audit
from retrieval.errors import Forbidden
from retrieval.ingest.bulk import Prepared, load
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.entities import upsert_entities
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.erasing import erase_entity
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.facts import assert_facts
from retrieval.ingest.worker import Worker
from retrieval.store import Store
from tests.fixtures.bases import Bases
from tests.fixtures.callers import caller_of
from tests.fixtures.cutting import cut, gone
from tests.fixtures.world import opened, recorder, served
from tests.fixtures.writing import ADMIN, DOCS, put, values

HEADER = "X-On-Behalf-Of"
SEARCH = '{ search(question: "alpha", namespaces: ["docs"]) { hits { score } } }'
FOLLOW = 'subscription { ingestion(namespace: "docs") { fragments } }'


@dataclass
class Place:
    """A served base with a user `ann`, a service `bot` that may act for her, and a page in each of two namespaces."""

    store: Store
    client: httpx.AsyncClient
    tokens: dict[str, str] = field(default_factory=dict)

    async def send(
        self, query: str, user: str | None = "ann", who: str = "bot", accept: str = "application/json"
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.tokens[who]}", "Accept": accept, "X-Request-Id": "id-1"}
        return await self.client.post("/graphql", json={"query": query}, headers=headers | ({HEADER: user} if user else {}))

    async def reads(self) -> list[Entry]:
        return await listed(self.store, action=Action.READ)


async def listed(store: Store, **wanted: Any) -> list[Entry]:
    """The audit, newest first."""
    return list(await list_audit(store.database, ADMIN, Wanted(**wanted)))


@pytest.fixture(scope="module")
def filled(shared_bases: Bases) -> str:
    """A base whose readers change nothing but its audit."""
    url = shared_bases.new()

    async def work() -> None:
        async with opened(url) as store:
            for name in ("docs", "notes"):
                await create_namespace(store.database, ADMIN, name)
                await put(store, f"{name}.md", "# Page\n\nalpha", namespace=name)
            await upsert_principals(
                store.database,
                ADMIN,
                [PrincipalInput("ann", "USER"), PrincipalInput("bot", "SERVICE"), PrincipalInput("other", "USER")],
            )
            await let_act(store.database, ADMIN, "bot", True)
            for principal in ("ann", "bot"):
                for name in ("docs", "notes"):
                    await grant(store.database, ADMIN, principal, name, "WRITER")

    asyncio.run(work())
    return url


@pytest.fixture
async def place(bases_of_test: Bases, filled: str) -> AsyncIterator[Place]:
    async with opened(bases_of_test.clone(filled)) as store, served(store) as client:
        tokens = {name: (await create_token(store.database, ADMIN, name)).token for name in ("ann", "bot")}
        yield Place(store, client, tokens)


@pytest.fixture
def bases_of_test(shared_bases: Bases) -> Bases:
    """Copies for tests that write; they go with the module."""
    return shared_bases


async def counts(store: Store) -> tuple[int, ...]:
    """Rows of what a write may leave."""
    tables = ("audit", "entity", "source", "fact", "namespace_role")
    return tuple([(await values(store, f"select count(*) from {table}"))[0] for table in tables])  # noqa: S608


async def break_at(store: Store, table: str) -> None:
    """Let every insert into a table fail from here on, at the end of whatever else a transaction does."""
    async with store.database.writing() as connection:
        await connection.execute(f"alter table {table} add constraint broken check (false) not valid")


# ------------------------------------------------------------------------------------------------ one transaction


@pytest.mark.parametrize("table", ["audit", "edge"])
async def test_neither_write_nor_row_is_there_when_either_fails(place: Place, table: str) -> None:
    """`audit` fails in the row, `edge` after it: facts become edges last of all."""
    store = place.store
    fact = FactInput("docs.md", "mentions", "docs.md")
    await upsert_entities(store.database, ADMIN, DOCS, [EntityInput("svc", "service", "S")])
    before = await counts(store)
    await break_at(store, table)
    with pytest.raises(Exception, match="broken"):
        await assert_facts(store.database, ADMIN, DOCS, [FactInput("docs.md", "mentions", "svc"), fact])
    if table == "audit":
        assert (await put(store, "new.md", "text")).code == "INTERNAL"
        with pytest.raises(Exception, match="broken"):
            await grant(store.database, ADMIN, "other", DOCS)
        with pytest.raises(Exception, match="broken"):
            await delete_entity(store.database, ADMIN, DOCS, "docs.md")
    assert await counts(store) == before


async def test_a_refused_write_and_one_that_changes_nothing_leave_no_row(place: Place) -> None:
    store = place.store
    ann, other = await caller_of(store, "ann"), await caller_of(store, "other")
    before = len(await listed(store))
    with pytest.raises(Forbidden):
        await create_namespace(store.database, ann, "mine")
    with pytest.raises(Forbidden):
        await delete_entity(store.database, ann, DOCS, "docs.md")
    assert (await put(store, "docs.md", "# Page\n\nalpha")).outcome.value == "UNCHANGED"
    assert not (await delete_entity(store.database, ADMIN, DOCS, "nothing")).deleted
    assert (await assert_facts(store.database, ADMIN, DOCS, [FactInput("nobody", "p", "docs.md")]))[0].code == "BAD_INPUT"
    with pytest.raises(Forbidden):
        await list_audit(store.database, other, Wanted())
    assert len(await listed(store)) == before


async def test_many_written_at_once_are_one_row(place: Place) -> None:
    store = place.store
    (ns,) = await values(store, "select ns from namespace where name = 'docs'")
    async for _ in load(store.database, ns, [Prepared(f"p{number}", "T", "text") for number in range(50)]):
        pass
    facts = [FactInput(f"p{number}", "mentions", "docs.md") for number in range(20)]
    await assert_facts(store.database, ADMIN, DOCS, [*facts, FactInput("nobody", "mentions", "docs.md")])
    second, first = await listed(store, limit=2)
    assert (first.action, first.items, first.outcome, len(first.keys)) == ("INGEST_SOURCES", 50, {"created": 50}, 50)
    assert (second.action, second.items, second.outcome) == ("ASSERT_FACTS", 21, {"created": 20, "failed": 1})
    assert set(second.keys) == {"docs.md", *(f"p{number}" for number in range(20))}
    assert len(await listed(store, key="p7")) == 2


# ------------------------------------------------------------------------------------------------ what services read for users


async def test_a_service_that_reads_for_a_user_is_noted_and_who_reads_for_itself_costs_nothing(place: Place) -> None:
    assert (await place.send(SEARCH)).status_code == 200
    (row,) = await place.reads()
    assert (row.principal, row.service, row.namespaces, row.request_id) == ("ann", "bot", ("docs",), "id-1")
    assert (row.what, row.keys, row.outcome) == ({"operation": "query"}, (), {})
    (id,) = (await place.send('{ entity(namespace: "notes", key: "notes.md") { id } }')).json()["data"]["entity"].values()
    recorder(place.store).forget()
    assert (await place.send(f'{{ nodes(ids: ["{id}"]) {{ id }} }}')).status_code == 200
    assert recorder(place.store).counted["note_read"] == 1
    assert [one.namespaces for one in await place.reads()] == [("notes",), ("notes",), ("docs",)]
    assert (await place.send("{ viewer { principal } }")).status_code == 200
    written = '{ ingestSources(input: {namespace: "docs", sources: [{key: "b", content: "x"}]}) { results { code } } }'
    assert (await place.send(f"mutation {written}")).status_code == 200
    read, wrote = await listed(place.store, principal="bot", limit=2)
    assert [(one.action, one.principal, one.service, one.request_id) for one in (read, wrote)] == [
        ("READ", "ann", "bot", "id-1"),
        ("INGEST_SOURCES", "ann", "bot", "id-1"),
    ]
    before = len(await place.reads())
    recorder(place.store).forget()
    for who in ("ann", "bot"):
        assert (await place.send(SEARCH, None, who)).status_code == 200
    assert (await place.send("{ search { hits } }")).json()["errors"], "which reads nothing, so that it leaves nothing"
    assert "note_read" not in recorder(place.store).counted
    assert len(await place.reads()) == before


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_what_cannot_be_noted_is_not_answered(place: Place, accept: str) -> None:
    assert "score" in (await place.send(SEARCH, accept=accept)).text
    async with place.store.database.writing() as connection:
        await connection.execute("alter table audit rename to audit_away")
    answer = (await place.send(SEARCH, accept=accept)).text
    assert "INTERNAL" in answer
    assert "score" not in answer
    assert "score" in (await place.send(SEARCH, None, "ann", accept)).text


async def test_a_read_only_database_refuses_a_service_and_answers_the_user(place: Place) -> None:
    direct = await asyncpg.connect(place.store.database.url)
    name = await direct.fetchval("select current_database()")
    await direct.execute(f'alter database "{name}" set default_transaction_read_only = on')
    processes = await cut(direct)
    await direct.close()
    async with asyncio.timeout(60):
        while "READ_ONLY" not in (answer := (await place.send(SEARCH)).text):
            assert "DATABASE_UNAVAILABLE" in answer, "cut connections are given back one by one"
    assert "score" not in answer
    await gone(processes)
    assert "score" in (await place.send(SEARCH, None, "ann")).text


async def test_a_subscription_leaves_one_row_before_its_first_event(place: Place) -> None:
    url = f"ws://{place.client.base_url.host}:{place.client.base_url.port}/graphql"
    async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
        payload = {"Authorization": f"Bearer {place.tokens['bot']}", HEADER: "ann"}
        await socket.send(json.dumps({"type": "connection_init", "payload": payload}))
        await socket.recv()
        await socket.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": FOLLOW}}))
        for number in (1, 2):
            event = json.loads(await asyncio.wait_for(socket.recv(), 60))
            assert event["type"] == "next", event
            (row,) = await place.reads()
            assert (row.what, row.namespaces) == ({"operation": "subscription"}, ("docs",))
            await put(place.store, f"more-{number}.md", "beta")


# ------------------------------------------------------------------------------------------------ what goes, and what stays


async def test_of_what_is_erased_nothing_is_left_but_what_its_key_still_finds(place: Place) -> None:
    store, key = place.store, "ann-zqxwv"
    await put(store, key, "# Ann\n\nzqxwv.")
    await assert_facts(store.database, ADMIN, DOCS, [FactInput(key, "reads", "docs.md")])
    assert [one.keys for one in await listed(store, key=key)] == [(key, "docs.md"), (key,)]
    await erase_entity(store.database, ADMIN, DOCS, key)
    found = await listed(store, key=key)
    assert [(one.action, one.keys) for one in found] == [
        ("ERASE_ENTITY", ()), ("ASSERT_FACTS", ("docs.md",)), ("INGEST_SOURCES", ())
    ]  # fmt: skip
    assert await values(store, "select 1 from audit a where lower(a::text) like '%zqxwv%'") == []
    assert await listed(store, key="ann-other") == []
    (digest,) = await values(store, "select encode(sha256(convert_to($1, 'UTF8')), 'hex')", key)
    assert await values(store, "select 1 from audit a where a::text like '%' || left($1, 32) || '%'", digest) == []


async def test_what_was_erased_along_is_found_by_its_own_key_too(place: Place) -> None:
    store = place.store
    await put(store, "ann", "# Ann")
    await put(store, "seen-1", "Ann was here.", kind="OBSERVATION", about=["ann"])
    await erase_entity(store.database, ADMIN, DOCS, "ann")
    for key in ("ann", "seen-1"):
        assert (await listed(store, key=key))[0].action == "ERASE_ENTITY", key
    assert [one.outcome["observations"] for one in await listed(store, key="seen-1", action=Action.ERASE_ENTITY)] == [1]


async def test_old_rows_are_pruned_and_none_is_when_they_are_kept_for_ever(place: Place) -> None:
    store = place.store
    all_of_them = len(await listed(store))
    async with store.database.writing() as connection:
        await connection.execute("update audit set at = at - interval '40 days' where action = 'GRANT'")
    old = len(await listed(store, action=Action.GRANT))
    assert old > 0
    assert await prune_audit(store.database, 0) == 0
    assert await prune_audit(store.database, 41) == 0
    assert await prune_audit(store.database, 30) == old
    assert len(await listed(store)) == all_of_them - old
    async with store.database.writing() as connection:
        await connection.execute("update audit set at = at - interval '366 days'")
    await put(store, "new.md", "gamma")
    await Worker(store).prune()
    assert [one.keys for one in await listed(store)] == [("new.md",)]
    assert tuning_of(Settings(audit_ttl_days=7)).audit_days == 7
