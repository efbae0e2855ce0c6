"""GraphQL over server-sent events: who gets them, what they look like, and cleaning up after clients that go."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from app.graphql import EdgeLimits
from tests.app.edge_world import SECRET, World, ask, codes, edge, wait_until

Edge = tuple[World, httpx.Client]
EVENTS = {"Accept": "text/event-stream"}
URQL = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
TICKS = "subscription { ticks(count: 2) }"


@pytest.fixture(scope="module")
def served_edge() -> Iterator[Edge]:
    limits = EdgeLimits(streams=3, heartbeat_seconds=0.05, seconds=2.0, answer=2_000)
    with edge(limits=limits, cors_origins=["https://app.example"]) as pair:
        yield pair


@pytest.fixture
def client(served_edge: Edge) -> httpx.Client:
    return served_edge[1]


@pytest.fixture
def world(served_edge: Edge) -> World:
    served_edge[0].events.clear()
    return served_edge[0]


def events_in(text: str) -> list[tuple[str, Any]]:
    """The events of a stream in order; comments are left out, and anything else is an error."""
    found: list[tuple[str, Any]] = []
    for block in text.split("\n\n")[:-1]:
        if block != ":":
            name, data = block.split("\n")
            assert (name[:7], data[:5]) == ("event: ", "data:"), block
            found.append((name[7:], json.loads(data[5:]) if data[5:] else None))
    return found


def told(response: httpx.Response) -> list[tuple[str, Any]]:
    assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8"), response.text
    return events_in(response.text)


@pytest.mark.parametrize("accept", ["text/event-stream", "text/event-stream, application/json", URQL, "*/*, text/event-stream"])
def test_a_subscription_is_told_in_events_to_whoever_takes_them(client: httpx.Client, world: World, accept: str) -> None:
    response = ask(client, TICKS, {"Accept": accept})
    assert told(response) == [("next", {"data": {"ticks": 0}}), ("next", {"data": {"ticks": 1}}), ("complete", None)]
    assert response.headers["cache-control"] == "no-store"
    assert response.headers["x-accel-buffering"] == "no"
    assert world.open_sessions == 0
    assert world.events == ["ticks cleaned"]


@pytest.mark.parametrize("query", ["{ hello }", "mutation { write }"])
def test_whoever_prefers_events_gets_one_result_and_the_end(client: httpx.Client, query: str) -> None:
    (kind, payload), end = told(ask(client, query, EVENTS))
    assert (kind, end) == ("next", ("complete", None))
    assert payload["data"] in ({"hello": "world"}, {"write": "ok"})


@pytest.mark.parametrize("accept", [URQL, "text/event-stream, application/json", "text/event-stream;q=0.5, */*", "*/*"])
def test_whoever_names_json_or_wants_it_more_gets_json(client: httpx.Client, accept: str) -> None:
    response = ask(client, '{ hello } #"subscription"', {"Accept": accept})
    assert response.headers["content-type"].split(";")[0] in ("application/json", "application/graphql-response+json")
    assert response.json() == {"data": {"hello": "world"}}


def test_a_subscription_without_events_says_how_it_is_served(client: httpx.Client) -> None:
    response = ask(client, TICKS)
    assert response.status_code == 400
    assert "text/event-stream" in response.text


def test_only_queries_come_by_get(client: httpx.Client, world: World) -> None:
    (_, payload), _ = told(client.get("/graphql", params={"query": "{ hello }"}, headers=EVENTS))
    assert payload == {"data": {"hello": "world"}}
    for query in (TICKS, "mutation { write }"):
        response = client.get("/graphql", params={"query": query}, headers=EVENTS)
        assert (response.status_code, codes(response)) == (405, ["BAD_INPUT"])
    assert world.events == []


def test_errors_of_documents_and_fields_come_as_results(client: httpx.Client) -> None:
    for query, code in (("{", "GRAPHQL_PARSE_FAILED"), ("{ nothing }", "GRAPHQL_VALIDATION_FAILED")):
        (_, payload), end = told(ask(client, query, EVENTS))
        assert ([error["extensions"]["code"] for error in payload["errors"]], "data" in payload) == ([code], False)
        assert end == ("complete", None)
    (_, payload), _ = told(ask(client, "query A { hello }", EVENTS, operationName="B"))
    assert payload["errors"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
    response = ask(client, f'{{ hello boom(word: "{SECRET}") }}', EVENTS)
    (_, payload), _ = told(response)
    assert payload["data"] == {"hello": "world", "boom": None}
    assert SECRET not in response.text


def test_a_stream_that_breaks_says_so_masked_and_ends(client: httpx.Client) -> None:
    response = ask(client, "subscription { breaks }", EVENTS)
    first, broken, end = told(response)
    assert first == ("next", {"data": {"breaks": 1}})
    assert broken[1]["errors"][0]["extensions"]["code"] == "INTERNAL"
    assert (SECRET in response.text, end) == (False, ("complete", None))


def test_whoever_is_not_let_in_gets_a_status(client: httpx.Client) -> None:
    response = ask(client, "{ hello }", EVENTS | {"Authorization": "Bearer wrong"})
    assert (response.status_code, codes(response)) == (401, ["UNAUTHENTICATED"])
    response = ask(client, "{ hello }", EVENTS | {"Authorization": "Bearer broken"})
    assert (response.status_code, codes(response)) == (500, ["INTERNAL"])
    response = client.post("/graphql", content="query={hello}", headers=EVENTS | {"Content-Type": "text/plain"})
    assert response.status_code == 415


def test_pages_of_other_origins_are_refused_and_listed_ones_may_read(client: httpx.Client, world: World) -> None:
    before = len(world.opened)
    assert ask(client, TICKS, EVENTS | {"Origin": "https://other.example"}).status_code == 403
    assert len(world.opened) == before
    response = ask(client, TICKS, EVENTS | {"Origin": "https://app.example"})
    assert response.headers["access-control-allow-origin"] == "https://app.example"
    assert len(told(response)) == 3


def test_a_silent_stream_has_comments(client: httpx.Client) -> None:
    seen, request = "", {"query": "subscription { ticks(count: 2, pause: 60) }"}
    with client.stream("POST", "/graphql", json=request, headers=EVENTS) as response:
        for part in response.iter_text():
            seen += part
            if seen.count(":\n\n") >= 4:
                break
    assert len(told(ask(client, "subscription { ticks(count: 2, pause: 0.2) }", EVENTS))) == 3


def test_a_client_that_leaves_ends_the_subscription_and_the_query() -> None:
    with edge(limits=EdgeLimits(seconds=3_600)) as (world, client):
        request = {"query": "subscription { ticks(count: 999999, pause: 0.01) }"}
        with client.stream("POST", "/graphql", json=request, headers=EVENTS) as response:
            next(response.iter_bytes())
        world.wait_for("ticks cleaned")
        with client.stream("POST", "/graphql", json={"query": "{ slow(seconds: 3600) }"}, headers=EVENTS):
            world.wait_for("slow started")
        world.wait_for("slow cancelled")
        wait_until(lambda: world.open_sessions == 0)


def test_a_write_runs_to_its_end_though_its_client_leaves(client: httpx.Client, world: World) -> None:
    with client.stream("POST", "/graphql", json={"query": "mutation { write(seconds: 0.2) }"}, headers=EVENTS):
        world.wait_for("write started")
    world.wait_for("written")


def test_a_query_has_its_time_and_a_subscription_has_more(client: httpx.Client) -> None:
    (_, payload), end = told(ask(client, "{ slow(seconds: 5) }", EVENTS))
    assert (payload["errors"][0]["extensions"]["code"], end) == ("DEADLINE_EXCEEDED", ("complete", None))
    assert len(told(ask(client, "subscription { ticks(count: 4, pause: 0.7) }", EVENTS))) == 5


def test_a_result_that_is_too_large_is_refused(client: httpx.Client) -> None:
    (_, payload), _ = told(ask(client, "{ large(size: 3000) }", EVENTS))
    assert (payload["data"], payload["errors"][0]["extensions"]["code"]) == (None, "LIMIT_EXCEEDED")


def test_streams_are_bounded(client: httpx.Client, world: World) -> None:
    request = {"query": "subscription { ticks(count: 999999, pause: 0.01) }"}
    streams = [client.stream("POST", "/graphql", json=request, headers=EVENTS) for _ in range(3)]
    parts = [stream.__enter__().iter_bytes() for stream in streams]
    assert all(next(part) for part in parts)
    response = ask(client, TICKS, EVENTS)
    assert (response.status_code, codes(response), response.headers["retry-after"]) == (503, ["OVERLOADED"], "1")
    for stream in streams:
        stream.__exit__(None, None, None)
    wait_until(lambda: ask(client, TICKS, EVENTS).status_code == 200)
