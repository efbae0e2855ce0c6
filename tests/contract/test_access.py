"""Nobody sees a row that is not theirs, in any field, count, order, error, header or log line (spec 2)."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import count, islice
from typing import Any

import httpx
import pytest
from graphql import GraphQLObjectType, is_introspection_type
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.contract.asking import documents, some_words, text
from tests.contract.checking import Checks, leaks, tokens_in
from tests.contract.conftest import Comparisons
from tests.contract.fields import ELSEWHERE, FIELDS
from tests.contract.oracle import View, public_id
from tests.contract.probing import probes
from tests.contract.searching import Run
from tests.contract.unseen import remove_unseen
from tests.fixtures.bases import Bases
from tests.fixtures.company import Principal, World
from tests.fixtures.random_world import FULL, SMALL, random_world
from tests.fixtures.world import api, codes, execute, opened, post, served, store_world, tuned

SEEDS, MANY_SEEDS = range(5), range(1_000, 1_200)
SHARE, LARGE_SHARE = 810, 4_000
"""Comparisons of one world in the default run and in `make test-all`; histories do the rest (`test_histories.py`)."""


def some_callers(world: World, seed: int, count: int = 4) -> list[Principal]:
    """Some of those whose token is good."""
    return random.Random(seed).sample(world.callers, count)


async def check_world(bases: Bases, seed: int, share: int) -> int:
    """Ask everybody of one world the same small questions, and some of them the wide ones; gives how many were compared."""
    chance, url, world = random.Random(seed), bases.new(), random_world(seed, FULL if seed % 5 == 0 else SMALL)
    await store_world(url, world)
    everybody = [*world.callers, *world.refused]
    views = [View(world, one) for one in everybody]
    asked = [next(probes(views[number % len(views)], chance)) for number in range(math.ceil(share / len(views)))]
    async with opened(url) as store:
        checks = Checks(store)
        for view in views:
            await checks.ask_all(view, asked)
        for caller in some_callers(world, seed):
            await checks.ask_all(View(world, caller), documents(View(world, caller), seed))
    assert checks.found == []
    assert checks.close < checks.done / 20, "so many answers could not be compared"
    assert checks.done >= share
    return checks.done


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_field_holds_exactly_what_the_caller_may_see(bases: Bases, comparisons: Comparisons, seed: int) -> None:
    comparisons(await check_world(bases, seed, SHARE))


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY_SEEDS)
async def test_every_field_holds_exactly_what_the_caller_may_see_in_many_worlds(
    bases: Bases, comparisons: Comparisons, seed: int
) -> None:
    comparisons(await check_world(bases, seed, LARGE_SHARE))


@asynccontextmanager
async def greeted(client: httpx.AsyncClient, token: str | None) -> AsyncIterator[ClientConnection]:
    """A socket on which a caller is known."""
    url = f"ws://{client.base_url.host}:{client.base_url.port}/graphql"
    async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as socket:
        await socket.send(json.dumps({"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"}}))
        assert json.loads(await socket.recv())["type"] == "connection_ack"
        yield socket


NUMBERS = count()


async def told(socket: ClientConnection, document: str, until: str = "complete") -> list[str]:
    """The frames that answer one operation, up to the first of a type; it is ended then."""
    number, frames = f"o{next(NUMBERS)}", list[str]()
    await socket.send(json.dumps({"id": number, "type": "subscribe", "payload": {"query": document}}))
    while not frames or json.loads(frames[-1])["type"] not in (until, "complete", "error"):
        frame = str(await asyncio.wait_for(socket.recv(), 60))
        frames += [frame] if json.loads(frame)["id"] == number else []  # one that was ended may say something more
    if json.loads(frames[-1])["type"] == "next":
        await socket.send(json.dumps({"id": number, "type": "complete"}))
    return frames


TIMES = ("traceId", "startedMs", "milliseconds", "needs")


def timeless(answer: Any) -> Any:
    """An answer without what differs each time: ids of traces, their times and cursors, and which stage waited for which."""
    if isinstance(answer, list):
        return [timeless(one) for one in answer]
    if not isinstance(answer, dict):
        return answer
    held = {name: timeless(value) for name, value in answer.items() if name not in TIMES}
    if held.get("__typename") == "Trace":
        # Whoever comes first resolves the caller, for all that one request asks.
        held["stages"] = sorted((one for one in held.get("stages", ()) if one.get("name") != "caller"), key=json.dumps)
        (held.get("candidates") or {}).pop("pageInfo", None)
    return held


@pytest.mark.parametrize("seed", range(5))
async def test_what_may_not_be_seen_changes_no_byte_of_an_answer(bases: Bases, seed: int) -> None:
    url, world = bases.new(), random_world(seed)
    await store_world(url, world)
    for caller in some_callers(world, seed, 2):
        view, lesser = View(world, caller), bases.clone(url)
        await remove_unseen(lesser, view)
        answers = []
        for base in (url, lesser):
            async with opened(base) as store:
                asked = [*documents(view, seed), *islice(probes(view, random.Random(seed)), 40)]
                answers.append([timeless(await execute(store, document, caller.token)) for document in asked])
        assert json.dumps(answers[0]) == json.dumps(answers[1])


async def test_no_forbidden_text_leaves_by_http_headers_logs_or_metrics(bases: Bases, log_text: Callable[[], str]) -> None:
    url, world = bases.new(), random_world(100)
    await store_world(url, world)
    async with opened(url) as store, served(store) as client:
        for caller in world.callers:
            view = View(world, caller)
            closed = [space for space in world.namespaces if space not in view.spaces]
            asked = [
                *documents(view, 1),
                *islice(probes(view, random.Random(1)), 20),
                *(f"{{ knowledge(namespaces: {text([space.name])}) {{ isEmpty }} }}" for space in closed),
            ]
            log_text()
            for document in asked:
                response = await post(client, document, caller.token)
                assert response.status_code == 200
                said = response.text + str(response.headers)
                assert leaks(view, document, said) == []
            lines = log_text()
            assert lines.count('"event":"operation"') == len(asked), lines[:500]
            assert tokens_in(lines) & view.forbidden == set()
        metrics = (await client.get("/metrics")).text
        assert tokens_in(metrics) & set(world.owners) == set()


async def test_no_forbidden_text_leaves_by_a_socket(bases: Bases) -> None:
    url, world = bases.new(), random_world(102)
    await store_world(url, world)
    async with opened(url) as store, served(store) as client:
        checks = Checks(store)
        for caller in world.callers:
            view = View(world, caller)
            async with greeted(client, caller.token) as socket:
                for document in [*documents(view, 3), *islice(probes(view, random.Random(3)), 30)]:
                    frames = await told(socket, document)
                    assert leaks(view, document, " ".join(frames)) == []
                    first = json.loads(frames[0])
                    if first["type"] == "error":  # a server takes fewer points than the oracle's own schema
                        assert codes({"errors": first["payload"]}) == ["LIMIT_EXCEEDED"]
                    else:
                        assert first["payload"].pop("extensions")["cost"]["points"] > 0
                        checks.compare(view, document, {"data": first["payload"].get("data")} | first["payload"])
                for space in world.namespaces:
                    document = f"subscription {{ ingestion(namespace: {text(space.name)}) {{ fragments }} }}"
                    frame = (await told(socket, document, until="next"))[0]
                    assert leaks(view, document, frame) == []
                    seen = {"ingestion": {"fragments": len(view.fragments([space]))}}
                    payload = json.loads(frame)["payload"]
                    assert (isinstance(payload, dict) and payload["data"] == seen) is (space in view.spaces), frame
        assert checks.found == []
        assert checks.done > 400


async def test_the_index_of_vectors_gives_nothing_but_what_is_visible_and_nearly_all_of_it(bases: Bases) -> None:
    url, world, chance = bases.new(), random_world(105, FULL), random.Random(105)
    await store_world(url, world)
    wanted, found = 0, 0
    async with opened(url, tuning=tuned(exact_most=0)) as store:
        for caller in world.callers:
            view = View(world, caller)
            for _ in range(6):
                asked = some_words(world, chance)
                fields = "vector { fragment { id } } hits { fragment { text } }"
                document = f"{{ search(question: {text(asked)}, k: 10) {{ {fields} }} }}"
                answer = await execute(store, document, caller.token)
                assert leaks(view, document, json.dumps(answer)) == []
                ids = {hit["fragment"]["id"] for hit in answer["data"]["search"]["vector"]}
                best = {public_id("f", one.entity.space, one.id) for _, one in Run(view, asked, k=10).vector[:10]}
                assert ids <= {public_id("f", one.entity.space, one.id) for one in view.fragments(view.spaces)}
                wanted, found = wanted + len(best), found + len(best & ids)
    assert wanted > 500
    assert found >= 0.95 * wanted


async def test_pages_of_fragments_hold_what_is_visible_and_their_cursors_are_of_one_caller(bases: Bases) -> None:
    url, world = bases.new(), random_world(101)
    await store_world(url, world)
    page = "{{ entity(namespace: {0}, key: {1}) {{ fragments(first: 1{2}) {{ nodes {{ text }} pageInfo {{ endCursor }} }} }} }}"
    walked = 0
    async with opened(url) as store:
        for caller in world.callers:
            view = View(world, caller)
            for entity in view.entities(view.spaces):
                texts, after = [], ""
                while True:
                    document = page.format(text(entity.space.name), text(entity.key), after)
                    answer = await execute(store, document, caller.token)
                    found = answer["data"]["entity"]["fragments"]
                    texts += [node["text"] for node in found["nodes"]]
                    if not found["nodes"]:
                        break
                    after = f", after: {text(found['pageInfo']['endCursor'])}"
                assert texts == [view.text(entity.space, fragment.text) for fragment in entity.fragments]
                if texts and not caller.administrator:
                    other = await execute(store, document, world.named("admin").token)
                    assert codes(other) == ["BAD_CURSOR"]
                    walked += 1
    assert walked > 5


# ------------------------------------------------------------------------------------------------ completeness


def test_every_field_of_the_schema_is_known_to_the_oracle_or_to_a_test_of_its_own() -> None:
    fields = {
        f"{name}.{field}"
        for name, kind in api()._schema.type_map.items()
        if isinstance(kind, GraphQLObjectType) and not is_introspection_type(kind)
        for field in kind.fields
    }
    known = {f"{kind}.{field}" for kind, listed in FIELDS.items() for field in listed}
    assert fields - known - set(ELSEWHERE) == set(), "say in FIELDS what the new field must hold"
    assert (known | set(ELSEWHERE)) - fields == set()
