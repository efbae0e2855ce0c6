"""GraphQL over WebSocket: one session an operation, the same refusals as HTTP, and cleaning up after clients that go."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from app.graphql import EdgeLimits
from schema.errors import coded
from tests.app.edge_world import SECRET, World, ask, edge, wait_until

PROTOCOL = Subprotocol("graphql-transport-ws")
Edge = tuple[World, httpx.Client]


@pytest.fixture(scope="module")
def served_edge() -> Iterator[Edge]:
    with edge(limits=EdgeLimits(socket_operations=3, sockets=5)) as pair:
        yield pair


@pytest.fixture
def client(served_edge: Edge) -> httpx.Client:
    return served_edge[1]


@pytest.fixture
def world(served_edge: Edge) -> World:
    served_edge[0].events.clear()
    return served_edge[0]


def opened(client: httpx.Client, protocol: str = PROTOCOL, **options: Any) -> ClientConnection:
    url = f"ws://{client.base_url.host}:{client.base_url.port}/graphql"
    return connect(url, subprotocols=[Subprotocol(protocol)], **options)


@contextmanager
def greeted(client: httpx.Client, payload: dict[str, Any] | None = None, **options: Any) -> Iterator[ClientConnection]:
    with opened(client, **options) as connection:
        tell(connection, {"type": "connection_init", "payload": payload or {}})
        assert hear(connection) == {"type": "connection_ack"}
        yield connection


def accepted(client: httpx.Client) -> bool:
    try:
        with opened(client):
            return True
    except InvalidStatus:
        return False


def tell(connection: ClientConnection, message: Any) -> None:
    connection.send(json.dumps(message))


def hear(connection: ClientConnection) -> Any:
    text = connection.recv(timeout=30)
    assert isinstance(text, str)
    return json.loads(text)


def subscribe(connection: ClientConnection, query: str, id: str = "1", **rest: Any) -> None:
    tell(connection, {"id": id, "type": "subscribe", "payload": {"query": query, **rest}})


def code(message: Any) -> str:
    assert message["type"] == "error", message
    return str(message["payload"][0]["extensions"]["code"])


def closed_with(connection: ClientConnection) -> int | None:
    try:
        while True:
            connection.recv(timeout=30)
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


def test_queries_mutations_and_subscriptions_run(client: httpx.Client, world: World) -> None:
    with greeted(client) as connection:
        subscribe(connection, "{ hello }")
        assert hear(connection) == {"id": "1", "type": "next", "payload": {"data": {"hello": "world"}}}
        assert hear(connection) == {"id": "1", "type": "complete"}
        subscribe(connection, "mutation { write }")
        assert hear(connection)["payload"] == {"data": {"write": "ok"}}
        assert hear(connection)["type"] == "complete"
        subscribe(connection, "subscription($n: Int!) { ticks(count: $n) }", variables={"n": 2})
        assert [hear(connection)["payload"]["data"]["ticks"] for _ in range(2)] == [0, 1]
        assert hear(connection) == {"id": "1", "type": "complete"}
    assert world.open_sessions == 0


def test_the_older_protocol_is_not_spoken(client: httpx.Client) -> None:
    with opened(client, "graphql-ws") as connection:
        assert closed_with(connection) == 4406


def test_every_operation_has_a_session_of_its_own(client: httpx.Client, world: World) -> None:
    with greeted(client, {"Authorization": "Bearer mine"}) as connection:
        before = len(world.sessions)
        for number in range(2):
            subscribe(connection, "{ hello }", str(number))
            hear(connection), hear(connection)
        first, second = world.sessions[before:]
        assert first is not second
        assert first.credentials.authorization == second.credentials.authorization == "Bearer mine"
        assert first.credentials.request_id != second.credentials.request_id


def test_credentials_may_come_in_a_header_too(client: httpx.Client, world: World) -> None:
    with greeted(client, additional_headers={"Authorization": "Bearer header"}):
        assert world.opened[-1].authorization == "Bearer header"


@pytest.mark.parametrize("left_out", [{}, {"payload": None}, {"payload": {}}])
def test_a_greeting_may_leave_its_payload_out(client: httpx.Client, left_out: dict[str, Any]) -> None:
    with opened(client) as connection:
        tell(connection, {"type": "connection_init"} | left_out)
        assert hear(connection) == {"type": "connection_ack"}


def test_wrong_credentials_close_the_socket(client: httpx.Client) -> None:
    with opened(client) as connection:
        tell(connection, {"type": "connection_init", "payload": {"authorization": "Bearer wrong"}})
        assert closed_with(connection) == 4403


def test_a_session_that_does_not_open_is_told_masked(client: httpx.Client) -> None:
    with greeted(client, {"authorization": "Bearer broken"}) as connection:
        subscribe(connection, "{ hello }")
        message = hear(connection)
        assert code(message) == "INTERNAL"
        assert SECRET not in str(message)


def test_errors_are_masked_in_results_and_streams(client: httpx.Client) -> None:
    with greeted(client) as connection:
        subscribe(connection, f'{{ hello boom(word: "{SECRET}") }}')
        payload = hear(connection)["payload"]
        assert payload["data"] == {"hello": "world", "boom": None}
        assert payload["errors"][0]["extensions"]["code"] == "INTERNAL"
        assert SECRET not in str(payload)
        hear(connection)
        subscribe(connection, "subscription { breaks }")
        assert hear(connection)["payload"] == {"data": {"breaks": 1}}
        last = hear(connection)
        assert "INTERNAL" in str(last)
        assert SECRET not in str(last)


REFUSED = {
    "a syntax error": ("{", "GRAPHQL_PARSE_FAILED"),
    "an unknown field": ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
    "depth": ("{ item " + "{ child " * 12 + "{ name }" + " }" * 12 + " }", "LIMIT_EXCEEDED"),
    "doubling fragments": (
        "{ item { ...F0 } } "
        + " ".join(f"fragment F{n} on Item {{ child {{ ...F{n + 1} ...F{n + 1} }} }}" for n in range(40))
        + " fragment F40 on Item { name }",
        "LIMIT_EXCEEDED",
    ),
    "1,000 equal fields": ("{ " + "hello " * 1_000 + "}", "LIMIT_EXCEEDED"),
    "tokens": ("{ " + "hello " * 3_000 + "}", "LIMIT_EXCEEDED"),
    "length": ("{ hello } #" + "x" * 70_000, "LIMIT_EXCEEDED"),
    "points": ("{ items(first: 101) { items(first: 100) { child { name } } } }", "LIMIT_EXCEEDED"),
    "eleven mutations": ("mutation { " + " ".join(f"a{n}: write" for n in range(11)) + " }", "LIMIT_EXCEEDED"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_http_refuses_the_socket_refuses_alike(client: httpx.Client, world: World, name: str) -> None:
    query, expected = REFUSED[name]
    (over_http, *_) = ask(client, query).json()["errors"]
    with greeted(client) as connection:
        subscribe(connection, query)
        message = hear(connection)
        assert code(message) == over_http["extensions"]["code"] == expected
        assert message["payload"][0]["message"] == over_http["message"]
        subscribe(connection, "{ hello }")
        assert hear(connection)["payload"] == {"data": {"hello": "world"}}
    assert world.events == []


@pytest.mark.parametrize(
    "payload",
    [None, [], {}, {"query": 7}, {"query": "{ hello }", "variables": [1]}, {"query": "{ hello }", "operationName": 1}],
)
def test_a_malformed_payload_is_bad_input(client: httpx.Client, payload: Any) -> None:
    with greeted(client) as connection:
        tell(connection, {"id": "1", "type": "subscribe", "payload": payload})
        assert code(hear(connection)) == "BAD_INPUT"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "7",
        '{"type": "start"}',
        '{"type": "subscribe"}',
        '{"type": "subscribe", "id": 7}',
        '{"type": ["a"]}',
        "[" * 5_000,
    ],
)
def test_what_is_no_message_closes_the_socket(client: httpx.Client, text: str) -> None:
    with greeted(client) as connection:
        connection.send(text)
        assert closed_with(connection) == 4400


def test_bytes_close_the_socket(client: httpx.Client) -> None:
    with greeted(client) as connection:
        connection.send(b"{}")
        assert closed_with(connection) == 4400


def test_operations_of_a_socket_are_capped(client: httpx.Client, world: World) -> None:
    with greeted(client) as connection:
        for number in range(3):
            subscribe(connection, "subscription { ticks(count: 1000, pause: 10) }", str(number))
            assert hear(connection)["type"] == "next"
        subscribe(connection, "{ hello }", "surplus")
        assert code(hear(connection)) == "LIMIT_EXCEEDED"
        tell(connection, {"id": "0", "type": "complete"})
        world.wait_for("ticks cleaned")
        subscribe(connection, "{ hello }", "fits")
        assert hear(connection)["payload"] == {"data": {"hello": "world"}}
    wait_until(lambda: world.open_sessions == 0)


def test_sockets_of_a_process_are_capped(client: httpx.Client) -> None:
    wait_until(lambda: accepted(client))
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(opened(client))
        with pytest.raises(InvalidStatus) as caught, opened(client):
            pass
        assert caught.value.response.status_code == 403
        assert ask(client, "{ hello }").status_code == 200
    wait_until(lambda: accepted(client))


def test_a_socket_too_many_of_its_caller_is_closed_also_when_that_is_known_only_later() -> None:
    told = iter([RuntimeError("the database is away"), coded(f"Enough, {'really ' * 30}.", "OVERLOADED", retryAfter=1)])

    async def hold_socket(session: Any) -> Any:
        raise next(told)

    with (
        edge(limits=EdgeLimits(recheck_seconds=0.1), hold_socket=hold_socket) as (_, client),
        greeted(client) as connection,
        pytest.raises(ConnectionClosed) as closed,
    ):
        connection.recv(timeout=30)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason[:18]) == (1013, "OVERLOADED: Enough")


def test_a_socket_that_says_nothing_is_closed() -> None:
    with edge(limits=EdgeLimits(init_seconds=0.5)) as (_, client):
        start = time.monotonic()
        with opened(client) as connection:
            assert closed_with(connection) == 4408
        assert time.monotonic() - start > 0.4


def test_an_operation_before_the_greeting_closes_the_socket(client: httpx.Client) -> None:
    with opened(client) as connection:
        subscribe(connection, "{ hello }")
        assert closed_with(connection) == 4401


def test_an_abrupt_close_ends_the_generators(client: httpx.Client, world: World) -> None:
    with greeted(client) as connection:
        for number in range(3):
            subscribe(connection, "subscription { ticks(count: 1000, pause: 10) }", str(number))
            hear(connection)
        # A reset, not a closing handshake.
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.socket.close()
        wait_until(lambda: world.events.count("ticks cleaned") == 3)
        wait_until(lambda: world.open_sessions == 0)


def test_giving_up_stops_a_query_but_not_a_mutation(client: httpx.Client, world: World) -> None:
    with greeted(client) as connection:
        subscribe(connection, "{ slow }", "q")
        subscribe(connection, "mutation { write(seconds: 0.3) }", "m")
        world.wait_for("slow started")
        world.wait_for("write started")
        tell(connection, {"id": "q", "type": "complete"})
        tell(connection, {"id": "m", "type": "complete"})
        world.wait_for("slow cancelled")
    world.wait_for("written")
    wait_until(lambda: world.open_sessions == 0)


def test_a_query_has_a_deadline_and_a_subscription_has_none() -> None:
    with edge(limits=EdgeLimits(seconds=1.0)) as (world, client), greeted(client) as connection:
        subscribe(connection, "{ slow }", "q")
        message = hear(connection)
        assert (message["id"], code(message)) == ("q", "DEADLINE_EXCEEDED")
        world.wait_for("slow cancelled")
        subscribe(connection, "subscription { ticks(count: 3, pause: 0.5) }", "s")
        assert [hear(connection)["type"] for _ in range(4)] == ["next"] * 3 + ["complete"]


def test_a_foreign_page_may_not_open_a_socket(client: httpx.Client) -> None:
    with pytest.raises(InvalidStatus) as caught, opened(client, origin="https://evil.example"):
        pass
    assert caught.value.response.status_code == 403
