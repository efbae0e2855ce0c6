"""The HTTP endpoint: what it accepts, how it answers, and when it stops working for a client."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from app.graphql import EdgeLimits
from tests.app.edge_world import SECRET, World, ask, codes, edge, wait_until

URQL = "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
Edge = tuple[World, httpx.Client]


@pytest.fixture(scope="module")
def served_edge() -> Iterator[Edge]:
    with edge() as pair:
        yield pair


@pytest.fixture
def client(served_edge: Edge) -> httpx.Client:
    return served_edge[1]


@pytest.fixture
def world(served_edge: Edge) -> World:
    served_edge[0].events.clear()
    return served_edge[0]


def post(client: httpx.Client, body: bytes, content_type: str = "application/json") -> httpx.Response:
    return client.post("/graphql", content=body, headers={"content-type": content_type})


def test_a_query_is_answered(client: httpx.Client) -> None:
    response = ask(client, "{ hello }")
    assert response.json() == {"data": {"hello": "world"}}
    assert response.headers["content-type"] == "application/json; charset=utf-8"


def test_variables_and_operation_names_choose_what_runs(client: httpx.Client) -> None:
    response = ask(
        client,
        "query A($t: String!) { echo(text: $t) } query B { hello }",
        variables={"t": "ё"},
        operationName="A",
    )
    assert response.json() == {"data": {"echo": "ё"}}


def test_an_unknown_operation_name_is_a_request_error(client: httpx.Client) -> None:
    response = ask(client, "query A { hello }", operationName="B")
    assert codes(response) == ["GRAPHQL_VALIDATION_FAILED"]
    assert "data" not in response.json()


def test_one_of_several_operations_must_be_named_however_often_it_is_sent(client: httpx.Client) -> None:
    first, second = (ask(client, "query A { hello } query B { hello }") for _ in range(2))
    assert codes(first) == codes(second) == ["GRAPHQL_VALIDATION_FAILED"]
    assert first.json() == second.json()
    assert "data" not in first.json()


def test_get_runs_queries_only(client: httpx.Client, world: World) -> None:
    assert client.get("/graphql", params={"query": "{ hello }"}).json() == {"data": {"hello": "world"}}
    for query in ("mutation { write }", "mutation Named { write }"):
        refused = client.get("/graphql", params={"query": query})
        assert (refused.status_code, codes(refused)) == (405, ["BAD_INPUT"])
    assert client.head("/graphql", params={"query": "mutation { write }"}).status_code == 405
    assert world.events == []


def test_get_reads_variables_as_json(client: httpx.Client) -> None:
    query = "query($t: String!) { echo(text: $t) }"
    good = client.get("/graphql", params={"query": query, "variables": '{"t": "a%2Fb"}'})
    assert good.json() == {"data": {"echo": "a%2Fb"}}
    assert client.get("/graphql", params={"query": query, "variables": "{t}"}).status_code == 400


@pytest.mark.parametrize(
    "accept", [URQL, "application/graphql-response+json", "application/json;q=0.5, application/graphql-response+json"]
)
def test_the_graphql_type_answers_when_it_is_named(client: httpx.Client, accept: str) -> None:
    response = ask(client, "{ hello }", {"accept": accept})
    assert response.headers["content-type"].startswith("application/graphql-response+json")
    assert response.json()["data"] == {"hello": "world"}


@pytest.mark.parametrize(
    "accept", ["*/*", "application/*", "application/json, text/event-stream", "text/event-stream, application/json"]
)
def test_plain_json_answers_everyone_else(client: httpx.Client, accept: str) -> None:
    response = ask(client, "{ hello }", {"accept": accept})
    assert response.headers["content-type"].startswith("application/json")


def test_a_client_that_takes_neither_type_is_told_so(client: httpx.Client) -> None:
    assert ask(client, "{ hello }", {"accept": "image/png"}).status_code == 406


@pytest.mark.parametrize(("query", "code"), [("{", "GRAPHQL_PARSE_FAILED"), ("{ nothing }", "GRAPHQL_VALIDATION_FAILED")])
def test_request_errors_have_no_data_and_400_in_the_graphql_type_only(client: httpx.Client, query: str, code: str) -> None:
    plain = ask(client, query)
    named = ask(client, query, {"accept": URQL})
    assert (plain.status_code, named.status_code) == (200, 400)
    assert codes(plain) == codes(named) == [code]
    assert "data" not in plain.json()


def test_variables_that_do_not_fit_are_bad_input(client: httpx.Client) -> None:
    response = ask(client, "query($n: Int!) { whole(number: $n) }", {"accept": URQL}, variables={"n": "x" * 3000})
    assert (response.status_code, codes(response)) == (400, ["BAD_INPUT"])
    assert len(response.json()["errors"][0]["message"]) <= 200


BAD_BODIES = {
    "not JSON": (b"{invalid}", "BAD_INPUT"),
    "empty": (b"", "BAD_INPUT"),
    "not UTF-8": (b'{"query": "\xff\xfe"}', "BAD_INPUT"),
    "a text": (b'"x"', "BAD_INPUT"),
    "null": (b"null", "BAD_INPUT"),
    "a batch": (b"[" + b",".join([b'{"query": "{ hello }"}'] * 10_000) + b"]", "BAD_INPUT"),
    "no query": (b"{}", "BAD_INPUT"),
    "a query that is a number": (b'{"query": 7}', "BAD_INPUT"),
    "variables that are a list": (b'{"query": "{ hello }", "variables": []}', "BAD_INPUT"),
    "a name that is a number": (b'{"query": "{ hello }", "operationName": 7}', "BAD_INPUT"),
    "extensions that are a list": (b'{"query": "{ hello }", "extensions": []}', "BAD_INPUT"),
    "100,000 brackets": (
        b'{"query": "{ hello }", "variables": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        "LIMIT_EXCEEDED",
    ),
    "100 brackets": (b'{"query": "{ hello }", "variables": {"a": ' + b"[" * 100 + b"]" * 100 + b"}}", "LIMIT_EXCEEDED"),
    "5,000 digits": (b'{"query": "{ hello }", "variables": {"a": ' + b"9" * 5_000 + b"}}", "BAD_INPUT"),
    "NaN": (b'{"query": "{ hello }", "variables": {"a": NaN}}', "BAD_INPUT"),
    "1e400": (b'{"query": "{ hello }", "variables": {"a": 1e400}}', "BAD_INPUT"),
    "a lone surrogate": (b'{"query": "{ hello }", "variables": {"a": "\\ud800"}}', "BAD_INPUT"),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_bad_body_gets_400_and_the_next_request_is_served(client: httpx.Client, name: str) -> None:
    body, code = BAD_BODIES[name]
    response = post(client, body)
    assert (response.status_code, codes(response)) == (400, [code])
    assert ask(client, "{ hello }").status_code == 200


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=utf-16",
        "",
    ],
)
def test_another_content_type_gets_415(client: httpx.Client, content_type: str) -> None:
    response = post(client, b'{"query": "{ hello }"}', content_type)
    assert (response.status_code, codes(response)) == (415, ["BAD_INPUT"])


def test_other_methods_get_405_with_those_allowed(client: httpx.Client) -> None:
    response = client.put("/graphql", json={"query": "{ hello }"})
    assert (response.status_code, response.headers["allow"]) == (405, "GET, POST")


def test_a_body_is_measured_as_it_comes() -> None:
    with edge(limits=EdgeLimits(body=1000)) as (_, client):
        room = 1000 - len(json.dumps({"query": "{ hello }", "pad": ""}))
        fits = json.dumps({"query": "{ hello }", "pad": "x" * room}).encode()
        assert post(client, fits).status_code == 200
        declared = post(client, fits + b" ")
        chunked = client.post("/graphql", content=iter([fits, b" "]), headers={"content-type": "application/json"})
        for refused in (declared, chunked):
            assert (refused.status_code, codes(refused)) == (413, ["LIMIT_EXCEEDED"])


def test_an_answer_has_a_greatest_size() -> None:
    with edge(limits=EdgeLimits(answer=10_000)) as (_, client):
        assert ask(client, "{ large(size: 9000) }").status_code == 200
        assert codes(ask(client, "{ large(size: 10000) }")) == ["LIMIT_EXCEEDED"]


def test_unexpected_errors_are_masked_and_siblings_stand(client: httpx.Client) -> None:
    response = ask(client, f'{{ hello boom(word: "{SECRET}") }}')
    (error,) = response.json()["errors"]
    assert response.json()["data"] == {"hello": "world", "boom": None}
    assert error["extensions"]["code"] == "INTERNAL"
    assert error["extensions"]["id"] in error["message"]
    assert "10.0.0.7" not in response.text
    assert SECRET not in response.text


def test_domain_errors_keep_their_code_and_sentence(client: httpx.Client) -> None:
    response = ask(client, "{ hidden }")
    assert codes(response) == ["NAMESPACE_NOT_FOUND"]
    assert "attic" in response.json()["errors"][0]["message"]


def test_errors_with_odd_extensions_are_still_valid_json(client: httpx.Client) -> None:
    (error,) = ask(client, "{ oddError }").json()["errors"]
    assert error["extensions"] == {"code": "BAD_INPUT", "score": None, "text": "a?b"}


def test_numbers_that_json_cannot_hold_become_null(client: httpx.Client) -> None:
    assert ask(client, "{ oddJson }").json()["data"]["oddJson"] == {"nan": None, "huge": 1e30, "text": "a?b", "fine": [1, "ы"]}
    assert ask(client, "{ infinite }").json()["data"] == {"infinite": None}


def test_a_timeout_inside_is_told_as_deadline(client: httpx.Client) -> None:
    assert codes(ask(client, "{ late }")) == ["DEADLINE_EXCEEDED"]


@pytest.mark.parametrize(("token", "status", "code"), [("wrong", 401, "UNAUTHENTICATED"), ("broken", 500, "INTERNAL")])
def test_a_session_that_does_not_open_gives_a_status(client: httpx.Client, token: str, status: int, code: str) -> None:
    response = ask(client, "{ hello }", {"authorization": f"Bearer {token}"})
    assert (response.status_code, codes(response)) == (status, [code])
    assert SECRET not in response.text
    assert (response.headers.get("www-authenticate") == "Bearer") == (status == 401)


def test_each_request_has_a_session_of_its_own_that_ends(client: httpx.Client, world: World) -> None:
    before = len(world.sessions)
    ask(client, "{ hello }", {"authorization": "Bearer a"})
    ask(client, "{ hello }", {"authorization": "Bearer b"})
    assert [session.credentials.authorization for session in world.sessions[before:]] == ["Bearer a", "Bearer b"]
    assert world.open_sessions == 0


def test_subscriptions_over_http_are_pointed_to_sockets(client: httpx.Client) -> None:
    response = ask(client, "subscription { ticks }")
    assert (response.status_code, codes(response)) == (400, ["BAD_INPUT"])
    assert "WebSocket" in response.text


def leave_after(client: httpx.Client, world: World, query: str, event: str) -> None:
    body = json.dumps({"query": query}).encode()
    host, port = client.base_url.host, client.base_url.port
    with socket.create_connection((host, port)) as connection:
        head = f"POST /graphql HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        connection.sendall(head.encode() + b"\r\n\r\n" + body)
        world.wait_for(event)


def test_a_client_that_goes_away_stops_its_query(client: httpx.Client, world: World) -> None:
    leave_after(client, world, "{ slow }", "slow started")
    world.wait_for("slow cancelled")
    wait_until(lambda: world.open_sessions == 0)


def test_a_client_that_goes_away_does_not_stop_its_mutation(client: httpx.Client, world: World) -> None:
    leave_after(client, world, "mutation { write(seconds: 0.3) }", "write started")
    world.wait_for("written")


def test_a_request_that_overruns_its_time_is_ended() -> None:
    with edge(limits=EdgeLimits(seconds=1.0)) as (world, client):
        plain = ask(client, "{ hello slow }")
        named = ask(client, "{ hello slow }", {"accept": URQL})
        assert codes(plain) == codes(named) == ["DEADLINE_EXCEEDED"]
        assert (plain.status_code, named.status_code) == (200, 504)
        assert world.events.count("slow cancelled") == 2
        assert world.open_sessions == 0
