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
from tests.fixtures.desk import Desk
from tests.fixtures.issuer import Issuer
from tests.fixtures.openai_server import ChatFaults, Faults, OpenAIServer, says
from tests.fixtures.world import served
from tests.fixtures.writing import ADMIN, DOCS

WHO = "{ viewer { principal } }"
STREAMS = (
    f'subscription {{ ingestion(namespace: "{DOCS}") {{ fragments }} }}',
    f'subscription {{ answer(question: "Где зебра?", namespaces: ["{DOCS}"]) {{ __typename ... on AnswerDelta {{ text }} }} }}',
)
SECONDS = 3
"""That a token holds, at most: ends of tokens are whole seconds."""


@dataclass
class Place:
    desk: Desk
    issuer: Issuer
    base_url: str

    def short(self) -> tuple[str, int]:
        """A token that holds for two or three seconds, and when it ends."""
        ends = int(time.time()) + SECONDS
        return self.issuer.token("ann", exp=ends), ends

    async def events(self, token: str, query: str) -> AsyncIterator[dict[str, Any]]:
        """The results of a subscription over server-sent events."""
        headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
        async with self.desk.client.stream("POST", "/graphql", json={"query": query}, headers=headers) as response:
            assert response.status_code == 200
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
    token, ends = place.short()
    async with direct.transaction():
        await direct.execute("lock table fragment_lexemes in access exclusive mode")
        asked = asyncio.create_task(place.desk.find("зебра", token=token))
        await asyncio.sleep(max(0.0, ends - time.time()) + 0.1)
        assert not asked.done()
    await direct.close()
    assert await asked
    refused: httpx.Response = await place.desk.send(WHO, token)
    assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (401, "UNAUTHENTICATED")


async def test_streams_end_with_their_token(place: Place, server: OpenAIServer) -> None:
    server.mind = says("Зебра живёт в саванне [1]. " * 20)
    server.faults = Faults(chat=ChatFaults(piece_seconds=0.05, endless=True))
    token, ends = place.short()

    async def followed(query: str) -> list[dict[str, Any]]:
        async with asyncio.timeout(20), aclosing(place.events(token, query)) as events:
            return [event async for event in events]

    for come in await asyncio.gather(*map(followed, STREAMS)):
        *before, last = come
        assert before
        assert all("errors" not in event for event in before)
        assert [error["extensions"]["code"] for error in last["errors"]] == ["UNAUTHENTICATED"]
    assert time.time() >= ends


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
