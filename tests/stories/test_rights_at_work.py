"""Rights in the middle of things: between pages, in open sockets, with thousands of readers, whatever the clock says."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from retrieval.administration.grants import grant, revoke
from retrieval.administration.members import set_members
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.tokens import revoke_token
from retrieval.store import QuestionVectors
from tests.fixtures.desk import Desk, with_namespace
from tests.fixtures.world import recorder
from tests.fixtures.writing import ADMIN, DOCS, values

PAGE = """query($after: String) { entity(namespace: "docs", key: "a") {
    id fragments(first: 1, after: $after) { nodes { id text } pageInfo { endCursor } totalCount } } }"""
PROGRESS = 'subscription { ingestion(namespace: "docs") { fragments } }'


@pytest.fixture
async def house(desk: Desk) -> Desk:
    """Ann and Bob; Ann reads `docs`, which holds a document of two parts."""
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput(name, "USER") for name in ("ann", "bob")])
    await grant(desk.store.database, ADMIN, "ann", DOCS)
    await desk.fill({"a": "# Один\n\nзебра первая\n\n# Два\n\nзебра вторая"})
    await desk.settle()
    return desk


@asynccontextmanager
async def socket(desk: Desk, token: str) -> AsyncIterator[ClientConnection]:
    """A greeted socket."""
    url = f"ws://{desk.client.base_url.host}:{desk.client.base_url.port}/graphql"
    async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as connection:
        await connection.send(json.dumps({"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}}))
        assert json.loads(await connection.recv())["type"] == "connection_ack"
        yield connection


async def heard(connection: ClientConnection) -> Any:
    """The next message, within five seconds."""
    return json.loads(await asyncio.wait_for(connection.recv(), 30))


async def test_nothing_of_what_is_revoked_comes_after_it(house: Desk) -> None:
    token = await house.token("ann")
    first = (await house.ask(PAGE, token))["entity"]
    cursor, ids = first["fragments"]["pageInfo"]["endCursor"], [first["id"], first["fragments"]["nodes"][0]["id"]]
    await revoke(house.store.database, ADMIN, "ann", DOCS)
    for after in (cursor, None):
        assert await house.refusal(PAGE, token, after=after) == "NAMESPACE_NOT_FOUND"
    assert await house.ask("query($ids: [ID!]!) { nodes(ids: $ids) { id } }", token, ids=ids) == {"nodes": [None, None]}
    assert await house.find("зебра", token=token) == []


async def test_a_cursor_is_good_for_its_own_caller_only(house: Desk) -> None:
    await grant(house.store.database, ADMIN, "bob", DOCS)
    cursor = (await house.ask(PAGE, await house.token("ann")))["entity"]["fragments"]["pageInfo"]["endCursor"]
    answer = (await house.send(PAGE, await house.token("bob"), after=cursor)).json()
    assert [error["extensions"]["code"] for error in answer["errors"]] == ["BAD_CURSOR"]


async def test_what_one_caller_asked_is_asked_anew_for_the_next(house: Desk) -> None:
    house.store.question_vectors = QuestionVectors(100)
    ann, bob = await house.token("ann"), await house.token("bob")
    query = '{ search(question: "зебра") { hits { fragment { text } } vector { score } context } }'
    recorder(house.store).forget()
    for _ in range(3):
        assert len((await house.ask(query, ann))["search"]["hits"]) == 2
        assert (await house.ask(query, bob))["search"]["hits"] == []
    assert len(recorder(house.store).calls) == 1, "the vector of a question holds nothing of a base and is shared"
    assert recorder(house.store).counted["vector_exact+lexical"] == 3, "bob has nowhere to look"


@pytest.mark.parametrize("change", ["the grant", "the token"])
async def test_an_open_stream_ends_within_five_seconds_of_a_revocation(house: Desk, change: str) -> None:
    token = await house.token("ann")
    async with socket(house, token) as connection:
        await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": PROGRESS}}))
        assert (await heard(connection))["payload"]["data"] == {"ingestion": {"fragments": 2}}
        if change == "the grant":
            await revoke(house.store.database, ADMIN, "ann", DOCS)
        else:
            (token_id,) = await values(house.store, "select token_id from token")
            await revoke_token(house.store.database, ADMIN, token_id)
        await house.fill({"new": "тайна"})
        last = await heard(connection)
        assert "fragments" not in json.dumps(last)
        assert ("NAMESPACE_NOT_FOUND" if change == "the grant" else "UNAUTHENTICATED") in json.dumps(last)


async def test_a_document_may_have_ten_thousand_readers(house: Desk) -> None:
    await house.write({"key": "secret", "content": "тайная зебра", "restricted": True, "readers": ["ann"]})
    database = house.store.database
    for start in range(0, 10_000, 1_000):
        await upsert_principals(database, ADMIN, [PrincipalInput(f"p{number}", "USER") for number in range(start, start + 1_000)])
    async with database.writing() as connection:
        await connection.execute(
            "insert into acl_grant select ns, acl_id, principal_id from entity, principal where key = 'secret' "
            "and name like 'p%' and name not in ('p1', 'p9999')"
        )
        await connection.execute("select bump_rights_epoch()")
    for name in ("p1", "p2", "p9999"):
        await grant(database, ADMIN, name, DOCS)
    await grant(database, ADMIN, "p9999", DOCS, entity_key="secret")
    started = time.monotonic()
    seen = {name: "secret" in await house.find("зебра", token=await house.token(name)) for name in ("ann", "p1", "p2", "p9999")}
    assert seen == {"ann": True, "p1": False, "p2": True, "p9999": True}
    assert time.monotonic() - started < 30


async def test_groups_may_hold_themselves_and_each_other_a_thousand_deep(house: Desk) -> None:
    database = house.store.database
    names = [f"g{number}" for number in range(1_000)]
    await upsert_principals(database, ADMIN, [PrincipalInput(name, "GROUP") for name in names])
    async with database.writing() as connection:
        await connection.execute(
            "insert into membership select g.principal_id, m.principal_id from generate_series(0, 998) n "
            "join principal g on g.name = 'g' || (n + 1) join principal m on m.name = 'g' || n"
        )
    await set_members(database, ADMIN, "g0", ["g0", "g999", "bob"])
    await grant(database, ADMIN, "g999", DOCS)
    token = await house.token("bob")
    started = time.monotonic()
    assert await house.find("зебра", token=token) == ["a", "a"]
    assert time.monotonic() - started < 30
    await set_members(database, ADMIN, "g500", ["g500"])
    assert await house.find("зебра", token=token) == []


async def test_the_clock_of_the_database_decides_when_a_token_ends(house: Desk) -> None:
    token = await house.token("ann")
    for interval, is_good in (("1 minute", True), ("-1 millisecond", False), ("1 hour", True)):
        async with house.store.database.writing() as connection:
            await connection.execute(f"update token set expires_at = clock_timestamp() + interval '{interval}'")  # noqa: S608
        answer = await house.send("{ viewer { principal } }", token)
        assert (answer.status_code == 200) is is_good, interval


async def test_equal_names_in_two_houses_share_no_right(house: Desk) -> None:
    await with_namespace(house, "other")
    await house.fill({"a": "чужая зебра"}, "other")
    token = await house.token("ann")
    assert await house.find("зебра", token=token) == ["a", "a"]
    assert await house.refusal('{ entity(namespace: "other", key: "a") { key } }', token) == "NAMESPACE_NOT_FOUND"
    found = await house.ask("{ viewer { namespaces { name } } knowledge { namespaces { name fragmentCount } } }", token)
    assert found["viewer"]["namespaces"] == [{"name": DOCS}]
    assert found["knowledge"]["namespaces"] == [{"name": DOCS, "fragmentCount": 2}]
