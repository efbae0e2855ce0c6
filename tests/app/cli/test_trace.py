"""Traces on the command line: what happened, why and why not, and the same pack again once things have changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.tokens import create_token, revoke_token
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.statistics import refresh_statistics
from retrieval.store import Store
from tests.app.cli.conftest import Run
from tests.fixtures.world import execute, opened
from tests.fixtures.writing import ADMIN, DOCS, put, values

NUMBER = "+7 916 123-45-67"
SECRETS = (NUMBER, "916 123-45-67", "79161234567", "9161234567", "123-45-67", "ann@example.org")
"""Whole numbers: what is shown has ids and times, in which short ones stand by chance."""
TEXTS = {"near": "зебра зебра зебра", "far": "зебра и много других слов о саванне", "long": "зебра " + "и слон " * 9}


def at(base: str, work: Callable[[Store], Awaitable[Any]]) -> Any:
    """Do something with the base of the test."""

    async def done() -> Any:
        async with opened(base) as store:
            return await work(store)

    return asyncio.run(done())


@pytest.fixture
def traced(base: str, settings: None, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of the trace of a pack over three documents, of which one would fit but for the state of the caller."""
    monkeypatch.setenv("CB_EMBEDDING_PROVIDER", "none")
    return str(at(base, compile_one))


async def compile_one(store: Store) -> str:
    await create_namespace(store.database, ADMIN, DOCS)
    for key, text in TEXTS.items():
        await put(store, key, text)
    await counted(store)
    query = """{ contextPack(question: "зебра", strategy: EXACT, maxTokens: 45, ephemeralContext: {page: "невидимка"}) {
        traceId budget { dropped { reason } } } }"""
    pack = (await execute(store, query))["data"]["contextPack"]
    assert [one["reason"] for one in pack["budget"]["dropped"]] == ["OVER_BUDGET"]
    return str(pack["traceId"])


async def counted(store: Store) -> None:
    for ns in await values(store, "select ns from namespace"):
        await refresh_statistics(store.database, ns)


def test_a_trace_is_shown(run: Run, traced: str) -> None:
    shown = run("trace", "show", traced)
    assert shown.code == 0
    for part in ("contextPack of administrator", "зебра", "EXACT", "1 dropped", "LEXICAL", "decided", "OVER_BUDGET", "near"):
        assert part in shown.out, part
    found = run("trace", "show", traced, "--json", "--candidates", "1").json
    assert (found["operation"], found["strategy"], found["namespaces"]) == ("contextPack", "EXACT", [DOCS])
    assert found["request"]["question"] == "зебра"
    assert [one["title"] for one in found["candidates"]] == ["near"]
    assert found["ephemeralSize"] == len('{"page":"невидимка"}'.encode())
    assert "невидимка" not in shown.out + str(found)


def test_why_and_why_not(run: Run, traced: str) -> None:
    assert run("trace", "why", traced, "--key", "near").out.startswith("INCLUDED: ")
    found = run("trace", "why", traced, "--key", "long", "--json").json
    assert found["outcome"] == "OVER_BUDGET"
    assert found["score"] == sum(signal["contribution"] for signal in found["signals"])
    assert run("trace", "why", traced, "--key", "nothing").out.startswith("NOT_FOUND: ")
    assert run("trace", "why", traced).sentence == "Give either --key or --item."
    assert run("trace", "why", traced, "--key", "near", "--item", "current").sentence == "Give either --key or --item."


def test_what_is_not_there_or_is_anothers_is_refused_alike(run: Run, traced: str, base: str) -> None:
    async def someone(store: Store) -> str:
        await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
        return (await create_token(store.database, ADMIN, "ann")).token

    token = at(base, someone)
    missing = run("trace", "show", "ctx-" + "a" * 24).sentence
    assert "There is no trace" in missing
    for command in (["show"], ["why", "--key", "near"], ["replay"]):
        assert run("trace", *command, traced, "--token", token).sentence == missing.replace("ctx-" + "a" * 24, traced)


def test_a_replay_of_what_has_not_changed_says_so(run: Run, traced: str) -> None:
    assert "Nothing has changed: all 3 candidates" in run("trace", "replay", traced).out
    found = run("trace", "replay", traced, "--json").json
    assert found["same"] is True
    assert {one["change"] for one in found["items"]} == {"SAME"}
    assert [one["before"] for one in found["items"]] == [one["after"] for one in found["items"]]


def test_a_replay_shows_what_has_changed_item_by_item(run: Run, traced: str, base: str) -> None:
    async def change(store: Store) -> None:
        await delete_entity(store.database, ADMIN, DOCS, "near")
        await put(store, "new", "зебра зебра новая")
        await put(store, "far", "зебра")
        await counted(store)

    at(base, change)
    found = {one["title"]: one for one in run("trace", "replay", traced, "--json").json["items"]}
    gone = found.pop(None)
    assert (gone["change"], gone["after"]["outcome"]) == ("GONE", "NOT_FOUND")
    assert (found["new"]["change"], found["new"]["before"]["outcome"]) == ("ENTERED", "NOT_A_CANDIDATE")
    told = run("trace", "replay", traced).out
    for part in ("GONE", "ENTERED", "fragment new", "LEXICAL"):
        assert part in told, part
    assert "fragment long" not in told or found["long"]["change"] != "SAME"


def test_a_replay_is_as_of_then(run: Run, traced: str, base: str) -> None:
    async def let_days_pass(store: Store) -> None:
        then = (datetime.now(UTC) - timedelta(days=20)).isoformat()
        async with store.database.writing() as connection:
            await connection.execute("update entity set updated_at = updated_at - interval '20 days'")
            body = "jsonb_set(body, '{createdAt}', to_jsonb($1::text))"
            await connection.execute(f"update trace set body = {body} where trace_id = $2", then, traced)  # noqa: S608

    at(base, let_days_pass)
    assert run("trace", "replay", traced, "--json").json["same"] is True, "nothing is older than it was at the clock of the trace"


def test_a_replay_has_the_rights_that_its_maker_has_now(run: Run, traced: str, base: str) -> None:
    async def of_ann(store: Store) -> str:
        await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
        await grant(store.database, ADMIN, "ann", DOCS)
        await put(store, "hidden", "зебра зебра", restricted=True, readers=[])
        token = (await create_token(store.database, ADMIN, "ann")).token
        answer = await execute(store, '{ contextPack(question: "зебра", strategy: EXACT) { traceId } }', token)
        return str(answer["data"]["contextPack"]["traceId"])

    async def revoked(store: Store) -> None:
        await revoke_token(store.database, ADMIN, 1)

    trace_id = at(base, of_ann)
    found = run("trace", "replay", trace_id, "--json").json
    assert (found["madeBy"], found["compiledAs"], found["same"]) == ("ann", "ann", True), "ann does not see what is hidden"
    at(base, revoked)
    ended = run("trace", "replay", trace_id)
    assert "ann made it and has no token that holds" in ended.err
    assert "fragment hidden" in ended.out


async def of_people(store: Store) -> tuple[str, dict[str, str]]:
    """A trace of Ann, who asked with a number, and tokens: hers, of an administrator of `docs`, of one who may read it too."""
    people = {"ann": ("READER",), "chief": ("ADMIN",), "lead": ("ADMIN", "PERSONAL_DATA")}
    await upsert_principals(store.database, ADMIN, [PrincipalInput(name, "USER") for name in people])
    tokens = {}
    for name, roles in people.items():
        for role in roles:
            await grant(store.database, ADMIN, name, DOCS, role=role)
        tokens[name] = (await create_token(store.database, ADMIN, name)).token
    await put(store, "call", f"зебра ждёт звонка {NUMBER}")
    query = """query($question: String!, $anchors: [EntityRef!]!) {
        contextPack(question: $question, anchors: $anchors, relevanceScopes: ["person:ann@example.org"], namespaces: ["docs"]) {
            traceId } }"""
    given = {"question": f"зебра {NUMBER}", "anchors": [{"key": "ann@example.org"}]}
    answer = await execute(store, query, tokens["ann"], variables=given)
    return answer["data"]["contextPack"]["traceId"], tokens


def test_what_was_asked_is_masked_for_whoever_may_not_read_personal_data(run: Run, traced: str, base: str) -> None:
    id, tokens = at(base, of_people)
    for name in ("ann", "chief"):
        for command in (["show"], ["show", "--json"], ["why", "--key", "call"], ["why", "--key", "near", "--json"],
                        ["replay", "--all"], ["replay", "--json"]):  # fmt: skip
            shown = run("trace", *command, id, "--token", tokens[name])
            assert shown.code == 0, shown.err
            assert [secret for secret in SECRETS if secret in shown.out + shown.err] == [], (name, command)
        request = run("trace", "show", id, "--json", "--token", tokens[name]).json["request"]
        assert (request["question"], request["anchors"][0]["key"]) == ("зебра [PHONE]", "[EMAIL]")
        assert (request["relevanceScopes"], request["namespaces"], request["k"]) == (["person:[EMAIL]"], [DOCS], 8)
    for token in (["--token", tokens["lead"]], []):
        request = run("trace", "show", id, "--json", *token).json["request"]
        assert (request["question"], request["anchors"][0]["key"]) == (f"зебра {NUMBER}", "ann@example.org")


def test_the_right_must_be_held_in_all_namespaces_of_a_trace(run: Run, traced: str, base: str) -> None:
    async def wide(store: Store) -> tuple[str, str]:
        _, tokens = await of_people(store)
        await create_namespace(store.database, ADMIN, "other")
        await grant(store.database, ADMIN, "lead", "other", role="ADMIN")
        query = "query($question: String!) { search(question: $question) { traceId } }"
        answer = await execute(store, query, tokens["lead"], variables={"question": NUMBER})
        return answer["data"]["search"]["traceId"], tokens["lead"]

    id, token = at(base, wide)
    assert run("trace", "show", id, "--json", "--token", token).json["request"]["question"] == "[PHONE]"
    at(base, lambda store: grant(store.database, ADMIN, "lead", "other", role="PERSONAL_DATA"))
    assert run("trace", "show", id, "--json", "--token", token).json["request"]["question"] == NUMBER


def test_only_packs_are_compiled_again(run: Run, traced: str, base: str) -> None:
    async def search(store: Store) -> str:
        answer = await execute(store, '{ search(question: "зебра") { traceId } }')
        return str(answer["data"]["search"]["traceId"])

    assert "Only packs are compiled again" in run("trace", "replay", at(base, search)).sentence
