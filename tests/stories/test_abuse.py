"""Requests made to harm: each is refused fast and with a code, nothing of it runs, and the next caller is served."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from typing import Any

import psutil
import pytest

from retrieval.cursor import make_cursor
from tests.fixtures.desk import Desk, with_namespace
from tests.fixtures.world import recorder
from tests.fixtures.writing import row_counts, values

OK = "{ viewer { principal } }"


def nested(depth: int) -> str:
    """Entities of fragments of entities …"""
    opened = "fragments { nodes { entity { " * (depth // 3)
    return '{ entity(namespace: "docs", key: "a") { ' + opened + "key" + " } } }" * (depth // 3) + " } }"


def doubling(levels: int) -> str:
    """Every fragment spreads the next one twice."""
    parts = [f"fragment F{n} on Search {{ ...F{n + 1} ...F{n + 1} }}" for n in range(levels)]
    return '{ search(question: "x") { ...F0 } } ' + " ".join(parts) + f" fragment F{levels} on Search {{ question }}"


def many(count: int, part: str) -> str:
    return " ".join(part.format(number) for number in range(count))


SEARCH = 'search(question: "x") {{ hits {{ score }} }}'
WRITE = 'ingestSources(input: {{namespace: "docs", sources: [{{key: "k{0}", content: "x"}}]}}) {{ results {{ key }} }}'
PAGE = "fragments(first: 100) { nodes { entity { "
HOSTILE = {
    **{f"{depth} levels": nested(depth) for depth in (50, 150, 198, 1_000, 100_000)},
    "nested lists": "{ nodes(ids: " + "[" * 1_000 + "]" * 1_000 + ") { id } }",
    "nested objects": '{ search(question: "x", filter: {meta: ' + "{a: " * 500 + "1" + "}" * 500 + "}) { question } }",
    "25 doubling levels": doubling(25),
    "18 doubling levels": doubling(18),
    "1,000 aliases": "{ " + many(1_000, "a{0}: " + SEARCH) + " }",
    "31 aliases": "{ " + many(31, "a{0}: viewer {{ principal }}") + " }",
    "1,000 equal fields": '{ search(question: "x") { ' + "question " * 1_000 + "} }",
    "500 directives": '{ search(question: "x") { question ' + "@include(if: true) " * 500 + "} }",
    "100 writes": "mutation { " + many(100, "a{0}: " + WRITE) + " }",
    "11 writes": "mutation { " + many(11, "a{0}: " + WRITE) + " }",
    "a page of a million": '{ entity(namespace: "docs", key: "a") { fragments(first: 1000000) { nodes { id } } } }',
    "pages of pages": '{ entity(namespace: "docs", key: "a") { ' + PAGE * 3 + "key" + " } } }" * 3 + " } }",
    "a thousand ids": "{ nodes(ids: [" + many(1_000, '"{0}"') + "]) { id } }",
    "deferred parts": '{ search(question: "x") { ' + "... @defer { question } " * 500 + "} }",
    "deep introspection": "{ __schema { types { fields { type { " + "ofType { " * 30 + "name" + " }" * 30 + " } } } } }",
    "many introspections": "{ " + many(20, "a{0}: __schema {{ types {{ name }} }}") + " }",
}


@pytest.fixture
async def stored(desk: Desk) -> Desk:
    """A document to be after."""
    await desk.fill({"a": "# Один\n\nтекст\n\n# Два\n\nтекст"})
    return desk


@pytest.mark.usefixtures("no_collector")
async def test_a_hostile_document_is_refused_before_it_runs(stored: Desk, subtests: pytest.Subtests) -> None:
    counts = await row_counts(stored.store)
    recorder(stored.store).forget()
    for name, query in HOSTILE.items():
        with subtests.test(name):
            started = time.process_time()
            code = await stored.refusal(query)
            assert time.process_time() - started < 2
            assert code in {"LIMIT_EXCEEDED", "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED", "BAD_INPUT"}
    assert set(recorder(stored.store).counted) <= {"caller", "entities_by_key"}
    assert await row_counts(stored.store) == counts
    await stored.ask(OK)


async def test_a_page_has_from_1_to_100_items(stored: Desk, subtests: pytest.Subtests) -> None:
    query = 'query($n: Int!) { entity(namespace: "docs", key: "a") { fragments(first: $n) { nodes { text } } } }'
    for first, code in ((0, "BAD_INPUT"), (-1, "BAD_INPUT"), (101, "BAD_INPUT"), (10**6, "LIMIT_EXCEEDED")):
        with subtests.test(first=first):
            response = (await stored.send(query, n=first)).json()
            assert [error["extensions"]["code"] for error in response["errors"]] == [code]


BODIES = {
    "a batch": (json.dumps([{"query": OK}] * 10), "application/json", 400),
    "a form": ("query=" + OK, "application/x-www-form-urlencoded", 415),
    "files": ("--x\r\n\r\n" + "y" * 100_000 + "\r\n--x--", "multipart/form-data; boundary=x", 415),
    "100,000 brackets": (
        '{"query": "{ viewer }", "variables": {"a": ' + "[" * 100_000 + "]" * 100_000 + "}}",
        "application/json",
        400,
    ),
    "5,000 digits": ('{"query": "{ viewer }", "variables": {"a": ' + "9" * 5_000 + "}}", "application/json", 400),
    "no JSON": ("{invalid}", "application/json", 400),
    "more than the limit": ('{"query": "' + " " * 17_000_000 + '"}', "application/json", 413),
}


async def test_a_body_is_refused_before_it_is_understood(desk: Desk, subtests: pytest.Subtests) -> None:
    for name, (body, kind, status) in BODIES.items():
        with subtests.test(name):
            started = time.process_time()
            answer = await desk.client.post("/graphql", content=body, headers={"Content-Type": kind})
            assert (answer.status_code, list(answer.json())) == (status, ["errors"])
            assert time.process_time() - started < 8
            await desk.ask(OK)


async def test_a_large_upload_is_thrown_away_as_it_comes_and_others_keep_their_speed(desk: Desk) -> None:
    async def upload() -> AsyncIterator[bytes]:
        for _ in range(100):
            yield b" " * 1_000_000

    before = psutil.Process().memory_info().rss
    kind = {"Content-Type": "application/json"}
    uploading = asyncio.create_task(desk.client.post("/graphql", content=upload(), headers=kind))
    while not uploading.done():
        started = time.process_time()
        await desk.ask(OK)
        assert time.process_time() - started < 4
    assert (await uploading).status_code == 413
    assert psutil.Process().memory_info().rss - before < 60_000_000


async def test_many_and_large_variables_are_weighed(desk: Desk) -> None:
    body = {"query": "query($q: String!) { search(question: $q) { question } }"}
    for variables in ({"q": "x" * 5_000_000}, {"q": "x"} | {f"v{number}": number for number in range(100_000)}):
        started = time.process_time()
        answer = (await desk.client.post("/graphql", json=body | {"variables": variables})).json()
        assert time.process_time() - started < 8
        assert len(json.dumps(answer)) < 2_000
    ids = {"query": "query($ids: [ID!]!) { nodes(ids: $ids) { id } }", "variables": {"ids": ["x"] * 20_000}}
    assert (await desk.client.post("/graphql", json=ids)).json()["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


async def test_a_write_never_runs_by_get(desk: Desk) -> None:
    write = 'mutation Named { createNamespace(input: {name: "sneaky"}) { namespace { name } } }'
    for parameters in (
        {"query": write},
        {"query": write, "operationName": "Named"},
        {"query": f"query Q {OK} {write}", "operationName": "Named"},
    ):
        answer = await desk.client.get("/graphql", params=parameters)
        assert answer.status_code == 405
        assert (await desk.client.head("/graphql", params=parameters)).status_code == 405
    assert "sneaky" not in await values(desk.store, "select name from namespace")


CURSORS = ("WyJUZXN0Il0=", "", "x", "!!!", "ы", "a" * 10_000, "bnVsbA", "AAAAAAAAAAAAAAAAAAAAAFsxXQ")


async def test_a_cursor_that_was_not_given_out_is_refused_quietly(
    stored: Desk, subtests: pytest.Subtests, caplog: pytest.LogCaptureFixture
) -> None:
    query = (
        'query($after: String) { entity(namespace: "docs", key: "a") { fragments(first: 1, after: $after) { nodes { text } } } }'
    )
    with caplog.at_level(logging.ERROR):
        for cursor in CURSORS:
            with subtests.test(cursor[:20]):
                (error,) = (await stored.send(query, after=cursor)).json()["errors"]
                assert error["extensions"]["code"] == "BAD_CURSOR"
                assert cursor[:10] not in error["message"] or not cursor
    assert caplog.records == []


async def test_cursors_go_through_an_address_and_walk_every_row_once(desk: Desk) -> None:
    await desk.fill({"a": "\n\n".join(f"# Раздел {number}\n\nодин и тот же текст" for number in range(60))})
    query = """query($after: String, $n: Int!) { entity(namespace: "docs", key: "a") {
        fragments(first: $n, after: $after) { edges { cursor node { id ordinal } } pageInfo { hasNextPage endCursor }
        totalCount } } }"""
    whole: list[str] = []
    for size in (1, 7, 10, 59, 60, 100):
        seen: list[str] = []
        after, more = None, True
        while more:
            parameters = {"query": query, "variables": json.dumps({"after": after, "n": size})}
            page = (await desk.client.get("/graphql", params=parameters)).json()["data"]["entity"]["fragments"]
            assert page["totalCount"] == 60
            seen += [edge["node"]["id"] for edge in page["edges"]]
            after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
        whole = whole or seen
        assert seen == whole
    assert len(set(whole)) == 60
    letters = set("".join(make_cursor(b"secret", ["fragments", number], [number]) for number in range(1_000)))
    assert letters <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


async def test_a_short_list_begins_the_long_one(desk: Desk) -> None:
    await desk.fill({f"k{number:02}": "один и тот же текст" for number in range(60)}, title="Одно имя")
    await desk.settle()
    for among in ("lexical", "vector", "hits"):
        longest = await desk.find("текст", among, k=50)
        assert longest == sorted(longest)
        for k in (1, 2, 3, 5, 8, 20, 21, 49):
            assert await desk.find("текст", among, k=k) == longest[:k], (among, k)


METAS: list[Any] = [
    {"author' OR '1'='1' --": "x"}, {"author": "x' OR '1'='1"}, {'"': '"'}, {"{}": "[]"}, {"$1": "%"},
    {"a": {"b": ["c", 1, None, True]}}, {"автор": "Ёж"}, {"": ""},
]  # fmt: skip


async def test_tags_are_values_whatever_they_say(desk: Desk, subtests: pytest.Subtests) -> None:
    await desk.write(*({"key": f"k{number}", "content": "текст", "meta": meta} for number, meta in enumerate(METAS)))
    await desk.fill({"plain": "текст"}, meta={"author": "x"})
    for number, meta in enumerate(METAS):
        with subtests.test(json.dumps(meta)):
            assert await desk.find("текст", filter={"meta": meta}) == [f"k{number}"]
    assert await desk.find("текст", filter={"meta": {"author": "%"}}) == []
    deep: Any = 1
    for _ in range(50):
        deep = {"a": deep}
    for refused in (deep, {str(number): number for number in range(10_000)}, {"a": "\x00"}, {"a": "x" * 10_000}, [1], "x"):
        query = 'query($m: JSON) { search(question: "x", filter: {meta: $m}) { hits { score } } }'
        assert await desk.refusal(query, m=refused) == "BAD_INPUT"


NAMES = ['a"; drop table fragment; --', "a%", "ab", "a_", "A%", " a", "tenant:7:ws:2", "тема"]


async def test_names_of_namespaces_are_only_names(desk: Desk, subtests: pytest.Subtests) -> None:
    kept = []
    for name in NAMES:
        response = await desk.send("mutation($n: String!) { createNamespace(input: {name: $n}) { namespace { name } } }", n=name)
        if "errors" not in response.json():
            kept.append(name)
            await desk.fill({"a": f"слово {name}"}, name)
    assert {"a%", "ab", "a_", "A%", "tenant:7:ws:2", "тема", 'a"; drop table fragment; --'} <= set(kept)
    for name in kept:
        with subtests.test(name):
            found = await desk.ask(
                'query($n: String!) { search(question: "слово", namespaces: [$n]) { lexical { fragment { namespace } } } }',
                n=name,
            )
            assert found["search"]["lexical"] == [{"fragment": {"namespace": name}}]


async def test_headers_that_ask_for_traces_get_none(desk: Desk) -> None:
    headers = {
        "apollo-federation-include-trace": "ftv1",
        "apollo-tracing": "1",
        "x-debug": "1",
        "traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01",
    }
    body = {"query": '{ search(question: "x") { hits { score } } }', "extensions": {"tracing": True}}
    plain = await desk.client.post("/graphql", json={"query": body["query"]})
    asked = await desk.client.post("/graphql", json=body, headers=headers)
    assert (asked.status_code, asked.json()) == (plain.status_code, plain.json())
    assert set(asked.json()["extensions"]) == {"cost"}


async def test_ranges_of_static_files_are_not_computed(desk: Desk) -> None:
    ranges = "bytes=" + ",".join(f"{number}-{number}" for number in range(5_000))
    started = time.process_time()
    answer = await desk.client.get("/static/graphiql/page.js", headers={"Range": ranges})
    assert time.process_time() - started < 2
    assert answer.status_code in (200, 400, 431)


ROOTS = {
    "search": 'search(question: "x") { hits { score } }',
    "recall": 'recall(question: "x") { count }',
    "viewer": "viewer { principal }",
    "knowledge": "knowledge { isEmpty }",
    "entity": 'entity(namespace: "docs", key: "a") { key }',
    "source": 'source(namespace: "docs", key: "a") { key }',
    "node": 'node(id: "x") { id }',
    "nodes": 'nodes(ids: ["x"]) { id }',
}


async def test_without_a_name_nothing_is_there(stored: Desk, subtests: pytest.Subtests) -> None:
    for authorization in ("Bearer", "Bearer null", "bearer undefined", "Basic YTpi", "x" * 5_000):
        for name, field in ROOTS.items():
            with subtests.test(name, authorization=authorization[:20]):
                answer = await stored.client.post(
                    "/graphql", json={"query": f"{{ {field} }}"}, headers={"Authorization": authorization}
                )
                assert answer.status_code == 401
                assert [error["extensions"]["code"] for error in answer.json()["errors"]] == ["UNAUTHENTICATED"]
                assert "data" not in answer.json() or not any((answer.json()["data"] or {}).values())


async def test_a_name_without_rights_sees_an_empty_house(stored: Desk) -> None:
    await with_namespace(stored, "closed")
    await stored.ask('mutation { upsertPrincipals(input: {principals: [{name: "nobody", kind: USER}]}) { results { key } } }')
    token = await stored.token("nobody")
    found = await stored.ask(
        '{ knowledge { isEmpty namespaces { name } pendingEmbeddings } search(question: "текст") { hits { score } } }', token
    )
    assert found == {"knowledge": {"isEmpty": True, "namespaces": [], "pendingEmbeddings": 0}, "search": {"hits": []}}
    assert await stored.refusal(ROOTS["entity"].join("{}"), token) == "NAMESPACE_NOT_FOUND"
