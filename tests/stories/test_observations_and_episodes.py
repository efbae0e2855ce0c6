"""Notes and conversations are found, walked to, hidden and traced to their origin like documents."""

from __future__ import annotations

from typing import Any

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.desk import Desk
from tests.fixtures.writing import ADMIN, DOCS

RECORD = """mutation($observations: [ObservationInput!]!, $under: String) {
    recordObservations(input: {namespace: "docs", observations: $observations, idempotencyKey: $under}) {
        results { key outcome code message } } }"""
ABOUT = """query($asOf: DateTime) { graph(start: [{namespace: "docs", key: "svc"}], asOf: $asOf) {
    entities { entity { key kind } } facts { predicate validFrom evidence
        provenance { kind label key at by node { __typename } } } } }"""
FOUND = """query($question: String!, $kinds: [EntityKind!], $scopes: [String!]) {
    search(question: $question, filter: {kinds: $kinds, relevanceScopes: $scopes}) { hits {
        entity { key kind occurredAt relevanceScopes } fragment { text provenance { kind key by at uri } } } } }"""
EARLY, LATE = "2026-03-01T09:00:00Z", "2026-03-02T09:00:00Z"
NOTE = {"key": "note/1", "text": "Payments were slow, see ERR-42.", "observedAt": LATE, "about": ["svc"], "by": "ann"}
TALK = "# Standup\n\n## Ann\n\nThe queue of invoices grows.\n\n## Bob\n\nI restart the billing workers."


async def record(desk: Desk, *notes: dict[str, Any], token: str | None = None, under: str | None = None) -> list[str]:
    answer = await desk.ask(RECORD, token, observations=list(notes), under=under)
    return [one["code"] or one["outcome"] for one in answer["recordObservations"]["results"]]


async def keys(desk: Desk, question: str, token: str | None = None, **filter: Any) -> list[str]:
    answer = await desk.ask(FOUND, token, question=question, **filter)
    return [hit["entity"]["key"] for hit in answer["search"]["hits"]]


async def service(desk: Desk) -> None:
    await desk.ask(
        'mutation { upsertEntities(input: {namespace: "docs", entities: [{key: "svc", type: "service", title: "Billing"}]}) '
        "{ results { outcome } } }"
    )


async def test_a_note_is_found_by_words_identifiers_kind_and_scope(desk: Desk) -> None:
    await desk.fill({"page": "Payments and how they work, ERR-42."})
    assert await record(desk, NOTE | {"relevanceScopes": ["project:alpha"]}) == ["CREATED"]
    assert set(await keys(desk, "slow payments")) == {"note/1", "page"}
    assert (await keys(desk, "ERR-42", kinds=["OBSERVATION"]), await keys(desk, "slow", kinds=["EPISODE"])) == (["note/1"], [])
    assert await keys(desk, "payments", scopes=["project:alpha"]) == ["note/1"]
    await desk.settle()
    assert await desk.find("slow payments", "vector") != []


async def test_a_note_is_walked_to_from_what_it_is_about_from_its_instant_on(desk: Desk) -> None:
    await service(desk)
    await record(desk, NOTE)
    graph = (await desk.ask(ABOUT))["graph"]
    assert graph["entities"][-1]["entity"] == {"key": "note/1", "kind": "OBSERVATION"}
    (fact,) = graph["facts"]
    assert (fact["predicate"], fact["validFrom"], fact["evidence"]) == ("about", LATE, "OBSERVED")
    assert (await desk.ask(ABOUT, asOf=EARLY))["graph"]["facts"] == []


async def test_the_chain_of_a_fact_leads_over_the_note_to_its_origin(desk: Desk) -> None:
    await service(desk)
    await record(desk, NOTE)
    (fact,) = (await desk.ask(ABOUT))["graph"]["facts"]
    chain = [(step["kind"], step["key"], step["by"], step["node"] and step["node"]["__typename"]) for step in fact["provenance"]]
    assert chain == [
        ("FACT", None, None, None), ("OBSERVATION", "note/1", None, "Entity"), ("ORIGIN", "note/1", "ann", "Source"),
    ]  # fmt: skip
    assert fact["provenance"][1]["at"] == LATE


async def test_a_conversation_is_an_episode_with_fragments_that_lead_to_its_origin(desk: Desk) -> None:
    origin = {"connector": "chat", "uri": "https://chat.example/standup", "author": "ann"}
    await desk.write(
        {"key": "talk/1", "kind": "EPISODE", "type": "conversation", "content": TALK, "occurredAt": EARLY, "origin": origin}
    )
    answer = await desk.ask(FOUND, question="who restarts the billing workers", kinds=["EPISODE"])
    best = answer["search"]["hits"][0]
    assert best["entity"] == {"key": "talk/1", "kind": "EPISODE", "occurredAt": EARLY, "relevanceScopes": []}
    chain = [(step["kind"], step["key"], step["by"], step["uri"]) for step in best["fragment"]["provenance"]]
    assert chain == [
        ("FRAGMENT", "talk/1", None, None), ("EPISODE", "talk/1", None, None), ("ORIGIN", "talk/1", "ann", origin["uri"]),
    ]  # fmt: skip
    assert best["fragment"]["provenance"][1]["at"] == EARLY


async def test_a_restricted_note_is_not_there_for_others_and_neither_are_its_edges(desk: Desk) -> None:
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput(name, "USER") for name in ("ann", "bob")])
    for name in ("ann", "bob"):
        await grant(desk.store.database, ADMIN, name, DOCS)
    await service(desk)
    await record(desk, NOTE | {"restricted": True, "readers": ["ann"]})
    ann, bob = await desk.token("ann"), await desk.token("bob")
    assert (await keys(desk, "slow payments", ann), await keys(desk, "slow payments", bob)) == (["note/1"], [])
    assert len((await desk.ask(ABOUT, ann))["graph"]["facts"]) == 1
    assert (await desk.ask(ABOUT, bob))["graph"] == {"entities": [], "facts": []}
    assert await desk.refusal(RECORD, bob, observations=[NOTE]) == "FORBIDDEN"


async def test_a_call_that_is_sent_twice_under_one_key_is_done_once(desk: Desk) -> None:
    note = {name: value for name, value in NOTE.items() if name != "key"}
    assert await record(desk, note, note, under="batch 7") == ["CREATED", "CREATED"]
    assert await record(desk, note, note, under="batch 7") == ["CREATED", "CREATED"]
    assert await desk.refusal(RECORD, observations=[note], under="batch 7") == "CONFLICT"
    assert len(await keys(desk, "slow payments")) == 2


async def test_too_many_notes_and_notes_without_a_zone_are_refused(desk: Desk) -> None:
    assert await desk.refusal(RECORD, observations=[NOTE] * 1_001) == "LIMIT_EXCEEDED"
    assert await record(desk, NOTE | {"observedAt": "2026-03-01T09:00:00"}, NOTE) == ["BAD_INPUT", "CREATED"]
