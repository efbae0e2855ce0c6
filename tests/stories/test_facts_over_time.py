"""Facts begin, end, are closed, changed, retracted and doubted, and each moment of the past can still be asked about."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.desk import Desk
from tests.fixtures.edges import wrong_edges
from tests.fixtures.world import recorder
from tests.fixtures.writing import ADMIN, DOCS, rows, values

ASSERT = """mutation($namespace: String!, $facts: [FactInput!]!, $idempotencyKey: String) {
    assertFacts(input: {namespace: $namespace, facts: $facts, idempotencyKey: $idempotencyKey}) {
        results { factId outcome conflictsWith code message } } }"""
RETRACT = """mutation($namespace: String!, $factIds: [ID!]!) {
    retractFacts(input: {namespace: $namespace, factIds: $factIds}) { results { factId outcome code } } }"""
FACTS = """query($key: String!, $predicates: [String!], $direction: Direction!, $asOf: DateTime, $knownAt: DateTime, $first: Int!,
              $after: String) { entity(namespace: "docs", key: $key) {
    facts(predicates: $predicates, direction: $direction, asOf: $asOf, knownAt: $knownAt, first: $first, after: $after) {
        totalCount pageInfo { hasNextPage hasPreviousPage endCursor }
        nodes { factId predicate subject { key } object { key } value validFrom validTo retractedAt
                conflict(asOf: $asOf, knownAt: $knownAt) conflictsWith(asOf: $asOf, knownAt: $knownAt) { factId } } } } }"""


async def entities(desk: Desk, *keys: str) -> None:
    """Store short documents under keys."""
    await desk.fill({key: f"text of {key}" for key in keys})


async def assert_facts(desk: Desk, *facts: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    """Assert facts; a result for each."""
    found: list[dict[str, Any]] = (await desk.ask(ASSERT, namespace=DOCS, facts=list(facts), **more))["assertFacts"]["results"]
    return found


async def one(desk: Desk, **fact: Any) -> str:
    """Assert one fact that is taken; its id."""
    (result,) = await assert_facts(desk, fact)
    assert result["code"] is None, result
    return str(result["factId"])


async def page(desk: Desk, key: str, **given: Any) -> dict[str, Any]:
    asked = {"predicates": None, "direction": "OUT", "asOf": None, "knownAt": None, "first": 100, "after": None} | given
    found: dict[str, Any] = (await desk.ask(FACTS, key=key, **asked))["entity"]["facts"]
    return found


async def objects(desk: Desk, key: str, **given: Any) -> list[str]:
    """What the facts of an entity lead to, sorted."""
    return sorted(
        node["object"]["key"] if node["object"] else node["value"] for node in (await page(desk, key, **given))["nodes"]
    )


async def now(desk: Desk) -> str:
    """The instant of the database, a moment after all that was written."""
    await asyncio.sleep(0.002)
    (instant,) = await values(desk.store, "select clock_timestamp()")
    return str(instant.isoformat())


async def single(desk: Desk, *names: str) -> None:
    """Declare predicates that hold one value, as a domain pack does."""
    async with desk.store.database.writing() as connection:
        for name in names:
            await connection.execute("insert into predicate (ns, name, cardinality) select ns, $1, 'ONE' from namespace", name)


MAY, JUNE, JULY = "2026-05-01T00:00:00Z", "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z"


async def test_two_periods_of_one_fact_stay_two(desk: Desk) -> None:
    await entities(desk, "s", "o")
    said = {"subject": "s", "predicate": "works_at", "object": "o"}
    first = await one(desk, **said, validFrom="2026-01-01T00:00:00Z", validTo="2026-04-01T00:00:00Z")
    second = await one(desk, **said, validFrom=JUNE)
    assert first != second
    assert await objects(desk, "s", asOf="2026-03-31T23:59:59Z") == ["o"]
    assert await objects(desk, "s", asOf="2026-04-01T00:00:00Z") == []
    assert [node["factId"] for node in (await page(desk, "s", asOf=JULY))["nodes"]] == [second]


async def test_a_fact_holds_from_its_first_instant_until_its_last_for_whoever_reads_all_or_not(desk: Desk) -> None:
    await entities(desk, "s", "o")
    await one(desk, subject="s", predicate="works_at", object="o", validFrom=MAY, validTo=JUNE)
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("ann", "USER", None)])
    await grant(desk.store.database, ADMIN, "ann", DOCS)
    for token in (None, await desk.token("ann")):
        for at, count in (("2026-04-30T23:59:59.999999Z", 0), (MAY, 1), ("2026-05-31T23:59:59.999999Z", 1), (JUNE, 0)):
            for key, direction in (("s", "OUT"), ("o", "IN")):
                for predicates, factor in ((None, 1), (["works_at"], 1), (["left"], 0)):
                    given = {"key": key, "direction": direction, "asOf": at, "predicates": predicates, "first": 9}
                    found = (await desk.ask(FACTS, token, **given, knownAt=None, after=None))["entity"]["facts"]
                    assert (len(found["nodes"]), found["totalCount"]) == (count * factor, count * factor), (token, given)


async def test_closing_keeps_what_was_known_before(desk: Desk) -> None:
    await entities(desk, "s", "o")
    said = {"subject": "s", "predicate": "works_at"}
    fact = await one(desk, **said, object="o", validFrom=MAY)
    before = await now(desk)
    (closed,) = await assert_facts(desk, {"factId": fact, **said, "validTo": JUNE})
    assert (closed["factId"], closed["outcome"]) == (fact, "UPDATED")
    assert await objects(desk, "s", asOf=JULY) == []
    assert await objects(desk, "s", asOf=JULY, knownAt=before) == ["o"]
    assert await objects(desk, "s", asOf=MAY) == ["o"]
    assert await objects(desk, "s", asOf=MAY, knownAt="2026-01-01T00:00:00Z") == []
    document = (
        'query($id: ID!, $at: DateTime) { fact(namespace: "docs", factId: $id, knownAt: $at) { validFrom validTo retractedAt } }'
    )
    assert (await desk.ask(document, id=fact, at=before))["fact"]["validTo"] is None
    assert (await desk.ask(document, id=fact))["fact"] == {"validFrom": MAY, "validTo": JUNE, "retractedAt": None}
    assert [count for (count,) in await rows(desk.store, "select count(*) from fact")] == [2]


async def test_whoever_reads_all_reads_what_was_known_before_all_places_were_taken_back(desk: Desk) -> None:
    await entities(desk, "s", "o", "d")
    said = {"subject": "s", "predicate": "p", "object": "o"}
    fact_id = await one(desk, **said, statedIn=["d"])
    known = await now(desk)
    await one(desk, **said, factId=fact_id, statedIn=[])
    found = await page(desk, "s", predicates=["p"], knownAt=known)
    assert [found["totalCount"], *(node["factId"] for node in found["nodes"])] == [1, fact_id]
    asked = """query($id: ID!, $at: DateTime) { fact(namespace: "docs", factId: $id, knownAt: $at) { factId }
        contextPack(anchors: [{key: "s"}], strategy: GRAPH, knownAt: $at) { sections { items { itemId } } } }"""
    found = await desk.ask(asked, id=fact_id, at=known)
    assert found["fact"] == {"factId": fact_id}
    assert {"itemId": fact_id} in [item for section in found["contextPack"]["sections"] for item in section["items"]]


async def test_a_retracted_fact_is_known_until_then_and_no_longer(desk: Desk) -> None:
    await entities(desk, "s", "o")
    fact = await one(desk, subject="s", predicate="p", object="o")
    before = await now(desk)
    results = (await desk.ask(RETRACT, namespace=DOCS, factIds=[fact, fact, "YTo5OTo5OQ", "no id"]))["retractFacts"]["results"]
    assert [(result["outcome"], result["code"]) for result in results] == [
        ("UPDATED", None), ("UNCHANGED", None), ("FAILED", "BAD_INPUT"), ("FAILED", "BAD_INPUT"),
    ]  # fmt: skip
    assert await objects(desk, "s") == []
    assert await objects(desk, "s", knownAt=before) == ["o"]
    assert await wrong_edges(desk.store) == ({}, {})


async def test_another_value_of_a_single_valued_predicate_is_a_conflict_until_somebody_decides(desk: Desk) -> None:
    await entities(desk, "s", "a", "b")
    await single(desk, "owner")
    first = await one(desk, subject="s", predicate="owner", object="a", validFrom=MAY)
    alone = await now(desk)
    (result,) = await assert_facts(desk, {"subject": "s", "predicate": "owner", "object": "b", "validFrom": JUNE})
    second = result["factId"]
    assert result["conflictsWith"] == [first]
    nodes = (await page(desk, "s", asOf=JULY))["nodes"]
    assert [(node["conflict"], node["conflictsWith"]) for node in nodes] == [
        (True, [{"factId": second}]), (True, [{"factId": first}]),
    ]  # fmt: skip
    for given in ({"asOf": MAY}, {"asOf": JULY, "knownAt": alone}):
        assert [node["conflict"] for node in (await page(desk, "s", **given))["nodes"]] == [False]
    await assert_facts(desk, {"factId": first, "subject": "s", "predicate": "owner", "validTo": JUNE})
    assert [(node["conflict"], node["factId"]) for node in (await page(desk, "s", asOf=JULY))["nodes"]] == [(False, second)]


async def test_a_predicate_that_nobody_declared_never_conflicts(desk: Desk) -> None:
    await entities(desk, "s", "a", "b")
    results = await assert_facts(desk, *({"subject": "s", "predicate": "likes", "object": one} for one in "ab"))
    assert [result["conflictsWith"] for result in results] == [[], []]
    assert [node["conflict"] for node in (await page(desk, "s"))["nodes"]] == [False, False]


SUCCESSION = [
    {"subject": "s", "predicate": "owner", "object": key, "validFrom": since, "supersede": True}
    for key, since in (("a", MAY), ("b", JUNE), ("c", JULY))
]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (2, 0, 1)])
async def test_superseding_ends_in_the_same_state_in_any_order(desk: Desk, order: tuple[int, ...]) -> None:
    await entities(desk, "s", "a", "b", "c")
    await single(desk, "owner")
    for number in order:
        await assert_facts(desk, SUCCESSION[number])
    again = await assert_facts(desk, *SUCCESSION)
    assert [result["outcome"] for result in again] == ["UNCHANGED"] * 3
    for at, owner in ((MAY, "a"), ("2026-05-31T23:59:59Z", "a"), (JUNE, "b"), (JULY, "c"), ("2400-01-01T00:00:00Z", "c")):
        assert await objects(desk, "s", asOf=at) == [owner]
    assert await wrong_edges(desk.store) == ({}, {})


async def test_the_same_assertion_twice_changes_nothing_and_more_support_adds_to_it(desk: Desk) -> None:
    await entities(desk, "s", "o", "here", "there")
    said = {"subject": "s", "predicate": "p", "object": "o", "validFrom": MAY, "evidence": "OBSERVED", "statedIn": ["here"]}
    outcomes = []
    for more in (
        {},
        {},
        {"evidence": "INFERRED"},
        {"evidence": "ASSERTED"},
        {"statedIn": ["there"]},
        {"relevanceScopes": ["a:b"]},
    ):
        (result,) = await assert_facts(desk, said | more)
        outcomes.append(result["outcome"])
    assert outcomes == ["CREATED", "UNCHANGED", "UNCHANGED", "UPDATED", "UPDATED", "UPDATED"]
    document = """{ entity(namespace: "docs", key: "s") { facts(asOf: "2026-06-01T00:00:00Z") {
        nodes { evidence relevanceScopes provenance { kind key } } } } }"""
    (node,) = (await desk.ask(document))["entity"]["facts"]["nodes"]
    assert (node["evidence"], node["relevanceScopes"]) == ("ASSERTED", ["a:b"])
    assert [step["key"] for step in node["provenance"] if step["kind"] == "DOCUMENT"] == ["here", "there"]
    stated = '{ source(namespace: "docs", key: "there") { statedFacts { totalCount nodes { predicate } } } }'
    assert (await desk.ask(stated))["source"]["statedFacts"] == {"totalCount": 1, "nodes": [{"predicate": "p"}]}
    assert await wrong_edges(desk.store) == ({}, {})


async def test_a_fact_that_is_closed_is_as_well_supported_as_before(desk: Desk) -> None:
    await entities(desk, "s")
    said = {"subject": "s", "predicate": "p"}
    (told,) = await assert_facts(desk, said | {"value": 1, "evidence": "INFERRED"})
    document = 'query($id: ID!) { fact(namespace: "docs", factId: $id) { evidence validTo } }'
    for more, evidence in (
        ({"validTo": JUNE}, "INFERRED"),
        ({"evidence": "OBSERVED"}, "OBSERVED"),
        ({"evidence": None}, "OBSERVED"),
    ):
        await assert_facts(desk, said | {"factId": told["factId"]} | more)
        assert (await desk.ask(document, id=told["factId"]))["fact"]["evidence"] == evidence


async def test_one_that_is_refused_stops_no_other(desk: Desk) -> None:
    await entities(desk, "s", "o")
    good = {"subject": "s", "predicate": "p", "object": "o"}
    bad = [
        good | {"validFrom": "2026-09-05T00:00:00"},
        good | {"validFrom": JUNE, "validTo": MAY},
        good | {"validFrom": JUNE, "validTo": JUNE},
        good | {"validFrom": "0001-01-01T00:00:00+03:00"},
        good | {"object": "nowhere"},
        good | {"subject": "nowhere"},
        good | {"statedIn": ["nowhere"]},
        good | {"value": 1},
        {"subject": "s", "predicate": "p"},
        good | {"predicate": " "},
        good | {"supersede": True},
        good | {"factId": "YTo5OTo5OQ"},
        {"subject": "s", "predicate": "p", "value": "x\x00"},
        {"subject": "s", "predicate": "p", "value": "x" * 9_000},
    ]
    results = await assert_facts(desk, *bad, good)
    assert [result["code"] for result in results] == ["BAD_INPUT"] * len(bad) + [None]
    assert all(result["message"] for result in results[:-1])
    assert "time zone" in results[0]["message"]
    assert "before it begins" in results[1]["message"]
    assert "empty" in results[2]["message"]
    assert await objects(desk, "s") == ["o"]


async def test_what_begins_with_the_first_instant_and_ends_with_the_last_is_read_and_compiled(desk: Desk) -> None:
    first, last = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"
    await entities(desk, "s", "o")
    await desk.ask(
        ASSERT, namespace=DOCS, facts=[{"subject": "s", "predicate": "p", "object": "o", "validFrom": first, "validTo": last}]
    )
    note = 'mutation($at: DateTime!) { recordObservations(input: {namespace: "docs", observations: ['
    note += '{text: "слово", observedAt: $at, about: ["s"], relevanceScopes: ["a:b"]}]}) { results { outcome } } }'
    for at in (first, last):
        await desk.ask(note, at=at)
    found = await desk.ask("""{
      entity(namespace: "docs", key: "s") { facts(predicates: ["p"]) { nodes { validFrom validTo } } }
      entities(namespaces: ["docs"], filter: { kinds: [OBSERVATION] }, orderBy: OCCURRED) { nodes { occurredAt } }
      contextPack(question: "слово", anchors: [{ key: "s" }], relevanceScopes: ["a:b"]) { text sections { items { title } } }
    }""")
    (fact,) = found["entity"]["facts"]["nodes"]
    assert (fact["validFrom"][:4], fact["validTo"][:4]) == ("0001", "9999")
    assert [one["occurredAt"][:4] for one in found["entities"]["nodes"]] == ["9999", "0001"]
    assert "слово" in found["contextPack"]["text"]


async def test_years_that_are_none_and_too_many_facts_are_refused(desk: Desk) -> None:
    await entities(desk, "s", "o")
    good = {"subject": "s", "predicate": "p", "object": "o"}
    for year in ("0000", "10000"):
        facts = [good | {"validFrom": f"{year}-01-01T00:00:00Z"}]
        assert await desk.refusal(ASSERT, namespace=DOCS, facts=facts) == "BAD_INPUT"
    response = await desk.send(ASSERT, namespace=DOCS, facts=[good] * 5_001)
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "LIMIT_EXCEEDED"
    assert "5,000" in error["message"]
    response = await desk.send(ASSERT, namespace=DOCS, facts=[good] * 100_000)
    assert response.json()["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
    assert await values(desk.store, "select count(*) from fact") == [0]


async def test_a_key_of_idempotency_gives_the_same_results_and_is_for_one_input(desk: Desk) -> None:
    await entities(desk, "s", "a", "b")
    fact = {"subject": "s", "predicate": "p", "object": "a"}
    first = await assert_facts(desk, fact, idempotencyKey="one")
    assert await assert_facts(desk, fact, idempotencyKey="one") == first
    assert first[0]["outcome"] == "CREATED"
    assert await desk.refusal(ASSERT, namespace=DOCS, facts=[fact | {"object": "b"}], idempotencyKey="one") == "CONFLICT"


async def test_fifty_who_assert_about_one_entity_at_once_lose_nothing(desk: Desk) -> None:
    await entities(desk, "s", "o")
    await single(desk, "n")
    said = [{"subject": "s", "predicate": "n", "value": number, "validFrom": MAY} for number in range(50)]
    results = await asyncio.gather(*(assert_facts(desk, one) for one in said))
    assert {result[0]["outcome"] for result in results} == {"CREATED"}
    assert sorted(node["value"] for node in (await page(desk, "s", asOf=JUNE))["nodes"]) == list(range(50))
    equal = await asyncio.gather(*(assert_facts(desk, {"subject": "s", "predicate": "p", "object": "o"}) for _ in range(10)))
    assert sorted(result[0]["outcome"] for result in equal) == ["CREATED", *["UNCHANGED"] * 9]


async def test_pages_meet_each_fact_once_whatever_is_closed_meanwhile(desk: Desk) -> None:
    await entities(desk, "s", "o")
    said = [{"subject": "s", "predicate": f"p{number % 3}", "value": number} for number in range(20)]
    ids = [result["factId"] for result in await assert_facts(desk, *said, {"subject": "s", "predicate": "loop", "object": "s"})]
    found, after = [], None
    while True:
        shown = await page(desk, "s", first=3, after=after, direction="BOTH")
        assert shown["pageInfo"]["hasPreviousPage"] is (after is not None)
        found += [node["factId"] for node in shown["nodes"]]
        after = shown["pageInfo"]["endCursor"]
        await assert_facts(desk, {"factId": found[-1], **said_of(shown["nodes"][-1]), "validTo": "2999-01-01T00:00:00Z"})
        if not shown["pageInfo"]["hasNextPage"]:
            break
    assert len(found) == len(set(found)) == shown["totalCount"] == 21
    assert set(found) == set(ids)


def said_of(node: dict[str, Any]) -> dict[str, str]:
    """Subject and predicate of a fact as it is sent."""
    return {"subject": node["subject"]["key"], "predicate": node["predicate"]}


async def test_a_cursor_of_facts_is_good_for_its_caller_and_its_list_only(desk: Desk) -> None:
    await entities(desk, "s", "o")
    await assert_facts(desk, *({"subject": "s", "predicate": "p", "value": number, "statedIn": ["o"]} for number in range(3)))
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("ann", "USER", None)])
    await grant(desk.store.database, ADMIN, "ann", DOCS)
    ann = await desk.token("ann")
    given = {"key": "s", "predicates": None, "direction": "OUT", "asOf": MAY, "knownAt": None, "first": 1}
    after = (await desk.ask(FACTS, **given, after=None))["entity"]["facts"]["pageInfo"]["endCursor"]
    assert (await desk.ask(FACTS, **given, after=after))["entity"]["facts"]["nodes"]
    assert await refused(desk, FACTS, ann, **given, after=after) == "BAD_CURSOR"
    for other in (
        {"direction": "BOTH"},
        {"predicates": ["p"]},
        {"asOf": JUNE},
        {"knownAt": "2999-01-01T00:00:00Z"},
        {"key": "o"},
    ):
        assert await refused(desk, FACTS, **given | other, after=after) == "BAD_CURSOR", other
    stated = 'query($after: String) { source(namespace: "docs", key: "o") { statedFacts(first: 2, after: $after) { %s } } }'
    first = (await desk.ask(stated % "nodes { value } pageInfo { endCursor }"))["source"]["statedFacts"]
    rest = await desk.ask(stated % "nodes { value }", after=first["pageInfo"]["endCursor"])
    assert [node["value"] for node in (*first["nodes"], *rest["source"]["statedFacts"]["nodes"])] == [0, 1, 2]
    assert await refused(desk, stated % "nodes { value }", ann, after=first["pageInfo"]["endCursor"]) == "BAD_CURSOR"


async def refused(desk: Desk, query: str, token: str | None = None, **variables: Any) -> str:
    """The code of the one error of an answer."""
    (error,) = (await desk.send(query, token, **variables)).json()["errors"]
    return str(error["extensions"]["code"])


async def test_forty_entities_with_their_facts_run_as_many_statements_as_two(desk: Desk) -> None:
    keys = [f"k{number:02}" for number in range(40)]
    await entities(desk, *keys)
    await single(desk, "next")
    pairs = list(zip(keys, keys[1:] + keys[:1], strict=True))
    facts = [{"subject": one, "predicate": "next", "object": other, "statedIn": [other]} for one, other in pairs]
    await assert_facts(desk, *facts, *({"subject": one, "predicate": "next", "value": 1} for one in keys))
    document = """query($first: Int!) { entities(first: $first) { nodes { key facts { totalCount nodes {
        predicate subject { key } object { key } conflict conflictsWith { value } provenance { kind key } } }
        source { statedFacts { totalCount nodes { predicate } } } } } }"""
    costs = []
    for first in (2, 40):
        recorder(desk.store).forget()
        nodes = (await desk.ask(document, first=first))["entities"]["nodes"]
        assert [len(node["facts"]["nodes"]) for node in nodes] == [3] * first
        assert all(fact["conflict"] for node in nodes for fact in node["facts"]["nodes"])
        costs.append(recorder(desk.store).counted)
    assert all(count <= costs[0][name] for name, count in costs[1].items())
    assert costs[1]["facts_of"] == costs[1]["facts_of_counted"] == costs[1]["facts_beside"] == costs[1]["facts_stated"] == 1


async def test_neighbours_and_the_facts_to_them_are_those_of_the_instant(desk: Desk) -> None:
    await entities(desk, "s", "a", "b")
    await assert_facts(desk, *SUCCESSION[:2])
    document = """query($at: DateTime) { search(question: "text", filter: {keys: ["s"]}, k: 1, asOf: $at) {
        neighbors { entity { key } via { validFrom validTo inForce(asOf: $at) } } } }"""
    for at, found in ((MAY, ("a", MAY, JUNE)), (JUNE, ("b", JUNE, None))):
        (neighbour,) = (await desk.ask(document, at=at))["search"]["neighbors"]
        assert neighbour["entity"]["key"] == found[0]
        assert neighbour["via"] == [{"validFrom": found[1], "validTo": found[2], "inForce": True}]
