"""Three ways to take something out over the API: the text, the entity, or everything that speaks of it."""

from __future__ import annotations

from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.desk import Desk
from tests.fixtures.writing import ADMIN, DOCS

WORD = "quetzalcoatlus"
WRITE = """mutation($sources: [SourceInput!]!, $entities: [EntityInput!]!, $observations: [ObservationInput!]!,
                  $facts: [FactInput!]!) {
    ingestSources(input: {namespace: "docs", sources: $sources}) { results { code } }
    upsertEntities(input: {namespace: "docs", entities: $entities}) { results { code } }
    recordObservations(input: {namespace: "docs", observations: $observations}) { results { code } }
    assertFacts(input: {namespace: "docs", facts: $facts}) { results { factId code } } }"""
SOURCE = 'mutation { deleteSource(input: {namespace: "docs", key: "ann"}) { deleted counts } }'
ENTITY = 'mutation { deleteEntity(input: {namespace: "docs", key: "ann"}) { deleted counts } }'
ERASE = 'mutation { deleteEntity(input: {namespace: "docs", key: "ann", erase: true}) { deleted counts } }'
LOOK = """query($question: String!, $fact: ID!, $ids: [ID!]!) {
    entity(namespace: "docs", key: "ann") { title attributes fragments { totalCount } facts { totalCount } }
    source(namespace: "docs", key: "ann") { content }
    fact(namespace: "docs", factId: $fact) { predicate }
    nodes(ids: $ids) { id }
    search(question: $question) { lexical { entity { key } } vector { entity { key } } }
    graph(start: [{namespace: "docs", key: "svc"}]) { entities { entity { key } } facts { predicate } }
    entities(namespaces: ["docs"]) { nodes { key } } }"""
IDS = '{ entity(namespace: "docs", key: "ann") { id source { id } fragments { nodes { id } } } }'


async def filled(desk: Desk) -> dict[str, Any]:
    """A person with a page, a note, a fact and another page that links to hers; gives what to look for."""
    data = await desk.ask(
        WRITE,
        sources=[
            {"key": "ann", "type": "person", "content": f"# Ann\n\nShe knows the {WORD}."},
            {"key": "page", "content": "Ask [her](ann) about billing."},
        ],
        entities=[
            {"key": "svc", "type": "service", "title": "Billing"},
            {"key": "ann", "type": "person", "title": "Ann", "attributes": {"desk": WORD}},
        ],
        observations=[{"key": "note", "text": f"Ann saw a {WORD}.", "observedAt": "2026-01-01T00:00:00Z", "about": ["ann"]}],
        facts=[{"subject": "svc", "predicate": "owned_by", "object": "ann"}],
    )
    assert all(one["code"] is None for payload in data.values() for one in payload["results"]), data
    await desk.settle()
    ids = (await desk.ask(IDS))["entity"]
    return {
        "question": f"what is a {WORD}", "fact": data["assertFacts"]["results"][0]["factId"],
        "ids": [ids["id"], ids["source"]["id"], *(one["id"] for one in ids["fragments"]["nodes"])],
    }  # fmt: skip


def keys_in(hits: list[dict[str, Any]]) -> set[str]:
    return {hit["entity"]["key"] for hit in hits}


async def test_deleting_the_source_keeps_the_entity_and_what_others_say_of_it(desk: Desk) -> None:
    asked = await filled(desk)
    assert (await desk.ask(SOURCE))["deleteSource"] == {"deleted": True, "counts": {"sources": 1, "fragments": 1, "facts": 0}}
    seen = await desk.ask(LOOK, **asked)
    assert seen["entity"] == {
        "title": "Ann",
        "attributes": {"desk": WORD},
        "fragments": {"totalCount": 0},
        "facts": {"totalCount": 3},
    }
    assert (seen["source"], seen["fact"]) == (None, {"predicate": "owned_by"})
    assert "ann" not in keys_in(seen["search"]["lexical"] + seen["search"]["vector"])
    assert keys_in(seen["graph"]["entities"]) >= {"ann"}


async def test_deleting_the_entity_takes_its_facts_and_leaves_notes_about_it(desk: Desk) -> None:
    asked = await filled(desk)
    counts = (await desk.ask(ENTITY))["deleteEntity"]["counts"]
    assert counts == {"sources": 1, "fragments": 1, "facts": 3, "entities": 1}
    seen = await desk.ask(LOOK, **asked)
    assert (seen["entity"], seen["source"], seen["fact"], seen["nodes"]) == (None, None, None, [None] * 3)
    assert [one["key"] for one in seen["entities"]["nodes"]] == ["note", "page", "svc"]
    assert keys_in(seen["search"]["lexical"]) == {"note"}


async def test_after_erasing_nothing_finds_it_nor_what_was_said_of_it(desk: Desk) -> None:
    asked = await filled(desk)
    answer = (await desk.ask(ERASE))["deleteEntity"]
    assert answer["deleted"]
    assert answer["counts"] == {
        "entities": 1, "observations": 1, "aliases": 0, "sources": 2, "fragments": 2, "vectors": 2, "cachedVectors": 2,
        "facts": 3, "links": 2, "versions": 1, "grants": 0, "traces": 0,
    }  # fmt: skip
    seen = await desk.ask(LOOK, **asked)
    assert (seen["entity"], seen["source"], seen["fact"], seen["nodes"]) == (None, None, None, [None] * 3)
    assert [one["key"] for one in seen["entities"]["nodes"]] == ["page", "svc"]
    assert seen["search"]["lexical"] == []
    assert keys_in(seen["search"]["vector"]) <= {"page"}
    assert seen["graph"] == {"entities": [], "facts": []}
    assert (await desk.ask(ERASE))["deleteEntity"] == {"deleted": False, "counts": {}}


@pytest.mark.parametrize("mutation", [SOURCE, ENTITY, ERASE])
async def test_only_administrators_take_out(desk: Desk, mutation: str) -> None:
    await filled(desk)
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("writer", "USER")])
    await grant(desk.store.database, ADMIN, "writer", DOCS, "WRITER")
    assert await desk.refusal(mutation, await desk.token("writer")) == "FORBIDDEN"
