"""A small schema behind the real edge, served by uvicorn on loopback in a thread, for the tests of the edge."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import strawberry
import uvicorn
from graphql import GraphQLError
from starlette.applications import Starlette
from strawberry.scalars import JSON

from app.credentials import Credentials
from app.edge import build_app
from retrieval.errors import NamespaceNotFound, Unauthenticated
from schema.assembly import assemble
from tests.fixtures.quick_server import QuickServer

SECRET = "zebra-4711"


@dataclass
class World:
    """What the resolvers and sessions did, and what the server is to say."""

    opened: list[Credentials] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    open_sessions: int = 0
    refused: set[str] = field(default_factory=set)
    let_go: threading.Event = field(default_factory=threading.Event)
    """Ends `held`."""
    ends_at: float | None = None

    @asynccontextmanager
    async def open_session(self, credentials: Credentials) -> AsyncIterator[Session]:
        self.opened.append(credentials)
        if credentials.authorization in {"Bearer wrong", *self.refused}:
            raise Unauthenticated("The token does not hold; ask for a new one.")
        if credentials.authorization == "Bearer broken":
            raise RuntimeError(f"cannot look up {SECRET}")
        session = Session(self, credentials, ends_at=self.ends_at)
        self.sessions.append(session)
        self.open_sessions += 1
        try:
            yield session
        finally:
            self.open_sessions -= 1

    async def ready(self) -> list[str]:
        return self.reasons

    def wait_for(self, event: str, seconds: float = 60.0) -> None:
        wait_until(lambda: event in self.events, seconds)


@dataclass
class Session:
    world: World
    credentials: Credentials
    deadline: float = 0.0
    ends_at: float | None = None


Info = strawberry.Info[Session, None]


@strawberry.type
class Item:
    name: str

    @strawberry.field
    def child(self) -> Item:
        return Item(name=f"{self.name}.")

    @strawberry.field
    def items(self, first: int = 2) -> list[Item]:
        return [Item(name=f"{self.name}{number}") for number in range(first)]


@strawberry.input
class Step:
    relation: str
    limit: int = 50


@strawberry.type
class Query:
    @strawberry.field
    def hello(self) -> str:
        return "world"

    @strawberry.field
    def echo(self, text: str) -> str:
        return text

    @strawberry.field
    def whole(self, number: int) -> int:
        return number

    @strawberry.field
    def item(self) -> Item | None:
        return Item(name="i")

    @strawberry.field
    def items(self, first: int = 20) -> list[Item]:
        return [Item(name=str(number)) for number in range(first)]

    @strawberry.field
    def nodes(self, ids: list[strawberry.ID]) -> list[Item]:
        return [Item(name=str(key)) for key in ids]

    @strawberry.field
    def walk(self, steps: list[Step]) -> list[Item]:
        return []

    @strawberry.field
    def boom(self, word: str = "") -> str | None:
        raise RuntimeError(f"connection to 10.0.0.7 failed for {word}")

    @strawberry.field
    def hidden(self) -> str | None:
        raise NamespaceNotFound("attic")

    @strawberry.field
    def odd_error(self) -> str | None:
        odd = {"code": "BAD_INPUT", "score": float("nan"), "text": "a\ud800b"}
        raise GraphQLError("odd \ud800", extensions=odd)

    @strawberry.field
    def late(self) -> str | None:
        raise TimeoutError

    @strawberry.field
    def infinite(self) -> float | None:
        return float("inf")

    @strawberry.field
    def odd_json(self) -> JSON:
        return JSON({"nan": float("nan"), "huge": 10**30, "text": "a\ud800b", "fine": [1, "ы"]})  # type: ignore[arg-type]

    @strawberry.field
    def large(self, size: int) -> str:
        return "x" * size

    @strawberry.field
    async def slow(self, info: Info, seconds: float = 30.0) -> str | None:
        events = info.context.world.events
        events.append("slow started")
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            events.append("slow cancelled")
            raise
        return "done"

    @strawberry.field
    async def held(self, info: Info) -> str:
        info.context.world.events.append("held")
        while not info.context.world.let_go.is_set():
            await asyncio.sleep(0.005)
        return "let go"


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def write(self, info: Info, seconds: float = 0.0) -> str:
        events = info.context.world.events
        events.append("write started")
        await asyncio.sleep(seconds)
        events.append("written")
        return "ok"


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def ticks(self, info: Info, count: int = 3, pause: float = 0.0) -> AsyncGenerator[int, None]:
        events = info.context.world.events
        try:
            for number in range(count):
                yield number
                await asyncio.sleep(pause)
        finally:
            events.append("ticks cleaned")

    @strawberry.subscription
    async def breaks(self) -> AsyncGenerator[int, None]:
        yield 1
        raise RuntimeError(f"lost {SECRET}")


SCHEMA = assemble(Query, Mutation, Subscription)


def make_app(world: World, **settings: Any) -> Starlette:
    """The whole edge over the test schema."""
    return build_app(
        schema=SCHEMA,
        open_session=world.open_session,
        ready=world.ready,
        describe=lambda session: {"principal": session.credentials.authorization},
        **settings,
    )


@contextmanager
def served(app: Starlette) -> Iterator[str]:
    """Serve an application on a free port of 127.0.0.1 and give `127.0.0.1:port`."""
    server = QuickServer(
        uvicorn.Config(app, port=0, log_config=None, lifespan="off", proxy_headers=False, timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(10)


@contextmanager
def edge(world: World | None = None, **settings: Any) -> Iterator[tuple[World, httpx.Client]]:
    """Serve the edge and give its world with a client whose paths start at it."""
    world = world or World()
    with (
        served(make_app(world, **settings)) as address,
        httpx.Client(base_url=f"http://{address}", timeout=60, verify=False) as client,
    ):
        yield world, client


def ask(client: httpx.Client, query: str, headers: dict[str, str] | None = None, **rest: Any) -> httpx.Response:
    """POST one operation."""
    return client.post("/graphql", json={"query": query, **rest}, headers=headers)


def codes(response: httpx.Response) -> list[str]:
    """The codes of a response's errors."""
    return [error["extensions"]["code"] for error in response.json()["errors"]]


def wait_until(claim: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until something holds, looking every 5 ms."""
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.005)
