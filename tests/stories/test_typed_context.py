"""From a ticket to the people, runs and documents around it, as of two dates; and what is refused, and in which words."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from app.demo.team import load_team
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.domain.applying import apply_pack
from retrieval.domain.reading import pack_of
from retrieval.ports import Vectors
from tests.fixtures.bases import Bases
from tests.fixtures.desk import Desk, desk_at
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.writing import ADMIN

EARLY, LATE = "2026-09-05T00:00:00Z", "2026-09-14T00:00:00Z"
WALK = """query($anchors: [TypedAnchorInput!]!, $traverse: [TraverseStep!]!, $asOf: DateTime, $semantic: Boolean! = false,
              $namespaces: [String!] = ["team"]) {
    typedContext(anchors: $anchors, traverse: $traverse, asOf: $asOf, namespaces: $namespaces, allowSemantic: $semantic) {
        anchors { value resolvedBy evidence entity { key } } unresolved { kind value reason } truncated
        sections { type items { entity { key } attributes versionId validFrom validTo distance via { predicate } } }
        facts { predicate subject { key } object { key } } used { entities facts versions } sources { key } } }"""
AROUND = [
    {"relation": "assigned_to"},
    {"relation": "concerns", "limit": 9},
    {"relation": "served_by", "from": "PREVIOUS"},
    {"relation": "owned_by", "from": "PREVIOUS"},
    {"relation": "reported_by"},
    {"relation": "fixed_in"},
    {"relation": "described_in", "direction": "BOTH"},
]
TICKET = [{"kind": "ticket", "value": "PAY-101"}]


@pytest.fixture(scope="module")
def stored(shared_bases: Bases) -> str:
    """A base with the example of a software team."""
    return shared_bases.filled(fill)


class Away(HashEmbedder):
    """An embedder that gives no vector of a question."""

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        raise ConnectionError("the provider is away")


async def fill(url: str) -> None:
    async with desk_at(url) as desk:
        await load_team(desk.store)
        await desk.settle()


@pytest.fixture
async def team(stored: str) -> Any:
    """A desk at it."""
    async with desk_at(stored) as desk:
        yield desk


async def walked(desk: Desk, anchors: list[dict[str, Any]], traverse: list[dict[str, Any]], **given: Any) -> dict[str, Any]:
    answer = await desk.ask(WALK, anchors=anchors, traverse=traverse, **given)
    found: dict[str, Any] = answer["typedContext"]
    return found


def keys(found: dict[str, Any], kind: str) -> list[str]:
    """The items of a type, in their order."""
    return [item["entity"]["key"] for one in found["sections"] if one["type"] == kind for item in one["items"]]


# ------------------------------------------------------------------------------------------------ what is found


async def test_two_dates_tell_two_stories_of_one_ticket(team: Desk) -> None:
    early, late = [await walked(team, TICKET, AROUND, asOf=at) for at in (EARLY, LATE)]
    assert keys(early, "person") == ["person/boris"]
    assert keys(late, "person") == ["person/ann"]
    assert keys(early, "service") == keys(late, "service") == ["service/payments"]
    versions = [item for one in (early, late) for s in one["sections"] if s["type"] == "service" for item in s["items"]]
    assert [item["attributes"]["version"] for item in versions] == ["2.3.0", "2.3.1"]
    assert versions[0]["validTo"] == versions[1]["validFrom"] == "2026-09-12T10:00:00Z"
    assert versions[1]["validTo"] is None
    assert keys(early, "run") == ["run/812"]
    assert "run/840" in keys(late, "run")


async def test_all_that_was_used_is_told(team: Desk) -> None:
    found = await walked(team, TICKET, AROUND, asOf=LATE)
    items = [item for one in found["sections"] for item in one["items"]]
    assert found["used"]["versions"] == [item["versionId"] for item in items]
    assert len(set(found["used"]["entities"])) == len(items) == len(set(found["used"]["versions"]))
    assert len(set(found["used"]["facts"])) == len(found["facts"])
    assert {item["entity"]["key"] for item in items} <= {card["key"] for card in found["sources"]}
    assert [one["type"] for one in found["sections"]] == sorted(one["type"] for one in found["sections"])
    far = {item["entity"]["key"]: (item["distance"], [one["predicate"] for one in item["via"]]) for item in items}
    assert far["PAY-101"] == (0, [])
    assert far["service/payments"] == (1, ["concerns"])
    assert far["person/ann"] == (1, ["assigned_to"])


async def test_a_step_from_the_one_before_goes_on_where_that_one_came_to(team: Desk) -> None:
    steps = [{"relation": "concerns"}, {"relation": "owned_by", "from": "PREVIOUS"}]
    assert keys(await walked(team, TICKET, steps, asOf=LATE), "person") == ["person/ann"]
    assert keys(await walked(team, TICKET, [steps[0], {"relation": "owned_by"}], asOf=LATE), "person") == []
    assert keys(await walked(team, TICKET, [steps[1]], asOf=LATE), "person") == [], "the first step begins at the anchors"


async def test_what_a_step_began_with_and_came_to_is_gone_on_from(team: Desk) -> None:
    steps = [{"relation": "concerns"}, *({"relation": name, "from": "PREVIOUS"} for name in ("served_by", "owned_by"))]
    found = await walked(team, TICKET, steps, asOf=LATE)
    assert "owned_by" in {fact["predicate"] for fact in found["facts"]}, "the service was found by the first step too"


async def test_a_limit_counts_new_entities_and_says_when_it_cuts(team: Desk) -> None:
    found = await walked(team, TICKET, [{"relation": "concerns", "limit": 1}], asOf=LATE)
    assert (len(keys(found, "endpoint") + keys(found, "service")), found["truncated"]) == (1, True)
    whole = await walked(team, TICKET, [{"relation": "concerns", "limit": 2}], asOf=LATE)
    assert (len(keys(whole, "endpoint") + keys(whole, "service")), whole["truncated"]) == (2, False)


# ------------------------------------------------------------------------------------------------ anchors


async def test_an_anchor_is_resolved_by_key_then_by_name_then_by_identifier(team: Desk) -> None:
    given = [
        ("ticket", "PAY-101"),
        ("service", "BILLING"),
        ("ticket", "see PAY-117, then PAY-101 and LED-99999"),
        ("run", "it broke in run #826"),
        ("endpoint", "answers to GET /api/v1/payments/{} are slow"),
    ]
    found = await walked(team, [{"kind": kind, "value": value} for kind, value in given], [])
    assert [(one["entity"]["key"], one["resolvedBy"], one["evidence"]) for one in found["anchors"]] == [
        ("PAY-101", "KEY", "ASSERTED"),
        ("service/payments", "ALIAS", "ASSERTED"),
        ("PAY-117", "ID_PATTERN", "ASSERTED"),
        ("PAY-101", "ID_PATTERN", "ASSERTED"),
        ("run/826", "ID_PATTERN", "ASSERTED"),
        ("GET /api/v1/payments/{}", "ID_PATTERN", "ASSERTED"),
    ]
    assert found["unresolved"] == []


async def test_an_anchor_that_stands_for_nothing_says_why(team: Desk) -> None:
    given = [("person", "PAY-101"), ("ticket", "PAY-999"), ("tiket", "PAY-998")]
    found = await walked(team, [{"kind": kind, "value": value} for kind, value in given], [{"relation": "concerns"}])
    assert [one["reason"] for one in found["unresolved"]] == [
        "The key belongs to something of type 'ticket'; give that as `kind`.",
        "There is nothing of this type with this key, name or identifier that you may see.",
        "There is nothing of this type with this key, name or identifier that you may see. "
        "The domain packs declare no type 'tiket'; did you mean 'ticket'?",
    ]
    assert (found["anchors"], found["sections"], found["facts"], found["sources"]) == ([], [], [], [])


async def test_meaning_is_asked_only_when_it_is_allowed_and_its_anchor_is_inferred(stored: str) -> None:
    anchor = [{"kind": "document", "value": "what to do when payments time out"}]
    async with desk_at(stored, HashEmbedder()) as desk:
        closed = await walked(desk, anchor, [])
        assert (closed["anchors"], len(closed["unresolved"])) == ([], 1)
        (one,) = (await walked(desk, anchor, [], semantic=True))["anchors"]
        assert (one["resolvedBy"], one["evidence"]) == ("SEMANTIC", "INFERRED")
        (none,) = (await walked(desk, [{"kind": "person", "value": "who pays"}], [], semantic=True))["unresolved"]
        assert none["reason"].endswith("No text of this type is near in meaning.")


async def test_meaning_that_cannot_be_asked_is_a_reason_and_no_error(stored: str) -> None:
    async with desk_at(stored, Away()) as desk:
        (one,) = (await walked(desk, [{"kind": "document", "value": "payments"}], [], semantic=True))["unresolved"]
        assert "Meaning could not be asked" in one["reason"]


async def test_what_is_hidden_is_as_what_is_missing(base_url: str) -> None:
    async with desk_at(base_url) as desk:
        await create_namespace(desk.store.database, ADMIN, "team")
        await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("reader", "USER")])
        await grant(desk.store.database, ADMIN, "reader", "team")
        await desk.ask("""mutation { upsertEntities(input: {namespace: "team", entities: [
            {key: "PAY-1", type: "ticket", title: "One"}, {key: "PAY-2", type: "ticket", title: "Two", restricted: true}]})
            { results { outcome } } }""")
        await desk.ask("""mutation { assertFacts(input: {namespace: "team", facts: [
            {subject: "PAY-1", predicate: "blocked_by", object: "PAY-2"}]}) { results { outcome } } }""")
        token, step = await desk.token("reader"), [{"relation": "blocked_by", "direction": "BOTH", "limit": 1}]
        answers = []
        for key in ("PAY-2", "PAY-3"):
            anchors = [{"kind": kind, "value": key} for kind in ("ticket", "person")] + [{"kind": "ticket", "value": "PAY-1"}]
            found = (await desk.ask(WALK, token, anchors=anchors, traverse=step))["typedContext"]
            answers.append(str(found).replace(key, "KEY"))
        assert answers[0] == answers[1]
        assert "PAY-1" in answers[0]


# ------------------------------------------------------------------------------------------------ what is refused

REFUSED = [
    ({"traverse": [{"relation": "concerned"}]}, "`traverse[0].relation`: the domain packs declare no predicate 'concerned'; did "
     "you mean 'concerns'?"),
    ({"traverse": [{"relation": "calls"}, {"relation": "due", "depth": 6}]}, "`traverse[1].depth` is 6; it must be from 1 to 5."),
    ({"traverse": [{"relation": "concerns", "depth": 0}]}, "`traverse[0].depth` is 0; it must be from 1 to 5."),
    ({"traverse": [{"relation": "concerns", "limit": 201}]}, "`traverse[0].limit` is 201; it must be from 1 to 200."),
    ({"traverse": [{"relation": "concerns"}] * 11}, "`traverse` has 11 items; give at most 10."),
    ({"traverse": [{"relation": " "}]}, "`traverse[0].relation` is empty."),
    ({"anchors": [{"kind": "ticket", "value": f"PAY-{n}"} for n in range(21)]}, "`anchors` has 21 items; give at most 20."),
    ({"anchors": [{"kind": "ticket", "value": ""}]}, "`anchors[0].value` is empty."),
    ({"anchors": [{"kind": "t" * 201, "value": "x"}]}, "`anchors[0].kind` has 201 characters; at most 200 are taken."),
    ({"asOf": "2026-09-05T00:00:00"}, "`asOf` needs a time zone, such as 2026-09-05T00:00:00Z."),
]  # fmt: skip


@pytest.mark.parametrize(("given", "message"), REFUSED)
async def test_a_walk_that_cannot_be_done_says_what_to_change(team: Desk, given: dict[str, Any], message: str) -> None:
    for fields in ("truncated", "anchors { value }", "__typename"):
        document = WALK[: WALK.index("anchors {")] + fields + " } }"
        response = await team.send(document, **({"anchors": TICKET, "traverse": []} | given))
        (error,) = response.json()["errors"]
        assert (error["extensions"]["code"], error["message"]) == ("BAD_INPUT", message)


async def test_a_namespace_that_is_not_asked_for_or_not_there_is_refused(team: Desk) -> None:
    await create_namespace(team.store.database, ADMIN, "other")
    anchors = [{"kind": "ticket", "value": "PAY-101", "namespace": "other"}]
    assert await team.refusal(WALK, anchors=anchors, traverse=[]) == "BAD_INPUT"
    anchors[0]["namespace"] = "nowhere"
    assert await team.refusal(WALK, anchors=anchors, traverse=[]) == "NAMESPACE_NOT_FOUND"
    assert await team.refusal(WALK, anchors=TICKET, traverse=[], namespaces=["nowhere"]) == "NAMESPACE_NOT_FOUND"


async def test_without_packs_every_predicate_may_be_walked(base_url: str) -> None:
    async with desk_at(base_url) as desk:
        for name in ("team", "bare"):
            await create_namespace(desk.store.database, ADMIN, name)
        await apply_pack(desk.store.database, ADMIN, "team", pack_of({"name": "p", "version": "1.0.0", "types": {"x": {}}}))
        step = [{"relation": "anything"}]
        assert await desk.refusal(WALK, anchors=TICKET, traverse=step) == "BAD_INPUT"
        assert (await walked(desk, TICKET, step, namespaces=["team", "bare"]))["facts"] == []
        assert (await walked(desk, TICKET, [{"relation": "links_to"}]))["facts"] == [], "the server states links itself"


# ------------------------------------------------------------------------------------------------ bytes


async def test_two_processes_give_the_same_bytes(stored: str) -> None:
    steps = "{relation: concerns, direction: BOTH, depth: 5}, {relation: calls, direction: BOTH, depth: 5, from: PREVIOUS}"
    steps = steps.replace("concerns", '"concerns"').replace("calls", '"calls"')
    document = f"""{{ typedContext(anchors: [{{kind: "ticket", value: "PAY-101"}}, {{kind: "service", value: "billing"}}],
        traverse: [{steps}], asOf: "{LATE}") {{ truncated anchors {{ value entity {{ id }} }} sections {{ type items {{
            entity {{ id key }} attributes versionId distance via {{ factId }} }} }} facts {{ factId }} sources {{ key }}
        used {{ entities facts versions }} }} }}"""
    answers = [await apart(stored, document, seed) for seed in ("1", "2")]
    assert answers[0] == answers[1]
    assert answers[0].count(b'"versionId"') > 5


async def apart(url: str, document: str, seed: str) -> bytes:
    """The answer of a process whose sets and texts hash in another way."""
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": "."}
    command = (sys.executable, "-m", "tests.fixtures.asking_apart", url, document)
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=environment)
    told, _ = await process.communicate()
    assert process.returncode == 0
    return told
