"""The application as a whole: origins, admission, ids, logs, metrics, health."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from app.edge import build_app
from app.graphql import EdgeLimits
from app.lifecycle import Drain
from app.telemetry import Telemetry
from tests.app.edge_world import SCHEMA, SECRET, World, ask, codes, edge, served, wait_until

FRIEND = "https://app.example"
Edge = tuple[World, httpx.Client]


@pytest.fixture(scope="module")
def served_edge() -> Iterator[Edge]:
    with edge(cors_origins=[FRIEND]) as pair:
        yield pair


@pytest.fixture
def client(served_edge: Edge) -> httpx.Client:
    return served_edge[1]


def own_origin(client: httpx.Client) -> str:
    return str(client.base_url).rstrip("/")


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://localhost:1", "https://app.example.evil.example", "http://app.example", "x://["],
)
def test_pages_of_foreign_origins_are_refused_whatever_they_send(served_edge: Edge, origin: str) -> None:
    world, client = served_edge
    world.events.clear()
    headers = {"origin": origin}
    simple = client.post("/graphql", content=b"{}", headers={**headers, "content-type": "text/plain"})
    for response in (simple, ask(client, "mutation { write }", headers), client.get("/metrics", headers=headers)):
        assert (response.status_code, codes(response)) == (403, ["FORBIDDEN"])
        assert "access-control-allow-origin" not in response.headers
    preflight = {**headers, "access-control-request-method": "POST"}
    assert client.options("/graphql", headers=preflight).status_code == 403
    assert world.events == []


def test_own_pages_and_listed_origins_are_served(client: httpx.Client) -> None:
    assert ask(client, "{ hello }", {"origin": own_origin(client)}).status_code == 200
    response = ask(client, "{ hello }", {"origin": FRIEND})
    assert response.json() == {"data": {"hello": "world"}}
    assert response.headers["access-control-allow-origin"] == FRIEND
    preflight = client.options(
        "/graphql",
        headers={
            "origin": FRIEND,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization, content-type",
        },
    )
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == FRIEND


def test_a_star_lists_every_origin() -> None:
    with edge(cors_origins=["*"]) as (_, client):
        response = ask(client, "{ hello }", {"origin": FRIEND})
        assert response.json() == {"data": {"hello": "world"}}
        assert response.headers["access-control-allow-origin"] == "*"


def test_a_default_port_may_be_left_out_on_either_side(client: httpx.Client) -> None:
    headers = {"host": "kb.example", "origin": "https://kb.example"}
    assert ask(client, "{ hello }", headers).status_code == 200
    assert ask(client, "{ hello }", {**headers, "host": "kb.example:443"}).status_code == 200
    assert ask(client, "{ hello }", {**headers, "host": "kb.example:8443"}).status_code == 403


def test_ids_of_requests_come_back_or_are_made(served_edge: Edge) -> None:
    world, client = served_edge
    assert ask(client, "{ hello }", {"x-request-id": "mine-1"}).headers["x-request-id"] == "mine-1"
    assert world.opened[-1].request_id == "mine-1"
    for bad in ("with space", "x" * 65, "a\tb", '{"a":1}'):
        made = ask(client, "{ hello }", {"x-request-id": bad}).headers["x-request-id"]
        assert re.fullmatch("[0-9a-f]{16}", made)


def test_the_surplus_is_refused_at_once() -> None:
    with edge(concurrent=2) as (world, client):
        running = [threading.Thread(target=ask, args=(client, "{ held }")) for _ in range(2)]
        for thread in running:
            thread.start()
        wait_until(lambda: world.events.count("held") == 2)
        refused = ask(client, "{ hello }")
        assert (refused.status_code, codes(refused)) == (503, ["OVERLOADED"])
        assert refused.headers["retry-after"] == "1"
        assert client.get("/healthz").status_code == 200
        world.let_go.set()
        for thread in running:
            thread.join()
        assert ask(client, "{ hello }").status_code == 200


def test_many_requests_at_once_keep_to_themselves(served_edge: Edge) -> None:
    _, client = served_edge
    answers: dict[int, Any] = {}

    def one(number: int) -> None:
        query = "query($t: String!) { echo(text: $t) }"
        answers[number] = ask(client, query, variables={"t": str(number)}).json()["data"]["echo"]

    threads = [threading.Thread(target=one, args=(number,)) for number in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {number: str(number) for number in range(60)}


def test_the_access_line_tells_who_and_what_but_no_words(client: httpx.Client) -> None:
    with capture_logs() as logs:
        ask(
            client,
            "query Find($t: String!) { echo(text: $t) items(first: 7) { name } }",
            {"authorization": "Bearer me", "x-request-id": "r1"},
            variables={"t": SECRET},
        )
    (line,) = [entry for entry in logs if entry["event"] == "operation"]
    expected = {"operation": "Find", "type": "query", "status": 200, "codes": [], "principal": "Bearer me", "request_id": "r1"}
    assert expected.items() <= line.items()
    assert line["points"] == 1
    assert line["ms"] > 0
    assert SECRET not in str(logs)


def test_a_failure_leaves_no_word_of_the_request_in_the_log(client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    with capture_logs() as logs:
        ask(client, f'query Q($t: String!) {{ boom(word: $t) x: boom(word: "{SECRET}") }}', variables={"t": SECRET})
        client.post("/graphql", content=f'{{"query": {SECRET}'.encode(), headers={"content-type": "application/json"})
        ask(client, f"{{ {SECRET.replace('-', '_')} }}")
    assert any(entry["event"] == "unexpected error" for entry in logs)
    assert "zebra" not in str(logs)
    assert "zebra" not in caplog.text


def test_metrics_count_operations_by_type_and_outcome() -> None:
    telemetry = Telemetry()
    telemetry.watch("contextql_pool_in_use", "Connections in use", lambda: 3.0)
    telemetry.stage("lexical", 0.02)
    with edge(telemetry=telemetry) as (_, client):
        ask(client, "{ hello }")
        ask(client, "mutation { write }")
        ask(client, "{ hidden }")
        ask(client, "{")
        text = client.get("/metrics").text
    for line in (
        'contextql_operations_total{code="OK",type="query"} 1.0',
        'contextql_operations_total{code="OK",type="mutation"} 1.0',
        'contextql_operations_total{code="NAMESPACE_NOT_FOUND",type="query"} 1.0',
        'contextql_operations_total{code="GRAPHQL_PARSE_FAILED",type="unknown"} 1.0',
        'contextql_stage_seconds_count{stage="lexical"} 1.0',
        "contextql_pool_in_use 3.0",
        "contextql_in_flight 0.0",
    ):
        assert line in text


def test_alive_and_ready_are_told_apart() -> None:
    drain = Drain()
    with edge(drain=drain) as (world, client):
        assert client.get("/readyz").json() == {"ready": True, "reasons": []}
        world.reasons.append("4 fragments are not searchable yet")
        response = client.get("/readyz")
        assert (response.status_code, response.json()["reasons"]) == (503, ["4 fragments are not searchable yet"])
        world.reasons.clear()
        drain.begun = True
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200


def test_a_readiness_check_that_fails_is_masked() -> None:
    async def broken() -> list[str]:
        raise OSError(f"password {SECRET} refused")

    app = build_app(schema=SCHEMA, open_session=World().open_session, ready=broken)
    with served(app) as address:
        response = httpx.get(f"http://{address}/readyz", timeout=60, verify=False)
    assert response.status_code == 503
    assert SECRET not in response.text


def test_limits_reach_the_endpoint() -> None:
    with edge(limits=EdgeLimits(body=10)) as (_, client):
        assert ask(client, "{ hello }").status_code == 413


def test_what_escapes_below_is_masked() -> None:
    def broken(session: Any) -> dict[str, Any]:
        raise ZeroDivisionError(SECRET)

    app = build_app(schema=SCHEMA, open_session=World().open_session, ready=World().ready, describe=broken)
    with served(app) as address, capture_logs() as logs:
        response = httpx.post(f"http://{address}/graphql", json={"query": "{ hello }"}, timeout=60, verify=False)
    assert codes(response) == ["INTERNAL"]
    assert SECRET not in response.text + str(logs)
