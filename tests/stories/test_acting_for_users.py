"""A service that asks for a user sees what that user sees and no more; whoever may not act learns nothing by trying."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from retrieval.administration.grants import grant
from retrieval.administration.members import set_members
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, delete_principal, let_act, make_administrator, upsert_principal
from retrieval.administration.tokens import create_token, revoke_token
from retrieval.errors import BadInput, Forbidden
from retrieval.store import Store
from tests.fixtures.callers import caller_of
from tests.fixtures.issuer import ISSUER, Issuer
from tests.fixtures.world import opened, served
from tests.fixtures.writing import ADMIN

WHO = "{ viewer { principal actingFor groups namespaces { name } } }"
HEADER = "X-On-Behalf-Of"
PRINCIPALS = {"анна": "USER", "chief": "USER", "bot": "SERVICE", "other": "SERVICE", "team": "GROUP", f"{ISSUER}#staff": "GROUP"}


@dataclass
class Place:
    store: Store
    client: httpx.AsyncClient
    issuer: Issuer
    tokens: dict[str, str] = field(default_factory=dict)

    async def send(self, service: str | None, *users: str | bytes, query: str = WHO) -> httpx.Response:
        headers: list[tuple[str, str | bytes]] = [(HEADER, user.encode() if isinstance(user, str) else user) for user in users]
        if service is not None:
            headers.append(("Authorization", f"Bearer {self.tokens.get(service, service)}"))
        sent = [(name.encode(), value if isinstance(value, bytes) else value.encode()) for name, value in headers]
        return await self.client.post("/graphql", json={"query": query}, headers=sent)

    async def refusal(self, service: str | None, *users: str | bytes, query: str = WHO) -> tuple[int, str]:
        response = await self.send(service, *users, query=query)
        answer = response.json()
        assert not any((answer.get("data") or {}).values())
        (error,) = answer["errors"]
        return response.status_code, f"{error['extensions']['code']}: {error['message']}"


@pytest.fixture
async def place(base_url: str) -> AsyncIterator[Place]:
    async with Issuer().served() as issuer, opened(base_url) as store:
        database = store.database
        for name in ("of-ann", "of-team", "of-bot", "of-all"):
            await create_namespace(database, ADMIN, name)
        for name, kind in PRINCIPALS.items():
            await upsert_principal(database, ADMIN, PrincipalInput(name, kind))
        await make_administrator(database, PrincipalInput("chief", "USER"))
        await set_members(database, ADMIN, "team", ["анна"])
        for principal, namespace in (("анна", "of-ann"), ("team", "of-team"), ("bot", "of-bot"), ("everyone", "of-all"),
                                     (f"{ISSUER}#staff", "of-bot")):  # fmt: skip
            await grant(database, ADMIN, principal, namespace)
        tokens = {name: (await create_token(database, ADMIN, name)).token for name in ("анна", "chief", "bot", "other")}
        await let_act(database, ADMIN, "bot", True)
        async with served(store, local_admin=True, **issuer.settings()) as client:
            yield Place(store, client, issuer, tokens)


FOR_ANN = {
    "principal": "bot",
    "actingFor": "анна",
    "groups": ["everyone", "team"],
    "namespaces": [{"name": "of-all"}, {"name": "of-ann"}, {"name": "of-team"}],
}


async def test_it_sees_what_the_user_sees_and_nothing_of_its_own(place: Place) -> None:
    assert (await place.send("bot", "анна")).json()["data"] == {"viewer": FOR_ANN}
    signed = place.issuer.token("bot", groups=["staff"])
    assert (await place.send(signed, "анна")).json()["data"] == {"viewer": FOR_ANN}, "nor of the groups of its token"
    own = (await place.send("bot")).json()["data"]["viewer"]
    assert (own["principal"], own["actingFor"]) == ("bot", None)
    assert own["namespaces"] == [{"name": "of-all"}, {"name": "of-bot"}]


async def test_a_closed_namespace_of_the_user_is_closed_though_the_service_reads_it(place: Place) -> None:
    code, said = await place.refusal("bot", "анна", query='{ knowledge(namespaces: ["of-bot"]) { isEmpty } }')
    never = (await place.refusal("bot", "анна", query='{ knowledge(namespaces: ["never"]) { isEmpty } }'))[1]
    assert (code, said.replace("of-bot", "never")) == (200, never)


async def test_every_refusal_is_the_same(place: Place) -> None:
    asked: list[tuple[str | None, tuple[str | bytes, ...]]] = [
        ("other", ("анна",)),
        ("other", ("nobody",)),
        ("анна", ("анна",)),
        ("chief", ("анна",)),
        (None, ("анна",)),
        ("bot", ("nobody",)),
        ("bot", ("chief",)),
        ("bot", ("administrator",)),
        ("bot", ("bot",)),
        ("bot", ("other",)),
        ("bot", ("team",)),
        ("bot", ("everyone",)),
        ("bot", ("",)),
        ("bot", ("x" * 600,)),
        ("bot", (b"\xff\xfe",)),
        ("bot", ("анна", "анна")),
        (place.issuer.token("unheard-of"), ("анна",)),
    ]
    assert {await place.refusal(service, *users) for service, users in asked} == {
        (403, "FORBIDDEN: You may not act for that principal.")
    }
    assert (await place.refusal("ctxql_invented", "анна"))[1].startswith("UNAUTHENTICATED")


async def test_the_right_goes_with_the_next_request_and_so_does_the_user(place: Place) -> None:
    database = place.store.database
    assert (await place.send("bot", "анна")).status_code == 200
    await let_act(database, ADMIN, "bot", False)
    assert (await place.refusal("bot", "анна"))[0] == 403
    await let_act(database, ADMIN, "bot", True)
    assert (await place.send("bot", "анна")).status_code == 200
    await delete_principal(database, ADMIN, "анна")
    assert (await place.refusal("bot", "анна"))[0] == 403


async def test_only_administrators_give_the_right_and_only_to_services(place: Place) -> None:
    database = place.store.database
    with pytest.raises(Forbidden):
        await let_act(database, await caller_of(place.store, "bot"), "other", True)
    for name in ("анна", "team", "nobody"):
        with pytest.raises(BadInput):
            await let_act(database, ADMIN, name, True)


async def test_it_acts_through_a_trusted_proxy_too(place: Place) -> None:
    """A proxy passes the header on, or joins two of them; what it says of itself lets nobody in."""
    told = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "kb.example.org"}
    known = told | {"Authorization": f"Bearer {place.tokens['bot']}"}
    settings = place.issuer.settings(trusted_proxies=("127.0.0.1",))
    async with served(place.store, local_admin=True, **settings) as client:

        async def answered(headers: dict[str, str]) -> tuple[int, Any]:
            sent = {name.encode(): value.encode() for name, value in headers.items()}
            response = await client.post("/graphql", json={"query": WHO}, headers=sent)
            return response.status_code, response.json().get("data")

        assert await answered(known | {HEADER: "анна"}) == (200, {"viewer": FOR_ANN})
        assert await answered(known | {HEADER: "анна, анна"}) == (403, None)
        assert await answered(known | {HEADER: "анна", "X-Forwarded-Host": "localhost"}) == (200, {"viewer": FOR_ANN})
        for spoofed in ("203.0.113.9", "127.0.0.1"):
            assert await answered(told | {HEADER: "анна", "X-Forwarded-For": spoofed, "X-Forwarded-Host": "localhost"}) == (
                401,
                None,
            )


async def test_the_access_line_names_both(place: Place) -> None:
    with capture_logs() as lines:
        await place.send("bot", "анна")
        await place.send("bot")
    named = [(line["principal"], line.get("acting_for")) for line in lines if line["event"] == "operation"]
    assert named == [("bot", "анна"), ("bot", None)]


@asynccontextmanager
async def socket(place: Place, payload: dict[str, Any]) -> AsyncIterator[ClientConnection]:
    url = f"ws://{place.client.base_url.host}:{place.client.base_url.port}/graphql"
    async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as connection:
        await connection.send(json.dumps({"type": "connection_init", "payload": payload}))
        yield connection


async def heard(connection: ClientConnection) -> Any:
    return json.loads(await asyncio.wait_for(connection.recv(), 30))


async def closing(connection: ClientConnection) -> int | None:
    try:
        while True:
            await asyncio.wait_for(connection.recv(), 60)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


async def subscribed(connection: ClientConnection, query: str) -> Any:
    await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": query}}))
    return await heard(connection)


async def test_a_socket_acts_for_the_user_of_its_payload(place: Place) -> None:
    payload = {"Authorization": f"Bearer {place.tokens['bot']}", "x-on-behalf-of": "анна"}
    async with socket(place, payload) as connection:
        assert await heard(connection) == {"type": "connection_ack"}
        assert (await subscribed(connection, WHO))["payload"]["data"] == {"viewer": FOR_ANN}


@pytest.mark.parametrize("user", ["nobody", "chief", "", None, 7, ["анна"]])
async def test_a_socket_that_may_not_act_is_closed(place: Place, user: Any) -> None:
    async with socket(place, {"Authorization": f"Bearer {place.tokens['bot']}", HEADER: user}) as connection:
        assert await closing(connection) == 4403


async def test_a_subscription_for_a_user_ends_when_the_service_may_act_no_more(place: Place) -> None:
    follow = 'subscription { ingestion(namespace: "of-ann") { namespace } }'
    async with socket(place, {"Authorization": f"Bearer {place.tokens['bot']}", HEADER: "анна"}) as connection:
        await heard(connection)
        assert (await subscribed(connection, follow))["payload"]["data"] == {"ingestion": {"namespace": "of-ann"}}
        await let_act(place.store.database, ADMIN, "bot", False)
        assert "FORBIDDEN" in str(await heard(connection))


async def test_a_socket_ends_with_its_signed_token(place: Place) -> None:
    follow = 'subscription { ingestion(namespace: "of-ann") { namespace } }'
    for seconds in (6, 15, 45):  # a machine may be too busy to open two sockets in so short a time
        ends = int(time.time()) + seconds
        token = place.issuer.token("анна", exp=ends - 60)  # the leeway is a minute
        payload = {"Authorization": f"Bearer {token}"}
        with contextlib.suppress(ConnectionClosed):
            async with socket(place, payload) as idle, socket(place, payload) as busy:
                await heard(idle)
                await heard(busy)
                begun = (await subscribed(busy, follow))["type"]
                if time.time() < ends:
                    assert begun == "next"
                    assert [await closing(idle), await closing(busy)] == [4403, 4403]
                    return
    raise AssertionError("no socket was opened with a token that holds")


async def test_a_socket_in_use_ends_when_its_token_is_revoked(place: Place) -> None:
    made = await create_token(place.store.database, ADMIN, "анна")
    follow = 'subscription { ingestion(namespace: "of-ann") { namespace } }'
    async with socket(place, {"Authorization": f"Bearer {made.token}"}) as connection:
        await heard(connection)
        await subscribed(connection, follow)
        await revoke_token(place.store.database, ADMIN, made.token_id)
        assert "UNAUTHENTICATED" in str(await heard(connection))
        assert await closing(connection) == 4403
