"""A client that follows answers over a socket, as graphql-ws does."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

FOLLOW = """subscription($question: String!, $namespace: String!) {
    answer(question: $question, namespaces: [$namespace], channels: [LEXICAL]) { __typename
        ... on AnswerFound { hits { score } }
        ... on AnswerDelta { text }
        ... on AnswerDone { answer { text status } } } }"""


@asynccontextmanager
async def greeted(address: str) -> AsyncIterator[ClientConnection]:
    """A socket on which operations may begin."""
    url = address.replace("http", "ws", 1) + "/graphql"
    protocols = [Subprotocol("graphql-transport-ws")]
    async with connect(url, subprotocols=protocols, proxy=None, open_timeout=60) as socket:
        await socket.send(orjson.dumps({"type": "connection_init"}).decode())
        await socket.recv()
        yield socket


async def follow(socket: ClientConnection, question: str, namespace: str) -> AsyncGenerator[dict[str, Any]]:
    """The events of one answer on a socket that has no other; raises when it fails."""
    payload = {"query": FOLLOW, "variables": {"question": question, "namespace": namespace}}
    await socket.send(orjson.dumps({"type": "subscribe", "id": "1", "payload": payload}).decode())
    while True:
        message = orjson.loads(await socket.recv())
        if message["type"] == "complete":
            return
        if message["type"] == "next" and "errors" not in message["payload"]:
            yield message["payload"]["data"]["answer"]
        elif message["type"] != "ping":
            raise RuntimeError(f"the server sent {message}")
