"""One principal that asks without end is told when to come again, and the others are served meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from app.negotiation import EVENTS
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, let_act, upsert_principal
from retrieval.administration.tokens import create_token, token_digest
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ports import Message
from retrieval.store import Store
from tests.fixtures.clock import Clock
from tests.fixtures.scribes import Scribe
from tests.fixtures.world import opened, recorder, served
from tests.fixtures.writing import ADMIN, put, values

HITS = '{ search(question: "zebra stripes", namespaces: ["docs"], k: 4) { hits { score fragment { text } } } }'
"""One search, four hits and their four fragments: 9 points."""
POINTS = 9
WHO = "{ viewer { principal } }"
ANSWER = '{ search(question: "zebra", namespaces: ["docs"], channels: [LEXICAL]) { answer { text } } }'
FOLLOW = 'subscription { answer(question: "zebra", namespaces: ["docs"], channels: [LEXICAL]) { __typename } }'
WATCH = 'subscription { ingestion(namespace: "docs") { fragments } }'
PRINCIPALS = {"ann": "USER", "bob": "USER", "bot": "SERVICE"}


class Patient(Scribe):
    """A chat model that says nothing until it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.asked = 0

    async def stream(self, messages: Sequence[Message], *, temperature: float, seconds: float) -> Any:
        self.asked += 1
        await self.may.wait()
        async for piece in super().stream(messages, temperature=temperature, seconds=seconds):
            yield piece


@dataclass
class Place:
    store: Store
    tokens: dict[str, str]
    chat: Patient

    def headers(self, who: str, acts_for: str | None = None) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[who]}"} | ({} if acts_for is None else {"X-On-Behalf-Of": acts_for})

    async def send(
        self, client: httpx.AsyncClient, query: str, who: str, acts_for: str | None = None, **headers: str
    ) -> httpx.Response:
        return await client.post("/graphql", json={"query": query}, headers=self.headers(who, acts_for) | headers)

    async def asked(self, number: int) -> None:
        """Wait until so many have come to the chat model."""
        async with asyncio.timeout(60):
            while self.chat.asked < number:
                await asyncio.sleep(0.005)

    @asynccontextmanager
    async def socket(self, client: httpx.AsyncClient, who: str) -> AsyncIterator[ClientConnection]:
        url = f"ws://{client.base_url.host}:{client.base_url.port}/graphql"
        async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
            await socket.send(json.dumps({"type": "connection_init", "payload": self.headers(who)}))
            assert json.loads(await socket.recv())["type"] == "connection_ack"
            yield socket

    async def comes_in(self, client: httpx.AsyncClient, who: str) -> bool:
        """Whether one more socket is let in."""
        try:
            async with self.socket(client, who):
                return True
        except ConnectionClosed:
            return False


@pytest.fixture
async def place(base_url: str) -> AsyncIterator[Place]:
    async with opened(base_url) as store:
        store.chat = chat = Patient()
        await create_namespace(store.database, ADMIN, "docs")
        for name, kind in PRINCIPALS.items():
            await upsert_principal(store.database, ADMIN, PrincipalInput(name, kind))
        await grant(store.database, ADMIN, "everyone", "docs")
        await let_act(store.database, ADMIN, "bot", True)
        await put(store, "a", "The zebra has stripes.")
        while await embed_pending(store, 500):
            pass
        for ns in await values(store, "select ns from namespace"):
            await refresh_statistics(store.database, ns)
        yield Place(store, {name: (await create_token(store.database, ADMIN, name)).token for name in PRINCIPALS}, chat)


def refused(response: httpx.Response, status: int = 429) -> int:
    """The seconds after which a request that was refused may be sent again."""
    assert response.status_code == status, response.text
    (error,) = response.json()["errors"]
    assert "data" not in response.json()
    assert error["extensions"] == {"code": "OVERLOADED", "retryAfter": int(response.headers["Retry-After"])}
    seconds: int = error["extensions"]["retryAfter"]
    return seconds


async def subscribed(socket: ClientConnection, query: str, number: str = "1") -> dict[str, Any]:
    """The first message that answers an operation."""
    await socket.send(json.dumps({"id": number, "type": "subscribe", "payload": {"query": query}}))
    while True:
        message: dict[str, Any] = json.loads(await asyncio.wait_for(socket.recv(), 60))
        if message["id"] == number:
            return message


async def test_a_flood_is_refused_with_the_time_to_come_again_while_others_are_served(place: Place) -> None:
    clock = Clock()
    async with served(place.store, clock, points_per_minute=POINTS * 20) as client:  # three points a second
        answers = [await place.send(client, HITS, "ann") for _ in range(20)]
        assert {one.status_code for one in answers} == {200}
        recorder(place.store).forget()
        waits = [refused(await place.send(client, HITS, "ann")) for _ in range(10)]
        assert set(waits) == {3}
        assert len(recorder(place.store).statements) <= 2, "a refusal looks its caller up at most"
        assert (await place.send(client, HITS, "bob")).json()["data"]["search"]["hits"]
        async with place.socket(client, "ann") as socket, place.socket(client, "bob") as other:
            error = await subscribed(socket, HITS)
            assert error["type"] == "error"
            assert error["payload"][0]["extensions"]["code"] == "OVERLOADED"
            assert error["payload"][0]["extensions"]["retryAfter"] == 3
            assert (await subscribed(other, HITS))["type"] == "next"
        refused(await place.send(client, WHO, "ann", accept=EVENTS))
        clock.now += refused(await place.send(client, HITS, "ann"))
        assert (await place.send(client, HITS, "ann")).json()["data"]["search"]["hits"]
        metrics = (await client.get("/metrics")).text
        assert 'contextql_refusals_total{reason="points"}' in metrics
        assert "ann" not in metrics


async def test_so_many_requests_of_one_principal_run_at_once(place: Place) -> None:
    async with served(place.store, concurrent_requests=2) as client:
        running = [asyncio.create_task(place.send(client, ANSWER, "ann")) for _ in range(2)]
        await place.asked(2)
        assert refused(await place.send(client, WHO, "ann")) == 1
        assert (await place.send(client, WHO, "bob")).json()["data"] == {"viewer": {"principal": "bob"}}
        place.chat.may.set()
        assert [(await one).status_code for one in running] == [200, 200]
        assert (await place.send(client, WHO, "ann")).status_code == 200


async def test_a_client_that_goes_away_gives_its_place_back(place: Place) -> None:
    async with served(place.store, concurrent_requests=1) as client:
        gone = asyncio.create_task(place.send(client, ANSWER, "ann"))
        await place.asked(1)
        refused(await place.send(client, WHO, "ann"))
        gone.cancel()
        async with asyncio.timeout(60):
            while (await place.send(client, WHO, "ann")).status_code == 429:
                await asyncio.sleep(0.02)


async def test_subscriptions_of_one_principal_are_counted_by_themselves_on_all_its_sockets(place: Place) -> None:
    async with (
        served(place.store, concurrent_requests=1, concurrent_streams=2) as client,
        place.socket(client, "ann") as one,
        place.socket(client, "ann") as other,
        place.socket(client, "bob") as third,
    ):
        assert (await subscribed(one, WATCH))["type"] == "next"
        assert (await subscribed(other, WATCH))["type"] == "next"
        error = await subscribed(other, WATCH, "2")
        assert (error["type"], error["payload"][0]["extensions"]) == ("error", {"code": "OVERLOADED", "retryAfter": 1})
        assert "streams under way" in error["payload"][0]["message"]
        assert (await subscribed(third, WATCH))["type"] == "next"
        assert (await subscribed(other, WHO, "3"))["type"] == "next"
        await one.send(json.dumps({"id": "1", "type": "complete"}))
        async with asyncio.timeout(60):
            number = 4
            while (await subscribed(other, WATCH, str(number)))["type"] == "error":
                number += 1


async def test_open_sockets_of_one_principal_are_bounded_and_those_of_others_come_in(place: Place) -> None:
    async with (
        served(place.store, concurrent_sockets=2) as client,
        place.socket(client, "ann") as one,
        place.socket(client, "ann"),
        place.socket(client, "bob"),
    ):
        with pytest.raises(ConnectionClosed) as refused:
            async with place.socket(client, "ann"):
                pass
        assert refused.value.rcvd is not None
        assert refused.value.rcvd.code == 1013
        assert refused.value.rcvd.reason == "OVERLOADED: You have 2 sockets open, the most there may be; close one first."
        assert 'contextql_refusals_total{reason="sockets"} 1.0' in (await client.get("/metrics")).text
        await one.close()
        async with asyncio.timeout(60):
            while not await place.comes_in(client, "ann"):
                await asyncio.sleep(0.02)


async def test_a_service_takes_from_the_user_that_it_acts_for(place: Place) -> None:
    async with served(place.store, points_per_minute=POINTS) as client:
        assert (await place.send(client, HITS, "bot", "ann")).status_code == 200
        refused(await place.send(client, HITS, "bot", "ann"))
        refused(await place.send(client, HITS, "ann"))
        assert (await place.send(client, HITS, "bot", "bob")).status_code == 200
        assert (await place.send(client, HITS, "bot")).status_code != 429, "its own share is its own"
        for wrong in ("Bearer nobody", ""):
            for _ in range(5):
                response = await client.post("/graphql", json={"query": HITS}, headers={"Authorization": wrong})
                assert response.status_code == 401


async def test_a_token_that_is_revoked_takes_from_nobody(place: Place) -> None:
    async with served(place.store, concurrent_requests=1) as client:
        running = asyncio.create_task(place.send(client, ANSWER, "ann"))
        await place.asked(1)
        old, place.tokens["ann"] = place.tokens["ann"], (await create_token(place.store.database, ADMIN, "ann")).token
        async with place.store.database.writing() as connection:
            await connection.execute("delete from token where digest = $1", token_digest(old))
        place.chat.may.set()
        assert (await running).status_code == 200
        place.chat.may.clear()
        place.tokens |= {"old": old, "new": place.tokens["ann"]}
        assert (await place.send(client, WHO, "old")).status_code == 401
        running = asyncio.create_task(place.send(client, ANSWER, "new"))
        await place.asked(2)
        assert (await place.send(client, WHO, "old")).status_code == 401, "what it would be told of its former share is nobody's"
        place.chat.may.set()
        assert (await running).status_code == 200


async def test_every_answer_says_what_it_cost(place: Place) -> None:
    place.chat.may.set()
    place.store.question_vectors = type(place.store.question_vectors)(10)
    async with served(place.store) as client:
        costs = [(await place.send(client, HITS, "ann")).json()["extensions"]["cost"] for _ in range(2)]
        assert costs == [
            {"points": POINTS, "statements": 4, "providerCalls": 1},
            {"points": POINTS, "statements": 4, "providerCalls": 1},  # though the vector of the question is remembered
        ]
        assert (await place.send(client, "{ __typename }", "ann")).json()["extensions"]["cost"]["points"] == 1
        failed = (await place.send(client, '{ search(question: "", namespaces: ["docs"]) { question } }', "ann")).json()
        assert (failed["data"], failed["extensions"]["cost"]["statements"]) == ({"search": None}, 1)
        assert "extensions" not in (await place.send(client, "{ nothing }", "ann")).json()
        written = 'mutation { deleteSource(input: {namespace: "docs", key: "nothing"}) { deleted } }'
        assert (await place.send(client, written, "ann")).json()["extensions"]["cost"]["statements"] > 1
        async with place.socket(client, "ann") as socket:
            assert (await subscribed(socket, HITS))["payload"]["extensions"]["cost"] == costs[1]
            costs = [(await subscribed(socket, FOLLOW, "2"))["payload"]["extensions"]["cost"]]
            while (message := json.loads(await socket.recv()))["type"] == "next":
                costs.append(message["payload"]["extensions"]["cost"])
        assert [cost["providerCalls"] for cost in (costs[0], costs[-1])] == [0, 1]
        assert len({cost["statements"] for cost in costs}) == 1
        events = (await place.send(client, WHO, "ann", accept=EVENTS)).text
        assert '"extensions":{"cost":{"points":1,"statements":1,"providerCalls":0}}' in events
