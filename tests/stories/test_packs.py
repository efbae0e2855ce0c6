"""A pack about a ticket of a software team: what is in it and why, what was dropped, two dates, two languages, and refusals."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from app.demo.team import load_team
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.bases import Bases
from tests.fixtures.desk import Desk, desk_at
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.writing import ADMIN

EARLY, LATE = "2026-09-06T00:00:00Z", "2026-09-14T00:00:00Z"
PACK = """query($question: String! = "", $namespaces: [String!] = ["team"], $relevanceScopes: [String!]! = [],
              $allowedScopes: [String!], $anchors: [EntityRef!]! = [], $subject: SubjectInput, $ephemeralContext: JSON,
              $maxTokens: Int, $strategy: Strategy! = HYBRID, $asOf: DateTime, $knownAt: DateTime, $k: Int! = 8,
              $locale: Locale! = AUTO) {
    contextPack(question: $question, namespaces: $namespaces, relevanceScopes: $relevanceScopes, allowedScopes: $allowedScopes,
                anchors: $anchors, subject: $subject, ephemeralContext: $ephemeralContext, maxTokens: $maxTokens,
                strategy: $strategy, asOf: $asOf, knownAt: $knownAt, k: $k, locale: $locale) { FIELDS } }"""
ALL = """question tokenEstimate text textTokenEstimate sources { key } degraded { part code }
    conflicts { factId value } budget { maxTokens usedTokens truncated dropped { itemId kind title score tokenEstimate reason } }
    sections { kind tokenEstimate items { itemId kind title text namespace sourcePath score tokenEstimate conflict neutralized
        signals { kind channel rank rawScore weight contribution } provenance { kind label key }
        fragment { entity { key } } fact { factId predicate } entity { key } } }"""
TICKET = [{"key": "PAY-101"}]
RUNBOOK = "How do I restart the payments service?"


@pytest.fixture(scope="module")
def stored(shared_bases: Bases) -> str:
    """A base with the example of a software team, and what it noted about a project."""
    return shared_bases.filled(fill)


async def fill(url: str) -> None:
    async with desk_at(url) as desk:
        await load_team(desk.store)
        await desk.fill({"заметка/сбой": "Платежи зависают после обновления базы, перезапуск помогает."}, namespace="team")
        await create_namespace(desk.store.database, ADMIN, "closed")
        await desk.fill({"PAY-101": "a ticket of somebody else"}, namespace="closed")
        for day in (1, 2, 3):
            await note(desk, f"Deploy {day} went well.", f"2026-09-0{day}T00:00:00Z", "project:alpha")
        await note(desk, "Another project.", "2026-09-04T00:00:00Z", "project:beta")
        await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("reader", "USER")])
        await grant(desk.store.database, ADMIN, "reader", "team", "READER")
        await desk.settle()


async def note(desk: Desk, text: str, at: str, scope: str) -> None:
    mutation = """mutation($observations: [ObservationInput!]!) {
        recordObservations(input: {namespace: "team", observations: $observations}) { results { outcome message } } }"""
    await desk.ask(mutation, observations=[{"text": text, "observedAt": at, "relevanceScopes": [scope]}])


@pytest.fixture
async def team(stored: str) -> Any:
    """A desk at it."""
    async with desk_at(stored) as desk:
        yield desk


async def packed(desk: Desk, fields: str = ALL, token: str | None = None, **given: Any) -> dict[str, Any]:
    found: dict[str, Any] = (await desk.ask(PACK.replace("FIELDS", fields), token, **given))["contextPack"]
    return found


async def refused(desk: Desk, **given: Any) -> str:
    """The sentence of a refusal, which is BAD_INPUT and the same whatever is selected."""
    sentences = set()
    for fields in ("question", "budget { usedTokens }", ALL):
        response = await desk.send(PACK.replace("FIELDS", fields), **given)
        (error,) = response.json()["errors"]
        assert error["extensions"]["code"] == "BAD_INPUT", error
        sentences.add(error["message"])
    (sentence,) = sentences
    return str(sentence)


def items(pack: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """The items of a section."""
    return [item for section in pack["sections"] if section["kind"] == kind for item in section["items"]]


def texts(pack: dict[str, Any], kind: str) -> list[str]:
    return [item["text"] for item in items(pack, kind)]


def everything(pack: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for section in pack["sections"] for item in section["items"]]


def adds_up(pack: dict[str, Any]) -> None:
    """What holds for every pack."""
    found, budget = everything(pack), pack["budget"]
    for item in found:
        score = 0.0
        for signal in item["signals"]:
            score += signal["contribution"]
        assert item["score"] == score
        assert item["tokenEstimate"] == math.ceil(len(item["text"]) / 3)
        rank = [s for s in item["signals"] if s["kind"] == "RANK"]
        assert all(s["contribution"] == s["weight"] / (60 + s["rank"] + 1) for s in rank)
    assert budget["usedTokens"] == pack["tokenEstimate"] == sum(item["tokenEstimate"] for item in found) <= budget["maxTokens"]
    assert [s["tokenEstimate"] for s in pack["sections"]] == [
        sum(item["tokenEstimate"] for item in section["items"]) for section in pack["sections"]
    ]
    assert pack["textTokenEstimate"] == math.ceil(len(pack["text"]) / 3)
    ids = [one["itemId"] for one in [*found, *budget["dropped"]]]
    assert len(set(ids)) == len(ids)


# ------------------------------------------------------------------------------------------------ what is in it


async def test_a_pack_has_its_sections_in_order_and_every_score_adds_up(team: Desk) -> None:
    pack = await packed(team, question=RUNBOOK, anchors=TICKET, ephemeralContext={"page": "PAY-101"}, asOf=LATE,
                        relevanceScopes=["project:alpha"])  # fmt: skip
    adds_up(pack)
    kinds = [section["kind"] for section in pack["sections"]]
    assert kinds == ["CURRENT", "RELEVANT_FACTS", "DOCUMENTS", "RELATED_ENTITIES", "RECENT_OBSERVATIONS"]
    (current,) = items(pack, "CURRENT")
    assert (current["itemId"], current["text"], current["score"], current["signals"]) == ("current", '{"page":"PAY-101"}', 0, [])
    assert "runbook/payments.md" in {item["fragment"]["entity"]["key"] for item in items(pack, "DOCUMENTS")}
    notes = items(pack, "RECENT_OBSERVATIONS")
    assert {s["kind"] for item in notes for s in item["signals"]} >= {"RANK", "RELEVANCE_SCOPE", "FRESHNESS"}
    assert "Another project." not in texts(pack, "RECENT_OBSERVATIONS")
    assert pack["degraded"] == []


async def test_recent_observations_come_latest_first(team: Desk) -> None:
    pack = await packed(team, strategy="BRIEFING", relevanceScopes=["project:alpha"])
    adds_up(pack)
    assert texts(pack, "RECENT_OBSERVATIONS") == [f"Deploy {day} went well." for day in (3, 2, 1)]


async def test_conflicting_facts_stand_side_by_side(team: Desk) -> None:
    pack = await packed(team, anchors=TICKET, strategy="GRAPH", asOf=EARLY, k=30)
    adds_up(pack)
    facts = items(pack, "RELEVANT_FACTS")
    at = [place for place, item in enumerate(facts) if item["conflict"]]
    assert len(at) == 2
    assert at[1] == at[0] + 1
    assert sorted(fact["value"] for fact in pack["conflicts"]) == ["high", "medium"]
    assert [fact["factId"] for fact in pack["conflicts"]] == [facts[place]["fact"]["factId"] for place in at]
    assert pack["text"].count(" (in conflict)") == 2
    late = await packed(team, anchors=TICKET, strategy="GRAPH", asOf=LATE, k=30)
    assert late["conflicts"] == []


async def test_a_conflict_that_has_no_room_is_dropped_whole(team: Desk) -> None:
    for budget in range(20, 200, 9):
        pack = await packed(team, anchors=TICKET, strategy="GRAPH", asOf=EARLY, k=30, maxTokens=budget)
        adds_up(pack)
        assert len(pack["conflicts"]) in (0, 2)


async def test_two_dates_give_two_packs(team: Desk) -> None:
    early, late = [await packed(team, anchors=TICKET, strategy="BRIEFING", asOf=at, k=30) for at in (EARLY, LATE)]
    tickets = [[text for text in texts(pack, "RELEVANT_FACTS") if text.startswith("Payments")] for pack in (early, late)]
    assert tickets[0] != tickets[1]
    states = [[text for text in texts(pack, "RELEVANT_FACTS") if " state " in text] for pack in (early, late)]
    assert any("in progress (2026-09-04T08:00:00Z – 2026-09-11T15:00:00Z)" in text for text in states[0])
    assert any("done (2026-09-13T09:00:00Z – …)" in text for text in states[1])
    assert not any("done" in text for text in states[0])
    versions = [
        [text for text in texts(pack, "RELATED_ENTITIES") if text.startswith("[service/payments]")] for pack in (early, late)
    ]
    assert "version: 2.3.0" in versions[0][0]
    assert "version: 2.3.1" in versions[1][0]


async def test_what_was_known_then_is_what_is_told(team: Desk) -> None:
    pack = await packed(team, anchors=TICKET, strategy="GRAPH", knownAt="2000-01-01T00:00:00Z")
    assert (pack["sections"], pack["text"], pack["tokenEstimate"], pack["budget"]["truncated"]) == ([], "", 0, False)


async def test_what_came_through_the_graph_says_which_facts_led_there(team: Desk) -> None:
    pack = await packed(team, anchors=TICKET, strategy="GRAPH", asOf=LATE, k=30)
    by_key = {item["entity"]["key"]: item for item in items(pack, "RELATED_ENTITIES")}
    steps = [(step["kind"], step["label"]) for step in by_key["service/payments"]["provenance"]]
    assert steps[0] == ("ENTITY", by_key["service/payments"]["title"])
    assert ("FACT", "concerns") in steps
    far = [(step["kind"], step["label"]) for step in by_key["service/ledger"]["provenance"]] if "service/ledger" in by_key else []
    assert not far or [kind for kind, _ in far].count("FACT") >= 2
    stated = [item for item in items(pack, "RELEVANT_FACTS") if item["fact"]["predicate"] == "fixed_in"]
    assert [step["kind"] for step in stated[0]["provenance"]] == ["FACT", "DOCUMENT", "ORIGIN"]
    assert {"PAY-101"}.isdisjoint(by_key), "a start is no neighbour"


async def test_sections_can_be_chosen_and_an_empty_choice_is_empty(team: Desk) -> None:
    fields = """all: sections { kind } facts: sections(kinds: [RELEVANT_FACTS, EPISODES]) { kind }
                none: sections(kinds: []) { kind } null: sections(kinds: null) { kind }"""
    pack = await packed(team, fields, question=RUNBOOK, anchors=TICKET)
    assert [section["kind"] for section in pack["facts"]] == ["RELEVANT_FACTS"]
    assert pack["none"] == []
    assert pack["null"] == pack["all"]


# ------------------------------------------------------------------------------------------------ budget


async def test_what_has_no_room_is_dropped_with_its_price_and_reason(team: Desk) -> None:
    whole = await packed(team, question=RUNBOOK, anchors=TICKET, asOf=LATE)
    prices = {item["itemId"]: item["tokenEstimate"] for item in everything(whole)}
    pack = await packed(team, question=RUNBOOK, anchors=TICKET, asOf=LATE, maxTokens=100)
    adds_up(pack)
    dropped = [one for one in pack["budget"]["dropped"] if one["reason"] == "OVER_BUDGET"]
    assert dropped
    assert pack["budget"]["truncated"]
    for one in dropped:
        assert one["tokenEstimate"] == prices.get(one["itemId"], one["tokenEstimate"]) > 0
        assert one["score"] > 0


async def test_a_fact_that_was_dropped_is_called_by_what_it_says(team: Desk) -> None:
    whole = await packed(team, question=RUNBOOK, anchors=TICKET, asOf=LATE)
    said = {item["itemId"]: item["text"].rpartition(" (")[0] for item in everything(whole) if item["kind"] == "FACT"}
    pack = await packed(team, question=RUNBOOK, anchors=TICKET, asOf=LATE, maxTokens=40)
    titles = {one["itemId"]: one["title"] for one in pack["budget"]["dropped"] if one["itemId"] in said}
    assert titles
    assert titles == {item_id: said[item_id] for item_id in titles}


@pytest.mark.parametrize("budget", [1, 2, 3, 5, 8, 13, 40, 333, 5_000, 1_000_000])
async def test_no_budget_is_exceeded(team: Desk, budget: int) -> None:
    state = {"page": "PAY-101", "said": "перезапуск " * 40, "lines": ["a\nb", "\\", '"']}
    pack = await packed(team, question=RUNBOOK, anchors=TICKET, maxTokens=budget, ephemeralContext=state)
    adds_up(pack)
    assert pack["budget"]["maxTokens"] == budget


class Words:
    """A tokenizer whose tokens are words."""

    def count(self, text: str) -> int:
        return len(text.split())


@pytest.mark.parametrize("budget", [1, 7, 30, 60, 2_000])
async def test_an_exact_tokenizer_prices_items_and_is_not_exceeded_either(team: Desk, budget: int) -> None:
    team.store.exact_tokenizer = Words()
    fields = (
        "text textTokenEstimate budget { usedTokens } sections { items { text tokenEstimate fragment { text tokenEstimate } } }"
    )
    state = {"said": "перезапуск " * 400}
    pack = await packed(team, fields, question=RUNBOOK, anchors=TICKET, maxTokens=budget, ephemeralContext=state)
    found = everything(pack)
    assert found
    assert [item["tokenEstimate"] for item in found] == [len(item["text"].split()) for item in found]
    assert pack["budget"]["usedTokens"] == sum(item["tokenEstimate"] for item in found) <= budget
    assert pack["textTokenEstimate"] == len(pack["text"].split())
    fragments = [item["fragment"] for item in found if item["fragment"]]
    assert all(one["tokenEstimate"] == len(one["text"].split()) for one in fragments)


async def test_the_default_budget_is_that_of_the_settings(team: Desk) -> None:
    pack = await packed(team, "budget { maxTokens }", question=RUNBOOK)
    assert pack["budget"]["maxTokens"] == 8_000


# ------------------------------------------------------------------------------------------------ text


async def test_the_text_speaks_the_language_of_the_question(team: Desk) -> None:
    pack = await packed(team, question="Почему зависают платежи?", anchors=TICKET, asOf=EARLY, k=30)
    adds_up(pack)
    assert pack["text"].startswith("# Факты\n- [")
    assert "## [заметка/сбой]" in pack["text"]
    assert " (в конфликте)" in pack["text"]
    assert "# Документы\n\n## [" in pack["text"]
    english = await packed(team, "text", question="Почему зависают платежи?", anchors=TICKET, asOf=EARLY, k=30, locale="EN")
    assert english["text"].startswith("# Relevant facts\n- [")
    assert "\nSource: https://wiki.example/" in english["text"]


async def test_every_item_stands_in_the_text_with_what_it_is_cited_by(team: Desk) -> None:
    pack = await packed(team, question=RUNBOOK, anchors=TICKET, asOf=LATE, k=30, ephemeralContext={"a": 1})
    for item in everything(pack):
        cited = {"FACT": f"- [{item['itemId']}] ", "ENTITY": f"- [{item['entity'] and item['entity']['key']}] "}
        key = f"## [{item['fragment'] and item['fragment']['entity']['key']}] "
        assert cited.get(item["kind"], key if item["kind"] == "FRAGMENT" else '{"a":1}') in pack["text"]


async def test_the_state_of_the_caller_is_made_safe(team: Desk) -> None:
    pack = await packed(team, question=RUNBOOK, ephemeralContext={"a": "<|im_start|>"})
    (current,) = items(pack, "CURRENT")
    assert (current["text"], current["neutralized"]) == ('{"a":"＜｜im_start｜＞"}', True)


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"maxTokens": 0}, "`maxTokens` is 0; it must be from 1 to 1,000,000."),
        ({"maxTokens": -1}, "`maxTokens` is -1"),
        ({"maxTokens": 10**9}, "`maxTokens` is 1000000000"),
        ({"k": 101}, "`k` is 101"),
        ({"relevanceScopes": [f"a:{n}" for n in range(11)]}, "`relevanceScopes` has 11 values; at most 10 are taken."),
        ({"relevanceScopes": ["alpha"]}, "form `type:id`"),
        ({"allowedScopes": ["alpha"]}, "`allowedScopes`"),
        ({"anchors": TICKET * 21}, "`anchors` has 21 items"),
        ({"ephemeralContext": {"a": "x" * 5_000_000}}, "`ephemeralContext` takes 5,000,008 bytes as JSON"),
        ({"ephemeralContext": [1]}, "must be a JSON object"),
        ({"question": "", "ephemeralContext": {"a": 1}}, "nothing to start from; give a question or an anchor"),
        ({"strategy": "GRAPH"}, "Strategy GRAPH has nothing to start from; give an anchor or a subject."),
        ({"strategy": "SEMANTIC", "question": " ", "anchors": TICKET}, "give a question."),
    ],
)
async def test_bad_input_is_refused_with_what_to_change(team: Desk, given: dict[str, Any], said: str) -> None:
    assert said in await refused(team, **{"question": "words", **given})


def nested(levels: int) -> dict[str, Any]:
    """An object of so many levels."""
    state: dict[str, Any] = {}
    for _ in range(levels - 1):
        state = {"a": state}
    return state


async def test_a_state_may_have_64_levels_and_no_more(team: Desk) -> None:
    pack = await packed(team, question="words", ephemeralContext=nested(64))
    assert texts(pack, "CURRENT") == ['{"a":' * 63 + "{}" + "}" * 63]
    assert "nested more than 64 levels" in await refused(team, question="words", ephemeralContext=nested(65))


async def test_a_state_nested_a_thousand_deep_is_refused_without_an_accident(team: Desk) -> None:
    query = 'query($e: JSON) { contextPack(question: "a", ephemeralContext: $e) { question } }'
    deep = '{"a":' * 1_000 + "1" + "}" * 1_000
    literal = query.replace("($e: JSON)", "").replace("$e", "{a:" * 1_000 + "1" + "}" * 1_000)
    for body in (f'{{"query":{json.dumps(query)},"variables":{{"e":{deep}}}}}', json.dumps({"query": literal})):
        response = await team.client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
        (error,) = response.json()["errors"]
        assert error["extensions"]["code"] in ("LIMIT_EXCEEDED", "GRAPHQL_PARSE_FAILED")
        assert len(error["message"]) < 200


async def test_anchors_that_are_unknown_hidden_or_elsewhere_are_all_the_same(team: Desk) -> None:
    reader = await team.token("reader")
    given = [
        {"key": "PAY-99999"},
        {"namespace": "closed", "key": "PAY-101"},
        {"namespace": "nowhere", "key": "PAY-101"},
    ]
    answers = [await packed(team, token=reader, anchors=[anchor], strategy="BRIEFING") for anchor in given]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["sections"] == []
    unasked = await packed(team, anchors=[{"namespace": "team", "key": "PAY-101"}], namespaces=["closed"], strategy="GRAPH")
    assert unasked["sections"] == []


async def test_a_namespace_that_is_closed_is_as_one_that_is_not_there(team: Desk) -> None:
    reader = await team.token("reader")
    for name in ("closed", "nowhere"):
        assert await team.refusal(PACK.replace("FIELDS", "question"), reader, question="a", namespaces=[name]) == (
            "NAMESPACE_NOT_FOUND"
        )


async def test_the_future_may_be_asked_about(team: Desk) -> None:
    pack = await packed(team, anchors=TICKET, strategy="GRAPH", asOf="2900-01-01T00:00:00Z", knownAt="2900-01-01T00:00:00Z")
    adds_up(pack)
    assert any("done" in text for text in texts(pack, "RELEVANT_FACTS"))


async def test_a_briefing_with_nothing_recorded_is_an_empty_pack(team: Desk) -> None:
    pack = await packed(team, strategy="BRIEFING", subject={"type": "user", "id": "nobody"})
    adds_up(pack)
    assert (pack["sections"], pack["text"], pack["sources"], pack["conflicts"]) == ([], "", [], [])


async def test_the_other_channels_go_on_when_no_vector_can_be_had(stored: str) -> None:
    async with desk_at(stored, Away()) as desk:
        pack = await packed(desk, question=RUNBOOK, anchors=TICKET)
        adds_up(pack)
        assert [one["part"] for one in pack["degraded"]] == ["embedding"]
        assert {section["kind"] for section in pack["sections"]} >= {"RELEVANT_FACTS", "DOCUMENTS"}
        assert (await packed(desk, question=RUNBOOK, strategy="SEMANTIC"))["sections"] == []
        assert (await packed(desk, question=RUNBOOK, strategy="EXACT"))["degraded"] == []


class Away(HashEmbedder):
    """An embedder that gives no vector of a question."""

    async def embed_questions(self, texts: Any) -> Any:
        raise ConnectionError("the provider is away")
