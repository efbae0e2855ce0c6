"""Memory of the server process over many mixed requests: ordinary, refused, failed, cancelled, and sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import httpx
import orjson
from websockets.asyncio.client import connect

from app.bench.line import Line
from app.bench.servers import Served, serving
from app.bench.world import SMALL, World

REQUESTS, FIRST = 10_000, 1_000
AT_ONCE = 4
BOUND = 5.0
HITS = f"""query($question: String!) {{ search(question: $question, namespaces: ["{SMALL}"]) {{
    hits {{ score fragment {{ id text }} entity {{ key }} }} context }} }}"""
LEXICAL = f'query($question: String!) {{ search(question: $question, namespaces: ["{SMALL}"]) {{ lexical {{ score }} }} }}'


async def memory_over_mixed_requests(world: World) -> list[Line]:
    """Resident memory after all requests against that after the first tenth."""
    async with serving(world) as served:
        await drive(world, served, 0, world.times(FIRST))
        before = served.process.memory_info().rss
        await drive(world, served, world.times(FIRST), world.times(REQUESTS))
        after = served.process.memory_info().rss
    note = (
        f"{before / 2**20:.0f} MB after {world.times(FIRST):,} requests, {after / 2**20:.0f} MB after {world.times(REQUESTS):,}"
    )
    return [Line("memory-growth", 100 * (after - before) / before, BOUND, "%", note)]


async def drive(world: World, served: Served, first: int, end: int) -> None:
    """Send the requests of these numbers, a few at a time."""
    numbers = iter(range(first, end))

    async def some() -> None:
        for number in numbers:
            await KINDS[number % len(KINDS)](world, served, number)

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))


async def ordinary(world: World, served: Served, number: int) -> None:
    """A search by both channels; questions come back, as people ask the same things."""
    await served.ask(HITS, question=world.small.question(number % 200))


async def by_words(world: World, served: Served, number: int) -> None:
    """A search by words, never asked before."""
    await served.ask(LEXICAL, question=world.small.question(number))


async def refused(world: World, served: Served, number: int) -> None:
    """Documents that do not parse or are not valid, another one each time."""
    query = f'{{ search(question: "x{number}" ' if number % 2 else f"{{ nothing{number} }}"
    await served.client.post("/graphql", json={"query": query})


async def failed(world: World, served: Served, number: int) -> None:
    """An unknown namespace, a k out of bounds."""
    arguments = f'namespaces: ["n{number}"]' if number % 2 else "k: 51"
    await served.client.post("/graphql", json={"query": f'{{ search(question: "x", {arguments}) {{ hits {{ score }} }} }}'})


async def cancelled(world: World, served: Served, number: int) -> None:
    """A client that goes away in the middle."""
    with suppress(httpx.TimeoutException):
        body = {"query": HITS, "variables": {"question": world.small.question(number % 200)}}
        async with httpx.AsyncClient(base_url=served.address, timeout=0.01, trust_env=False) as client:
            await client.post("/graphql", json=body)


async def by_socket(world: World, served: Served, number: int) -> None:
    """A search over a socket that is opened for it."""
    url = served.address.replace("http", "ws", 1) + "/graphql"
    async with connect(url, subprotocols=["graphql-transport-ws"], proxy=None) as socket:  # type: ignore[list-item]
        await socket.send(orjson.dumps({"type": "connection_init"}).decode())
        await socket.recv()
        payload = {"query": LEXICAL, "variables": {"question": world.small.question(number % 200)}}
        await socket.send(orjson.dumps({"type": "subscribe", "id": "1", "payload": payload}).decode())
        while orjson.loads(await socket.recv())["type"] != "complete":
            pass


KINDS: tuple[Callable[[World, Served, int], Awaitable[None]], ...] = (
    ordinary, by_words, refused, ordinary, failed, by_words, cancelled, ordinary, by_socket, by_words,
)  # fmt: skip
