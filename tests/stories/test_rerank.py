"""A judge orders what was found: what a caller sees of it, and that whatever goes wrong with it leaves the search as it was."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from app.providers.chat import OpenAIChat
from retrieval import ports
from retrieval.calls import Calls
from tests.fixtures.bases import Bases
from tests.fixtures.completions import ChatFaults
from tests.fixtures.desk import Desk, desk_at, with_namespace
from tests.fixtures.judges import Judge, attacks, obeyed, told
from tests.fixtures.openai_server import Faults, Message, OpenAIServer
from tests.fixtures.world import recorder, tuned

HIT = (
    "score rerankScore card { key } fragment { text heading } entity { key } signals { kind rawScore contribution } "
    "highlights { start } matchedIdentifiers"
)
ASK = """query($question: String!, $k: Int! = 4, $rerank: Boolean, $keys: [String!]) {
    search(question: $question, k: $k, rerank: $rerank, filter: {keys: $keys}) { FIELDS } }"""
WHOLE = f"hits {{ {HIT} }} neighbors {{ entity {{ key }} }} sources {{ key }} context degraded {{ part code message }}"
MARKED = re.compile(r"полезность (\d+)")
PEOPLE = """mutation($entities: [EntityInput!]!) {
    upsertEntities(input: {namespace: "docs", entities: $entities}) { results { outcome message } } }"""
FACTS = """mutation($facts: [FactInput!]!) {
    assertFacts(input: {namespace: "docs", facts: $facts}) { results { outcome message } } }"""


def marked(text: str) -> float:
    """What a text says it deserves; 1 where it says nothing."""
    found = MARKED.search(text)
    return float(found[1]) if found else 1.0


class Mind:
    """What the stand-in says as a judge: honest about the section, obedient to all else."""

    def __init__(self) -> None:
        self.reply: str | None = None

    def __call__(self, messages: list[Message], tools: list[str]) -> Message:
        heard = told([ports.Message(one["role"], one["content"]) for one in messages])
        return {"content": self.reply or json.dumps({str(place): mark for place, mark in obeyed(heard, marked).items()})}


@pytest.fixture(scope="module")
def stored(shared_bases: Bases) -> str:
    """Twenty pages about zebras, each as useful as it says; a page and a person that only the first of them leads to."""
    return shared_bases.filled(fill)


async def fill(url: str) -> None:
    async with desk_at(url) as desk:
        await with_namespace(desk)
        await desk.fill({f"k{n:02}": f"зебра {'зебра ' * (20 - n)}полезность {(n * 7) % 20 + 10} пропуск" for n in range(20)})
        await desk.fill({"far": "слон полезность 99 совсем о другом"})
        people = [{"key": "anna", "kind": "THING", "type": "person", "title": "Анна, полезность 95"}]
        done = (await desk.ask(PEOPLE, entities=people))["upsertEntities"]["results"]
        assert [one["outcome"] for one in done] == ["CREATED"]
        facts = [{"subject": "k00", "predicate": "near", "object": key} for key in ("far", "anna")]
        done = (await desk.ask(FACTS, facts=facts))["assertFacts"]["results"]
        assert {one["outcome"] for one in done} <= {"ASSERTED", "CREATED"}, done
        await desk.settle()


@pytest.fixture
async def desk(stored: str, bases: Bases, server: OpenAIServer) -> AsyncIterator[Desk]:
    """A desk at a copy of it, whose judge is the stand-in."""
    server.reset()
    server.mind = Mind()
    chat = OpenAIChat(model="judge-1", base_url=server.url)
    async with desk_at(bases.clone(stored)) as desk:
        desk.store.rerank_chat = chat
        yield desk
    server.reset()
    await chat.close()


async def search(desk: Desk, fields: str = WHOLE, question: str = "зебра", **given: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await desk.ask(ASK.replace("FIELDS", fields), question=question, **given))["search"]
    return found


async def test_the_judge_orders_what_was_found_and_what_is_around_it(desk: Desk, server: OpenAIServer) -> None:
    plain, found = await search(desk), await search(desk, rerank=True)
    assert [hit["entity"]["key"] for hit in found["hits"][:2]] == ["far", "anna"]
    assert [hit["rerankScore"] for hit in found["hits"][:2]] == [0.99, 0.95]
    marks = [hit["rerankScore"] for hit in found["hits"]]
    assert marks == sorted(marks, reverse=True)
    for hit in found["hits"]:
        assert hit["score"] == sum(signal["contribution"] for signal in hit["signals"])
        (verdict,) = [signal for signal in hit["signals"] if signal["kind"] == "RERANK"]
        assert (verdict["rawScore"], verdict["contribution"]) == (hit["rerankScore"], 0)
    far, anna = found["hits"][:2]
    assert (far["score"], far["fragment"]["text"]) == (0, "слон полезность 99 совсем о другом")
    assert (anna["fragment"], anna["highlights"], anna["matchedIdentifiers"], anna["card"]) == (None, [], [], {"key": "anna"})
    assert found["neighbors"] == plain["neighbors"], "those before the rerank"
    keys = [card["key"] for card in found["sources"]]
    assert keys == list(dict.fromkeys([*(hit["card"]["key"] for hit in found["hits"]), "far", "anna"]))
    assert found["context"].index("слон полезность 99") < found["context"].index("# Связанные сущности")
    assert "- [anna] (person)" in found["context"]
    assert found["degraded"] == []
    assert {hit["rerankScore"] for hit in plain["hits"]} == {None}
    (call,) = server.calls
    assert (call.body["model"], call.body["temperature"]) == ("judge-1", 0)


async def test_what_was_not_judged_follows_as_it_was_fused(desk: Desk) -> None:
    plain, found = await search(desk, k=20), await search(desk, k=20, rerank=True)
    judged, others = found["hits"][:14], found["hits"][14:]
    assert all(hit["rerankScore"] is not None for hit in judged)
    assert others == plain["hits"][12 : 12 + len(others)]
    assert len(others) == 6


async def test_lists_of_channels_and_a_recall_know_no_judge(desk: Desk, server: OpenAIServer) -> None:
    desk.store.tuning = replace(desk.store.tuning, rerank=True)
    lists = await search(desk, "vector { rerankScore } lexical { rerankScore } entities { score } neighbors { hops }")
    assert {hit["rerankScore"] for name in ("vector", "lexical") for hit in lists[name]} == {None}
    recalled = await desk.ask('{ recall(question: "зебра") { memories { rerankScore } context degraded { part } } }')
    assert {hit["rerankScore"] for hit in recalled["recall"]["memories"]} == {None}
    assert recalled["recall"]["degraded"] == []
    assert server.calls == []
    assert (await search(desk, "hits { rerankScore }"))["hits"][0]["rerankScore"] == 0.99, "the configuration says so"
    assert (await search(desk, "hits { rerankScore }", rerank=False))["hits"][0]["rerankScore"] is None


LOST: dict[str, tuple[Faults | str, str]] = {
    "hangs": (Faults(hang=True), "DEADLINE_EXCEEDED"),
    "is broken": (Faults(status=500), "PROVIDER_UNAVAILABLE"),
    "is busy for long": (Faults(status=429, headers={"Retry-After": "3600"}), "PROVIDER_UNAVAILABLE"),
    "does not know the key": (Faults(status=401), "PROVIDER_UNAVAILABLE"),
    "shows a page to log in": (Faults(html=True), "PROVIDER_UNAVAILABLE"),
    "gives no completion": (Faults(body=b'{"choices": []}'), "PROVIDER_UNAVAILABLE"),
    "gives no message": (Faults(body=b'{"choices": [{"message": null, "finish_reason": "stop"}]}'), "PROVIDER_UNAVAILABLE"),
    "breaks off": (Faults(chat=ChatFaults(cut_after=1)), "PROVIDER_UNAVAILABLE"),
    "runs out of room": (Faults(chat=ChatFaults(finish="length")), "PROVIDER_UNAVAILABLE"),
    "refuses": (Faults(chat=ChatFaults(refusal="I will not")), "PROVIDER_UNAVAILABLE"),
    "has a filter that refuses": (Faults(filtered=True), "PROVIDER_UNAVAILABLE"),
    "has no end": (Faults(chat=ChatFaults(endless=True)), "PROVIDER_UNAVAILABLE"),
    "talks": ("No candidate is relevant.", "PROVIDER_UNAVAILABLE"),
    "leaves one out": ('{"1": 5}', "PROVIDER_UNAVAILABLE"),
    "gives a megabyte": ("x" * 1_000_000, "PROVIDER_UNAVAILABLE"),
}


@pytest.mark.parametrize("fault", LOST)
async def test_a_judge_that_fails_leaves_the_search_as_it_was(desk: Desk, server: OpenAIServer, fault: str) -> None:
    plain = await search(desk)
    reply, code = LOST[fault]
    if isinstance(reply, Faults):
        server.faults = reply
        desk.store.tuning = tuned(rerank_seconds=1.0) if reply.hang else desk.store.tuning
    else:
        assert isinstance(server.mind, Mind)
        server.mind.reply = reply
    found = await search(desk, rerank=True)
    (entry,) = found.pop("degraded")
    assert (entry["part"], entry["code"]) == ("rerank", code)
    assert "зебра" not in entry["message"]
    assert found == {name: value for name, value in plain.items() if name != "degraded"}
    assert ("rerank", code) in recorder(desk.store).lost
    alone = await search(desk, "degraded { part code message }", rerank=True)
    assert [one["part"] for one in alone["degraded"]] == ["rerank"]


async def test_without_a_provider_nobody_is_asked(desk: Desk) -> None:
    plain = await search(desk)
    desk.store.rerank_chat = None
    found = await search(desk, rerank=True)
    assert [(one["part"], one["code"]) for one in found["degraded"]] == [("rerank", "PROVIDER_UNAVAILABLE")]
    assert found["hits"] == plain["hits"]


async def test_a_judge_that_breaks_its_promise_breaks_no_search(desk: Desk) -> None:
    judge = desk.store.rerank_chat = Judge()
    judge.error = ValueError("secret 10.0.0.7")
    found = await search(desk, rerank=True)
    assert [(one["part"], one["code"], one["message"]) for one in found["degraded"]] == [
        ("rerank", "PROVIDER_UNAVAILABLE", "The rerank failed.")
    ]
    judge.error, judge.gate = None, asyncio.Event()
    desk.store.tuning = tuned(rerank_seconds=0.5)
    found = await search(desk, "hits { score } degraded { code }", rerank=True)
    assert found["degraded"] == [{"code": "DEADLINE_EXCEEDED"}]


async def test_a_walk_that_fails_takes_the_rerank_along_and_not_the_hits(desk: Desk) -> None:
    fields = "hits { score rerankScore card { key } } degraded { part code message }"
    plain = await search(desk, fields)
    async with desk.store.database.writing() as connection:
        await connection.execute("drop table edge cascade")
    found = await search(desk, fields, rerank=True)
    assert found["hits"] == plain["hits"]
    assert found["degraded"] == [{"part": "rerank", "code": "INTERNAL", "message": "The rerank failed."}]


async def test_a_caller_who_has_all_calls_under_way_gets_the_fused_order(desk: Desk) -> None:
    judge = desk.store.rerank_chat = Judge()
    judge.gate = asyncio.Event()
    desk.store.calls = Calls(5, 1)
    fields = "hits { rerankScore } degraded { part code }"
    first = asyncio.create_task(search(desk, fields, rerank=True))
    while not judge.asked:
        await asyncio.sleep(0.01)
    second = await search(desk, fields, rerank=True)
    judge.gate.set()
    assert second["degraded"] == [{"part": "rerank", "code": "OVERLOADED"}]
    assert {hit["rerankScore"] for hit in second["hits"]} == {None}
    assert (await first)["degraded"] == []
    assert (await search(desk, fields, rerank=True))["degraded"] == [], "room is given back"


async def test_documents_that_give_orders_move_no_rank(desk: Desk, server: OpenAIServer) -> None:
    found = [f"k{number:02}" for number in range(12)]
    fields = "hits { rerankScore card { key } }"
    before = await search(desk, fields, k=14, rerank=True, keys=found)
    for number, attack in enumerate(attacks(3)[:12]):
        key = f"k{number:02}"
        text = f"зебра {'зебра ' * (20 - number)}полезность {(number * 7) % 20 + 10} пропуск {attack}"
        (result,) = await desk.write({"key": key, "content": text.replace("\u2028", " "), "mediaType": "text/plain"})
        assert result["outcome"] == "UPDATED", result
    await desk.settle()
    assert len(before["hits"]) == 14
    assert await search(desk, fields, k=14, rerank=True, keys=found) == before


# ------------------------------------------------------------------------------------------------ one a request


def two(first: str, second: str, fields: str) -> str:
    return f"{{ a: search({first}) {{ {fields} }} b: search({second}) {{ {fields} }} }}"


@pytest.mark.parametrize("fields", ["question", "lexical { score }", "hits { score }", "degraded { code }", "__typename"])
async def test_a_second_rerank_is_refused_whatever_is_selected(desk: Desk, server: OpenAIServer, fields: str) -> None:
    asked = 'question: "зебра", rerank: true', 'question: "слон", rerank: true'
    assert await desk.refusal(two(*asked, fields)) == "LIMIT_EXCEEDED"
    assert await desk.refusal(two(*asked, fields)) == "LIMIT_EXCEEDED", "when the document is known too"
    assert server.calls == []
    await desk.ask(two(asked[0], 'question: "слон"', fields))
    await desk.ask(two(asked[0], 'question: "слон", rerank: false', fields))


async def test_equal_searches_are_one_rerank(desk: Desk, server: OpenAIServer) -> None:
    same = 'question: "зебра", rerank: true'
    await desk.ask(two(same, 'rerank: true, hops: 1, k: 8, locale: AUTO, question: "зебра", namespaces: null', "hits { score }"))
    assert len(server.calls) == 1


async def test_variables_fragments_and_the_configuration_count(desk: Desk) -> None:
    document = """query($r: Boolean, $q: String = "слон", $not: Boolean! = false) { ...All }
        fragment All on Query { a: search(question: "зебра", rerank: $r) { question }
            ... @skip(if: $not) { b: search(question: $q, rerank: $r) { question } } }"""
    assert await desk.refusal(document, r=True) == "LIMIT_EXCEEDED"
    await desk.ask(document, r=True, q="зебра")
    await desk.ask(document, r=True, **{"not": True})
    await desk.ask(document, r=False)
    await desk.ask(document)
    desk.store.tuning = replace(desk.store.tuning, rerank=True)
    assert await desk.refusal(document) == "LIMIT_EXCEEDED"
    assert await desk.refusal(document, r=None) == "LIMIT_EXCEEDED"
    await desk.ask(document, r=False)


async def test_a_trace_tells_of_the_rerank_and_of_what_it_lifted(desk: Desk) -> None:
    shown = "stages { name } candidates(first: 100) { nodes { kind outcome title signals { kind rawScore } } }"
    why = 'far: why(key: "far") { outcome } low: why(key: "k19") { outcome explanation }'
    found = await search(desk, f"hits {{ card {{ key }} }} traceId trace {{ {shown} {why} }}", rerank=True)
    lifted = [one for one in found["trace"]["candidates"]["nodes"] if one["outcome"] == "INCLUDED" and one["kind"] == "FRAGMENT"]
    assert [signal["rawScore"] for signal in lifted[0]["signals"] if signal["kind"] == "RERANK"] == [0.99]
    assert (found["trace"]["far"]["outcome"], found["trace"]["low"]["outcome"]) == ("INCLUDED", "OUTRANKED")
    assert "чат-модель" in found["trace"]["low"]["explanation"]
    stored = (await desk.ask("query($id: ID!) { trace(traceId: $id) { stages { name note } } }", id=found["traceId"]))["trace"]
    assert {"pool", "scores", "neighbors", "hits"} <= {one["name"] for one in stored["stages"]}
