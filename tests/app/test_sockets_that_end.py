"""Sockets end with the credentials that opened them, though nothing happens on them, and stay while these hold."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from app.graphql import EdgeLimits
from tests.app.edge_world import World, edge, wait_until

Edge = tuple[World, httpx.Client]
FOREVER = 3_600.0
CLOCK_IS_SET = 0.1
"""Seconds by which the clock of the machine may be set while a test waits by another one."""


@contextmanager
def greeted(edge_: Edge, **payload: Any) -> Iterator[ClientConnection]:
    url = f"ws://{edge_[1].base_url.host}:{edge_[1].base_url.port}/graphql"
    with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as connection:
        connection.send(json.dumps({"type": "connection_init", "payload": payload}))
        assert json.loads(connection.recv(timeout=30)) == {"type": "connection_ack"}
        yield connection


def closed_with(connection: ClientConnection) -> tuple[int, str] | None:
    try:
        while True:
            connection.recv(timeout=60)
    except ConnectionClosed as closed:
        return (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else None


@pytest.fixture(scope="module")
def looking_often() -> Iterator[Edge]:
    with edge(limits=EdgeLimits(recheck_seconds=0.1)) as pair:
        yield pair


@pytest.fixture(scope="module")
def looking_seldom() -> Iterator[Edge]:
    with edge(limits=EdgeLimits(recheck_seconds=FOREVER)) as pair:
        yield pair


def test_an_idle_socket_whose_token_is_revoked_is_closed(looking_often: Edge) -> None:
    world, _ = looking_often
    with (
        greeted(looking_often, authorization="Bearer mine") as mine,
        greeted(looking_often, authorization="Bearer other") as other,
    ):
        world.refused.add("Bearer mine")
        assert closed_with(mine) == (4403, "Forbidden")
        asked = len(world.opened)
        wait_until(lambda: len(world.opened) > asked + 2)
        other.send(json.dumps({"type": "ping"}))
        assert json.loads(other.recv(timeout=30)) == {"type": "pong"}


def test_a_failure_to_look_closes_nothing(looking_often: Edge) -> None:
    world, _ = looking_often
    with greeted(looking_often, authorization="Bearer broken") as connection:
        asked = len(world.opened)
        wait_until(lambda: len(world.opened) > asked + 2)
        connection.send(json.dumps({"type": "ping"}))
        assert json.loads(connection.recv(timeout=30)) == {"type": "pong"}


def test_a_socket_ends_with_its_token_in_the_middle_of_a_subscription(looking_seldom: Edge) -> None:
    world, _ = looking_seldom
    runs = False
    for seconds in (1, 5, 30):  # on a busy machine it may be over before the subscription runs
        world.ends_at = time.time() + seconds
        with greeted(looking_seldom) as connection:
            query = {"query": "subscription { ticks(count: 2, pause: 600) }"}
            with suppress(ConnectionClosed):
                connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": query}))
                runs = json.loads(connection.recv(timeout=60))["type"] == "next"
            assert closed_with(connection) == (4403, "Forbidden")
        assert time.time() >= world.ends_at - CLOCK_IS_SET
        if runs:
            break
    assert runs
    world.wait_for("ticks cleaned")
    wait_until(lambda: world.open_sessions == 0)
    world.ends_at = None


def test_an_operation_that_is_not_let_in_any_more_says_so_and_closes_the_socket(looking_seldom: Edge) -> None:
    world, _ = looking_seldom
    with greeted(looking_seldom, authorization="Bearer late") as connection:
        world.refused.add("Bearer late")
        connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": {"query": "{ hello }"}}))
        message = json.loads(connection.recv(timeout=30))
        assert (message["type"], message["payload"][0]["extensions"]["code"]) == ("error", "UNAUTHENTICATED")
        assert closed_with(connection) == (4403, "Forbidden")


def test_the_watch_ends_with_its_socket(looking_often: Edge) -> None:
    world, _ = looking_often
    with greeted(looking_often, authorization="Bearer gone"):
        pass

    def asked() -> int:
        return sum(one.authorization == "Bearer gone" for one in world.opened)

    def is_over() -> bool:
        before = asked()
        time.sleep(0.5)
        return asked() == before

    wait_until(is_over)
