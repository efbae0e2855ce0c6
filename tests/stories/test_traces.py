"""Traces of searches, packs and walks: whose they are, what they tell whom, and for how long."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from retrieval.administration.grants import grant, revoke
from retrieval.administration.namespaces import create_namespace, delete_namespace
from retrieval.administration.principals import PrincipalInput, delete_principal, upsert_principals
from retrieval.tracing.storing import prune_traces
from tests.fixtures.bases import Bases
from tests.fixtures.desk import Desk, desk_at
from tests.fixtures.traces import OTHER, TRACE, WHY, packed, searched, store_traced, traced, why
from tests.fixtures.writing import ADMIN, DOCS, values


@pytest.fixture(scope="module")
def stored(shared_bases: Bases) -> str:
    """A base with people and documents."""
    return shared_bases.filled(store_traced)


@pytest.fixture
async def desk(stored: str) -> AsyncIterator[Desk]:
    """A desk at it that has time to store traces."""
    async with desk_at(stored) as desk:
        yield desk


@pytest.fixture
async def ann(desk: Desk) -> str:
    """Ann's token."""
    return await desk.token("ann")


# ------------------------------------------------------------------------------------------------ whose


async def test_a_trace_belongs_to_the_caller_who_made_it(desk: Desk, ann: str) -> None:
    id = await searched(desk, ann, namespaces=[DOCS])
    assert (await traced(desk, ann, id))["operation"] == "search"
    for other in ("bob", "dora"):
        assert await traced(desk, await desk.token(other), id) is None, other
    for other in ("cleo", "root"):
        assert (await traced(desk, await desk.token(other), id))["namespaces"] == [DOCS], other
    assert (await traced(desk, None, id)) is not None, "the local administrator"
    wide = await searched(desk, ann)
    assert await traced(desk, await desk.token("cleo"), wide) is None, "she is not the administrator of both namespaces"


async def test_an_id_that_never_was_is_as_that_of_another(desk: Desk, ann: str) -> None:
    for id in ("ctx-" + "a" * 24, "ctx-", "", "x" * 3_000, "ctx-" + "я" * 24, "ctx-\0" + "a" * 23, "' or 1=1 --"):
        assert await traced(desk, ann, id) is None, id


async def test_a_trace_of_no_namespace_is_nobodys_but_its_makers(desk: Desk, ann: str) -> None:
    id = await searched(desk, ann, namespaces=[])
    assert (await traced(desk, ann, id) or {}).get("namespaces") == []
    assert await traced(desk, await desk.token("cleo"), id) is None


async def test_it_is_gone_with_a_namespace_that_is_closed_and_comes_back_with_it(desk: Desk) -> None:
    bob = await desk.token("bob")
    id = await searched(desk, bob)
    await revoke(desk.store.database, ADMIN, "bob", OTHER)
    assert await traced(desk, bob, id) is None
    await grant(desk.store.database, ADMIN, "bob", OTHER)
    assert (await traced(desk, bob, id))["namespaces"] == [DOCS, OTHER]


async def test_it_goes_with_its_namespace_and_with_its_maker(desk: Desk) -> None:
    database = desk.store.database
    await create_namespace(database, ADMIN, "brief")
    await upsert_principals(database, ADMIN, [PrincipalInput("eve", "USER")])
    await grant(database, ADMIN, "eve", "brief")
    eve = await desk.token("eve")
    first = await searched(desk, eve)
    await delete_namespace(database, ADMIN, "brief", "brief")
    assert await values(desk.store, "select trace_id from trace where trace_id = $1", first) == []
    await grant(database, ADMIN, "eve", DOCS)
    second = await searched(desk, eve)
    await delete_principal(database, ADMIN, "eve")
    assert await values(desk.store, "select trace_id from trace where trace_id = $1", second) == []


async def test_it_is_gone_when_it_is_old_before_anyone_takes_it_away(desk: Desk, ann: str) -> None:
    old, new = await searched(desk, ann), await searched(desk, ann)
    async with desk.store.database.writing() as connection:
        await connection.execute("update trace set created_at = now() - interval '30 days 1 minute' where trace_id = $1", old)
    assert await traced(desk, ann, old) is None
    assert await traced(desk, ann, new) is not None
    assert await prune_traces(desk.store.database, 30) == 1
    assert await values(desk.store, "select trace_id from trace where trace_id = any($1)", [old, new]) == [new]


# ------------------------------------------------------------------------------------------------ what it tells


async def test_the_trace_in_the_answer_is_the_one_that_is_stored(desk: Desk, ann: str) -> None:
    fields = TRACE.split("{ trace(traceId: $id)", 1)[1].rsplit("}", 1)[0]
    query = f"""{{ search(question: "зебра", namespaces: ["docs"], k: 2) {{ traceId trace {fields}
        hits {{ score fragment {{ id }} }} entities {{ score entity {{ id }} }} lexical {{ score }} }} }}"""
    answer = (await desk.ask(query, ann))["search"]
    shown, kept = answer["trace"], await traced(desk, ann, answer["traceId"])
    assert shown["traceId"] == kept["traceId"] == answer["traceId"]
    assert {one["name"] for one in shown["stages"]} >= {"hits", "entities", "fused", "together", "embedding", "words", "caller"}
    assert "lexical" not in {one["name"] for one in shown["stages"]}, "what else ran is in the one that is stored"
    assert {one["name"] for one in kept["stages"]} >= {"lexical", "hits", "entities"}
    assert next(one["count"] for one in shown["stages"] if one["name"] == "hits") == 2
    assert {one["count"] for one in kept["stages"]} == {None}
    for name in ("namespaces", "createdAt", "operation", "channels", "candidates", "budget"):
        assert shown[name] == kept[name], name
    included = [one for one in kept["candidates"]["nodes"] if one["outcome"] == "INCLUDED"]
    assert [(one["itemId"], one["score"]) for one in included if one["kind"] == "FRAGMENT"] == [
        (hit["fragment"]["id"], hit["score"]) for hit in answer["hits"]
    ]
    assert [(one["itemId"], one["score"]) for one in included if one["kind"] == "ENTITY"] == [
        (hit["entity"]["id"], hit["score"]) for hit in answer["entities"]
    ]
    for one in kept["candidates"]["nodes"]:
        assert one["score"] == sum(signal["contribution"] for signal in one["signals"])


async def test_selecting_a_trace_changes_no_value(desk: Desk, ann: str) -> None:
    bare = '{ search(question: "зебра") { hits { score fragment { text } } context degraded { code } MORE } }'
    with_trace = (await desk.ask(bare.replace("MORE", "traceId trace { traceId }"), ann))["search"]
    assert with_trace.pop("traceId") == with_trace.pop("trace")["traceId"]
    assert with_trace == (await desk.ask(bare.replace("MORE", ""), ann))["search"]


async def test_nothing_is_stored_unless_a_trace_is_selected(desk: Desk, ann: str) -> None:
    before = await values(desk.store, "select count(*) from trace")
    await desk.ask(
        '{ search(question: "зебра") { hits { score } entities { score } } contextPack(question: "зебра") { text } }', ann
    )
    assert await values(desk.store, "select count(*) from trace") == before
    await desk.ask('{ search(question: "зебра") { trace { operation } } }', ann)
    assert await values(desk.store, "select count(*) from trace") == [before[0] + 1]


async def test_two_traces_of_one_request_hold_each_its_own(desk: Desk, ann: str) -> None:
    query = '{ a: search(question: "зебра") { traceId trace { traceId } } b: search(question: "другое") { traceId } }'
    answer = await desk.ask(query, ann)
    first, second = answer["a"]["traceId"], answer["b"]["traceId"]
    assert first != second
    assert answer["a"]["trace"]["traceId"] == first
    questions = "select body -> 'request' ->> 'question' from trace where trace_id = $1"
    assert await values(desk.store, questions, first) == ["зебра"]
    assert await values(desk.store, questions, second) == ["другое"]


async def test_a_pack_is_told_whole_and_holds_no_texts(desk: Desk, ann: str) -> None:
    pack = await packed(desk, ann, maxTokens=20, state={"page": "невидимка"})
    kept = await traced(desk, ann, pack["traceId"])
    assert (kept["operation"], kept["strategy"]) == ("contextPack", "HYBRID")
    names = [one["name"] for one in kept["stages"]]
    assert len(set(names)) == len(names), "each stage once, by a name of its own"
    assert kept["ephemeralSize"] == len('{"page":"невидимка"}'.encode())
    assert kept["budget"] == {"maxTokens": 20} | pack["budget"]
    assert [one["channel"] for one in kept["channels"]] == ["LEXICAL", "VECTOR", "GRAPH"]
    items = {item["itemId"]: item for section in pack["sections"] for item in section["items"]}
    included = {one["itemId"]: one for one in kept["candidates"]["nodes"] if one["outcome"] == "INCLUDED"}
    assert items.keys() - {"current"} == included.keys()
    for id, one in included.items():
        assert {name: one[name] for name in ("title", "score", "signals")} == {
            name: items[id][name] for name in ("title", "score", "signals")
        }
    (body,) = await values(desk.store, "select (body - 'traceId')::text from trace where trace_id = $1", pack["traceId"])
    for text in ("невидимка", "саванне", "тайная", "near", "secret"):
        assert text not in body, text


async def test_a_channel_says_whether_it_gave_all_that_it_had(desk: Desk, ann: str) -> None:
    await desk.fill({f"many/{number}": "толпа" for number in range(25)}, OTHER)
    await desk.settle()
    query = """query($keys: [String!]) { search(question: "толпа", namespaces: ["other"], k: 10, filter: {keys: $keys}) {
        trace { channels { channel asked returned exhausted } } } }"""
    for keys, returned in (["many/1", "many/2"], 2), (None, 20):
        answer = (await desk.ask(query, ann, keys=keys))["search"]["trace"]["channels"]
        text = [one for one in answer if one["channel"] in ("VECTOR", "LEXICAL")]
        assert {(one["asked"], one["returned"], one["exhausted"]) for one in text} == {(20, returned, returned < 20)}


@pytest.mark.parametrize("channels", ["SQL", "VECTOR", "LEXICAL", "GRAPH", "LEXICAL, SQL", "VECTOR, LEXICAL, GRAPH, SQL"])
async def test_a_search_over_some_channels_tells_of_those(desk: Desk, ann: str, channels: str) -> None:
    asked = f'question: "зебра", namespaces: ["docs"], channels: [{channels}], entityFilter: {{types: ["document"]}}'
    query = f"""{{ search({asked}) {{
        traceId entities {{ score }} trace {{ channels {{ channel weight returned }} }} }} }}"""
    answer = (await desk.ask(query, ann))["search"]
    assert answer["traceId"]
    assert {one["channel"] for one in answer["trace"]["channels"]} == set(channels.split(", "))
    assert {one["weight"] for one in answer["trace"]["channels"]} == {1.0}
    assert any(one["returned"] for one in answer["trace"]["channels"]) == bool(answer["entities"])


async def test_candidates_come_in_pages(desk: Desk, ann: str) -> None:
    id = await searched(desk, ann)
    page = """query($id: ID!, $after: String) { trace(traceId: $id) { candidates(first: 2, after: $after) {
        nodes { itemId outcome } pageInfo { hasNextPage hasPreviousPage endCursor } } } }"""
    whole = (await traced(desk, ann, id))["candidates"]["nodes"]
    listed, after = [], None
    while True:
        found = (await desk.ask(page, ann, id=id, after=after))["trace"]["candidates"]
        listed += found["nodes"]
        assert found["pageInfo"]["hasPreviousPage"] == (after is not None)
        after = found["pageInfo"]["endCursor"]
        if not found["pageInfo"]["hasNextPage"]:
            break
    assert [one["itemId"] for one in listed] == [one["itemId"] for one in whole]
    other = await searched(desk, ann)
    answer = (await desk.send(page, ann, id=other, after=after)).json()
    assert answer["errors"][0]["extensions"]["code"] == "BAD_CURSOR"


async def test_what_is_hidden_since_is_as_if_it_had_never_been_there(desk: Desk, ann: str) -> None:
    pack = await packed(desk, ann, maxTokens=10)
    before = await traced(desk, ann, pack["traceId"])
    assert (await why(desk, ann, pack["traceId"], key="secret"))["outcome"] in ("INCLUDED", "OVER_BUDGET")
    await revoke(desk.store.database, ADMIN, "ann", DOCS, entity_key="secret")
    try:
        after = await traced(desk, ann, pack["traceId"])
        assert (await why(desk, ann, pack["traceId"], key="secret"))["outcome"] == "NOT_FOUND"
        gone = {one["itemId"] for one in before["candidates"]["nodes"]} - {one["itemId"] for one in after["candidates"]["nodes"]}
        (hidden,) = gone
        assert (await why(desk, ann, pack["traceId"], item=hidden))["outcome"] == "NOT_FOUND"
        assert hidden not in str(after)
        for was, one in zip(before["channels"], after["channels"], strict=True):
            assert one["returned"] == was["returned"] - (one["channel"] != "GRAPH")
        known = {one["itemId"]: one for one in after["candidates"]["nodes"]}
        prices = {item["itemId"]: item["tokenEstimate"] for part in pack["sections"] for item in part["items"]}
        included = [id for id, one in known.items() if one["outcome"] == "INCLUDED"]
        assert after["budget"]["usedTokens"] == sum(prices[id] for id in included)
        assert {one["itemId"] for one in after["budget"]["dropped"]} == known.keys() - set(included)
        assert after["budget"]["truncated"] == bool(after["budget"]["dropped"])
    finally:
        await grant(desk.store.database, ADMIN, "ann", DOCS, entity_key="secret")


async def test_a_walk_is_traced_by_what_it_came_to(desk: Desk, ann: str) -> None:
    query = """{ typedContext(anchors: [{kind: "document", value: "near"}], traverse: [{relation: "links_to"}]) {
        traceId sections { items { entity { id } } } } }"""
    answer = (await desk.ask(query, ann))["typedContext"]
    kept = await traced(desk, ann, answer["traceId"])
    items = [item["entity"]["id"] for section in answer["sections"] for item in section["items"]]
    assert [one["itemId"] for one in kept["candidates"]["nodes"]] == items
    assert (kept["operation"], kept["strategy"], kept["channels"], kept["budget"]) == ("typedContext", None, [], None)
    assert (await why(desk, ann, answer["traceId"], key="off"))["outcome"] == "NOT_A_CANDIDATE"


# ------------------------------------------------------------------------------------------------ why


async def test_why_and_why_not_of_a_pack(desk: Desk, ann: str) -> None:
    pack = await packed(desk, ann, maxTokens=7, k=1)
    (item,) = (item for section in pack["sections"] for item in section["items"])
    found = await why(desk, ann, pack["traceId"], item=item["itemId"])
    assert found["outcome"] == "INCLUDED"
    assert found["score"] == item["score"] == sum(signal["contribution"] for signal in found["signals"])
    assert "Входит в пакет" in found["explanation"], "the pack is Russian"
    far = await why(desk, ann, pack["traceId"], key="far")
    assert far["outcome"] == "OUTRANKED"
    lexical = next(one for one in far["channels"] if one["channel"] == "LEXICAL")
    assert lexical["worstAdmittedRank"] == 0 < lexical["rank"]
    assert f"LEXICAL: место {lexical['rank']}, принято по 0" in far["explanation"]
    assert (await why(desk, ann, pack["traceId"], key="elsewhere", namespace=OTHER))["outcome"] == "NOT_A_CANDIDATE"
    for missing in ({"key": "elsewhere"}, {"key": "none"}, {"key": "near", "namespace": "nowhere"}, {"item": "current"}):
        found = await why(desk, ann, pack["traceId"], **missing)
        said = "Нет ничего такого, что вам видно."
        assert found == {"outcome": "NOT_FOUND", "explanation": said, "score": None, "signals": [], "channels": []}


async def test_why_of_what_did_not_fit(desk: Desk, ann: str) -> None:
    pack = await packed(desk, ann, maxTokens=7, question="зебра zebra zebras")
    dropped = pack["budget"]["dropped"]
    assert dropped
    found = await why(desk, ann, pack["traceId"], item=dropped[0]["itemId"])
    assert (found["outcome"], found["score"]) == (dropped[0]["reason"], dropped[0]["score"])
    assert "It did not fit" in found["explanation"], "more Latin than Cyrillic letters"


async def test_why_needs_a_key_or_an_item(desk: Desk, ann: str) -> None:
    id = await searched(desk, ann)
    for given in ({}, {"key": "near", "item": "current"}, {"key": ""}, {"item": "nonsense"}, {"namespace": DOCS}):
        answer = (await desk.send(WHY, ann, id=id, **given)).json()
        assert answer["errors"][0]["extensions"]["code"] == "BAD_INPUT", given


async def test_why_of_a_search(desk: Desk, ann: str) -> None:
    id = await searched(desk, ann, question="зебра savanna savanna", namespaces=[DOCS], k=1)
    outcomes = {key: (await why(desk, ann, id, key=key))["outcome"] for key in ("near", "far", "secret", "none")}
    assert sorted(outcomes.values()) == ["INCLUDED", "NOT_FOUND", "OUTRANKED", "OUTRANKED"]
    outranked = next(key for key, outcome in outcomes.items() if outcome == "OUTRANKED")
    found = await why(desk, ann, id, key=outranked)
    assert found["score"] is not None
    assert "below the first 1" in found["explanation"]


# ------------------------------------------------------------------------------------------------ erasing


async def test_an_erased_key_leaves_questions_that_found_nothing_of_it(desk: Desk, ann: str) -> None:
    await desk.fill({'people/"анна"': "зебра, которую забудут"})
    query = 'query($question: String!) { search(question: $question, filter: {keys: ["none"]}) { traceId hits { score } } }'
    ids = [
        (await desk.ask(query, ann, question=question))["search"]["traceId"]
        for question in ('кто такая people/"анна"?', "кто такая Анна?")
    ]
    for erase, counted in (("false", None), ("true", 1)):  # also of one that was deleted before
        key = {"key": 'people/"анна"'}
        mutation = (
            f'mutation($key: String!) {{ deleteEntity(input: {{namespace: "docs", key: $key, erase: {erase}}}) {{ counts }} }}'
        )
        assert (await desk.ask(mutation, **key))["deleteEntity"]["counts"].get("traces") == counted
    questions = await values(
        desk.store, "select body #>> '{request,question}' from trace where trace_id = any($1) order by 1", ids
    )
    assert questions == ["", "кто такая Анна?"]


async def test_an_erased_entity_leaves_every_trace(desk: Desk, ann: str) -> None:
    await desk.fill({"gone": "зебра, которую забудут"})
    await desk.settle()
    pack = await packed(desk, ann, anchors=[{"key": "gone"}, {"key": "near"}])
    before = await traced(desk, ann, pack["traceId"])
    asked = await packed(desk, ann, question="зебра gone", anchors=[{"key": "near"}])
    other = await packed(desk, ann, question="другое", k=1)
    erase = 'mutation { deleteEntity(input: {namespace: "docs", key: "gone", erase: true}) { counts } }'
    counts = (await desk.ask(erase))["deleteEntity"]["counts"]
    assert counts["traces"] == 3, "by meaning it was found for another question too"
    bodies = await values(
        desk.store, "select (body - 'traceId')::text from trace where trace_id = any($1)", [pack["traceId"], asked["traceId"]]
    )
    assert [body for body in bodies if "gone" in body] == []
    kept = await traced(desk, ann, pack["traceId"])
    assert len(kept["candidates"]["nodes"]) == len(before["candidates"]["nodes"]) - 1
    assert await traced(desk, ann, other["traceId"]) is not None
    again = (await desk.ask(erase))["deleteEntity"]["counts"]
    assert "traces" not in again, "nothing is found by what is gone"
