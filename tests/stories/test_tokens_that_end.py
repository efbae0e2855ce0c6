"""Signed tokens that end while something runs: a request is finished, a stream is not, and nothing begins after it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import asyncpg
import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from retrieval.administration.grants import grant
from tests.fixtures.answering import answering_desk
from tests.fixtures.desk import FIND, Desk
from tests.fixtures.issuer import Issuer
from tests.fixtures.openai_server import ChatFaults, Faults, OpenAIServer, says
from tests.fixtures.world import served
from tests.fixtures.writing import ADMIN, DOCS

WHO = "{ viewer { principal } }"
STREAMS = (
    f'subscription {{ ingestion(namespace: "{DOCS}") {{ fragments }} }}',
    f'subscription {{ answer(question: "Где зебра?", namespaces: ["{DOCS}"]) {{ __typename ... on AnswerDelta {{ text }} }} }}',
)
LIVES = (3, 8, 30)
"""Seconds that a token holds, at most: ends of tokens are whole seconds. A machine may be too busy to begin in so few."""


@dataclass
class Place:
    desk: Desk
    issuer: Issuer
    base_url: str

    def short(self, seconds: int) -> tuple[str, int]:
        """A token that holds for so many seconds or one less, and when it ends."""
        ends = int(time.time()) + seconds
        return self.issuer.token("ann", exp=ends), ends

    async def events(self, token: str, query: str) -> AsyncIterator[dict[str, Any]]:
        """The results of a subscription over server-sent events; none when the token had ended by then."""
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
        async with self.desk.client.stream("POST", "/graphql", json={"query": query}, headers=headers) as response:
            assert response.status_code in (200, 401)
            async for line in response.aiter_lines():
                if line.startswith("data: {"):
                    yield json.loads(line[6:])


@pytest.fixture
async def place(base_url: str, server: OpenAIServer) -> AsyncIterator[Place]:
    async with Issuer().served() as issuer, answering_desk(base_url, server) as desk:
        await grant(desk.store.database, ADMIN, "everyone", DOCS)
        async with served(desk.store, **issuer.settings(jwt_leeway=0.0)) as client:
            yield Place(Desk(desk.store, client), issuer, base_url)


async def test_a_request_under_way_is_finished_and_none_begins(place: Place) -> None:
    direct = await asyncpg.connect(place.base_url)
    query = FIND.replace("LIST", "lexical")
    for seconds in LIVES:
        token, ends = place.short(seconds)
        async with direct.transaction():
            await direct.execute("lock table fragment_lexemes in access exclusive mode")
            asked = asyncio.create_task(place.desk.send(query, token, question="зебра", k=50))
            await asyncio.sleep(max(0.0, ends - time.time()) + 0.1)
            is_under_way = not asked.done()
        answer = await asked
        if answer.status_code == 200:
            break
    await direct.close()
    assert is_under_way
    assert answer.json()["data"]["search"]["lexical"]
    refused: httpx.Response = await place.desk.send(WHO, token)
    assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (401, "UNAUTHENTICATED")


async def test_streams_end_with_their_token(place: Place, server: OpenAIServer) -> None:
    server.mind = says("Зебра живёт в саванне [1]. " * 20)
    server.faults = Faults(chat=ChatFaults(piece_seconds=0.05, endless=True))

    async def followed(token: str, query: str) -> list[dict[str, Any]]:
        async with asyncio.timeout(60), aclosing(place.events(token, query)) as events:
            return [event async for event in events]

    for seconds in LIVES:
        token, ends = place.short(seconds)
        told = await asyncio.gather(*(followed(token, query) for query in STREAMS))
        if all(len(come) > 1 for come in told):
            break
    for come in told:
        *before, last = come
        assert before
        assert all("errors" not in event for event in before)
        assert [error["extensions"]["code"] for error in last["errors"]] == ["UNAUTHENTICATED"]
    assert time.time() > ends - 0.1


async def test_a_socket_reads_its_token_whatever_the_case_of_its_name(place: Place) -> None:
    url = f"ws://{place.desk.client.base_url.host}:{place.desk.client.base_url.port}/graphql"
    token = place.issuer.token("ann")
    large = place.issuer.token("ann", groups=["group " * 10] * 20_000)
    assert len(large) > 1_000_000
    for name, value, holds in (
        ("AUTHORIZATION", f"Bearer {token}", True),
        ("aUthoRization", f"bEARER  {token}", True),
        ("Authorization", f"Bearer {large}", False),
        ("Authorization", token, False),
        ("Authorisation", f"Bearer {token}", False),
        ("Authorization", ["Bearer", token], False),
        ("Authorization", {"Bearer": token}, False),
    ):
        fetched = place.issuer.fetches
        async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")], max_size=None) as connection:
            await connection.send(json.dumps({"type": "connection_init", "payload": {name: value}}))
            if holds:
                assert json.loads(await connection.recv()) == {"type": "connection_ack"}
                await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": WHO}}))
                answer = json.loads(await connection.recv())
                assert answer["payload"]["data"] == {"viewer": {"principal": "ann"}}
                continue
            with pytest.raises(ConnectionClosed) as closed:
                await connection.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 4403, name
            assert place.issuer.fetches == fetched, "nobody asks for keys"
