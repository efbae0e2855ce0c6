"""Scores add up, the same question has the same answer, helpers never break a search, and nothing leaks or hangs (spec 12)."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
import structlog
from pgvector import HalfVector

from retrieval.administration.grants import grant, revoke
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.errors import ProviderUnavailable
from retrieval.store import QuestionVectors, Store
from tests.contract.asking import documents, text
from tests.contract.expecting import differences, expected
from tests.contract.oracle import View, public_id
from tests.contract.selections import selection
from tests.fixtures.bases import Bases
from tests.fixtures.company import World
from tests.fixtures.embedders import HashEmbedder, OddEmbedder
from tests.fixtures.random_world import random_world
from tests.fixtures.world import api, codes, execute, opened, post, recorder, served, session_for, store_world, tuned


@pytest.fixture(scope="module")
def stored(shared_bases: Bases) -> tuple[str, World]:
    """A base and its world; whoever changes the base works on a clone."""
    url, world = shared_bases.new(), random_world(42)
    asyncio.run(store_world(url, world))
    return url, world


@pytest.fixture
async def place(stored: tuple[str, World]) -> AsyncIterator[tuple[Store, World]]:
    """The world of this module, opened."""
    async with opened(stored[0], OddEmbedder()) as store:
        yield store, stored[1]


@pytest.fixture
async def scratch(bases: Bases, stored: tuple[str, World]) -> AsyncIterator[tuple[Store, World]]:
    """A copy that may be changed."""
    async with opened(bases.clone(stored[0]), OddEmbedder()) as store:
        yield store, stored[1]


def odd(store: Store) -> OddEmbedder:
    assert isinstance(store.embedder, OddEmbedder)
    return store.embedder


def searching(world: World, fields: str, more: str = "") -> str:
    return f"{{ search(question: {text(' '.join(world.words[:4]))}{more}) {{ {fields} }} }}"


# ------------------------------------------------------------------------------------------------ scores and order


async def test_the_signals_of_every_hit_of_every_list_add_up(place: tuple[Store, World]) -> None:
    store, world = place
    fields = "score signals { contribution }"
    weighted = ", k: 50, fusion: {method: WEIGHTED, weights: [{channel: VECTOR, weight: 0.7}, {channel: LEXICAL, weight: 1.3}]}"
    counted = 0
    for more in (", k: 50", weighted, ", channels: [LEXICAL]"):
        lists = ("hits", "vector", "lexical", "entities", "graph")
        document = searching(world, " ".join(f"{name} {{ {fields} }}" for name in lists), more)
        answer = await execute(store, document)
        for listed in answer["data"]["search"].values():
            for hit in listed:
                total = 0.0
                for signal in hit["signals"]:
                    total += signal["contribution"]
                assert total == hit["score"]
                counted += 1
    recalled = await execute(store, f"{{ recall(question: {text(world.words[0])}) {{ memories {{ {fields} }} }} }}")
    assert all(sum(s["contribution"] for s in one["signals"]) == one["score"] for one in recalled["data"]["recall"]["memories"])
    assert counted > 100


async def test_adaptive_weighs_text_in_entities_as_in_hits_and_the_other_lists_evenly(place: tuple[Store, World]) -> None:
    store, world = place
    fields = "score signals { channel rank rawScore weight contribution }"
    asked = f"question: {text('где лежат письма наших соседей ' + world.words[0])}, k: 50, fusion: {{method: ADAPTIVE}}"
    answer = await execute(
        store, f'{{ search({asked}, entityFilter: {{types: ["page"]}}) {{ hits {{ {fields} }} entities {{ {fields} }} }} }}'
    )
    text_only, every = (
        {
            (signal["channel"], signal["rawScore"]): signal["weight"]
            for one in answer["data"]["search"][name]
            for signal in one["signals"]
        }
        for name in ("hits", "entities")
    )
    assert {weight for (channel, _), weight in every.items() if channel in ("GRAPH", "SQL")} == {store.tuning.unscored_weight}
    shared = text_only.keys() & every.keys()
    assert len(shared) > 10
    assert {one: text_only[one] for one in shared} == {one: every[one] for one in shared}
    words, meaning = ({weight for (by, _), weight in text_only.items() if by == channel} for channel in ("LEXICAL", "VECTOR"))
    assert max(words) < 1 < max(meaning)
    assert len(meaning) > 10
    for one in (one for listed in answer["data"]["search"].values() for one in listed):
        terms = [signal["weight"] / (60 + signal["rank"] + 1) for signal in one["signals"]]
        assert [signal["contribution"] for signal in one["signals"]] == terms
        assert one["score"] == sum(terms)


async def test_the_same_question_has_the_same_answer_fifty_times_whatever_comes_first(place: tuple[Store, World]) -> None:
    store, world = place
    odd(store).slowest = 0.02
    work = frozenset({"Search.trace", "Search.traceId"})  # which tell of the work itself
    document = searching(world, selection(api()._schema, "Search", 2, avoid=work)[1:-1], ", k: 5, hops: 2")
    first = json.dumps(await execute(store, document))
    alone = [await execute(store, document) for _ in range(10)]
    gates = asyncio.Semaphore(8)

    async def crowded(number: int) -> Any:
        async with gates:
            if number % 4 == 0:
                await execute(store, searching(world, "hits { score } context", f", k: {1 + number % 7}"))
            return await execute(store, document)

    together = await asyncio.gather(*(crowded(number) for number in range(40)))
    assert {json.dumps(answer) for answer in [*alone, *together]} == {first}


async def test_equal_texts_are_ordered_by_their_ids(scratch: tuple[Store, World]) -> None:
    store, world = scratch
    async with store.database.writing() as connection:
        await connection.execute("update fragment_lexemes set lexemes = to_tsvector('russian', 'zbrkt'), words = 1")
        vector = HalfVector(HashEmbedder().vector("zbrkt"))
        await connection.execute("update fragment_vector set embedding = $1", vector)
    answer = await execute(
        store, '{ search(question: "zbrkt", k: 10) { vector { fragment { id } } lexical { fragment { id } } } }'
    )
    fragments = sorted(world.fragments, key=lambda one: (one.entity.space.ns, one.id))
    for name, among in (("lexical", fragments), ("vector", [one for one in fragments if not one.pending])):
        ids = [hit["fragment"]["id"] for hit in answer["data"]["search"][name]]
        assert ids == [public_id("f", one.entity.space, one.id) for one in among[:10]]


@pytest.mark.parametrize(("second_look_from", "way"), [(1_000_000, "vector_near"), (0, "vector_near_twice")])
async def test_the_ways_of_large_bases_give_the_same_answers(stored: tuple[str, World], second_look_from: int, way: str) -> None:
    url, world = stored
    ways = tuned(exact_most=0, second_look_from=second_look_from, all_words_most=0, spaces_by_key_most=0)
    async with opened(url, tuning=ways) as store:
        view = View(world, world.named("admin"))
        recorder(store).forget()
        for document in documents(view, 3):
            answer = await execute(store, document, view.me.token)
            assert differences({"data": expected(api()._schema, view, document)}, answer) == []
        assert way in " ".join(recorder(store).statements).split()


# ------------------------------------------------------------------------------------------------ helpers fail


FAILURES = {
    "refuses": ProviderUnavailable("The provider says 429."),
    "is not there": ConnectionError("no route to 10.0.0.7"),
    "gives nonsense": ValueError("zebra-4711"),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_provider_that_fails_leaves_the_words(place: tuple[Store, World], failure: str) -> None:
    store, world = place
    fields = "lexical { score fragment { id } } neighbors { hops } degraded { part code message }"
    whole = await execute(store, searching(world, fields))
    odd(store).error = FAILURES[failure]
    answer = await execute(
        store, searching(world, f"{fields} hits {{ fragment {{ id }} signals {{ channel }} }} vector {{ score }}")
    )
    found = answer["data"]["search"]
    assert "errors" not in answer
    assert found["lexical"] == whole["data"]["search"]["lexical"]
    assert [hit["fragment"] for hit in found["hits"]] == [hit["fragment"] for hit in found["lexical"]]
    assert {signal["channel"] for hit in found["hits"] for signal in hit["signals"]} == {"LEXICAL"}
    assert found["vector"] == []
    (entry,) = found["degraded"]
    assert (entry["part"], entry["code"]) == ("embedding", "PROVIDER_UNAVAILABLE")
    assert "zebra" not in entry["message"]
    assert "10.0.0.7" not in entry["message"]


async def test_a_provider_that_hangs_is_left_in_time(stored: tuple[str, World]) -> None:
    url, world = stored
    embedder = OddEmbedder()
    embedder.gate = asyncio.Event()
    async with opened(url, embedder, tuning=tuned(embedding_seconds=0.3)) as store:
        started = asyncio.get_running_loop().time()
        answer = await execute(store, searching(world, "lexical { score } hits { score } degraded { code }"))
        took = asyncio.get_running_loop().time() - started
    assert answer["data"]["search"]["degraded"] == [{"code": "DEADLINE_EXCEEDED"}]
    assert len(answer["data"]["search"]["hits"]) == len(answer["data"]["search"]["lexical"]) > 0
    assert 0.3 <= took < 25, "it hangs for good"


async def test_without_a_provider_words_answer_and_degraded_says_why(stored: tuple[str, World]) -> None:
    url, world = stored
    async with opened(url) as store:
        store.embedder = None
        answer = await execute(store, searching(world, "lexical { score } vector { score } degraded { code message }"))
    found = answer["data"]["search"]
    assert found["lexical"]
    assert found["vector"] == []
    assert found["degraded"][0]["code"] == "PROVIDER_UNAVAILABLE"


BREAKING = {
    "drop table edge cascade": {"entities", "graph", "neighbors", "sources", "context"},
    "drop table fragment_vector": {"vector", "hits", "entities", "graph", "neighbors", "sources", "context"},
    "drop table word_statistics": {"lexical", "hits", "entities", "graph", "neighbors", "sources", "context"},
}
"""What is taken away, and which fields of a search cannot do without it."""


@pytest.mark.parametrize("damage", BREAKING)
async def test_a_broken_part_is_masked_and_changes_no_sibling(scratch: tuple[Store, World], damage: str) -> None:
    store, world = scratch
    fields = [f"{name} {{ score }}" for name in ("hits", "vector", "lexical", "entities", "graph")]
    fields += ["neighbors { hops }", "sources { key }", "context"]
    document = searching(world, " ".join([*fields, "degraded { code } namespaces question"]))
    whole = (await execute(store, document))["data"]["search"]
    async with store.database.writing() as connection:
        await connection.execute(damage)
    with structlog.testing.capture_logs() as logged:
        answer = await execute(store, document)
    found, lost = answer["data"]["search"], BREAKING[damage]
    assert {name for name, value in found.items() if value is None} == lost
    assert {name: value for name, value in found.items() if name not in lost} == {
        name: value for name, value in whole.items() if name not in lost
    }
    assert set(codes(answer)) == {"INTERNAL"}
    for error in answer["errors"]:
        assert re.fullmatch(r"Something went wrong on our side; quote id [0-9a-f]{16} when you report it\.", error["message"])
        assert error["extensions"]["id"] in {line.get("error_id") for line in logged}
    assert not re.search(r"relation|statistics|fragment_vector", json.dumps(answer["errors"]))


# ------------------------------------------------------------------------------------------------ rights change meanwhile


async def test_what_is_revoked_while_an_answer_is_made_is_left_out(scratch: tuple[Store, World]) -> None:
    store, world = scratch
    user, administrator = world.named("empty"), local_administrator()
    closed = [space for space in world.namespaces if not any(id == 1 for id, _ in space.roles)][:2]
    for space in closed:
        await grant(store.database, administrator, user.name, space.name)
    odd(store).gate = asyncio.Event()
    document = searching(world, "hits { fragment { namespace } } vector { fragment { namespace } } namespaces", ", k: 50")
    running = asyncio.create_task(execute(store, document, user.token))
    await odd(store).asked.wait()
    await asyncio.sleep(0.1)  # the lexical list is ranked by now
    await revoke(store.database, administrator, user.name, closed[0].name)
    odd(store).gate.set()  # type: ignore[union-attr]
    answer = await running
    assert "errors" not in answer
    for name in ("hits", "vector"):
        seen = {hit["fragment"]["namespace"] for hit in answer["data"]["search"][name]}
        assert closed[1].name in seen
        assert closed[0].name not in seen
    assert closed[0].name in answer["data"]["search"]["namespaces"], "the request began before"


async def test_a_token_that_is_revoked_meanwhile_gets_no_more_rows(scratch: tuple[Store, World]) -> None:
    store, world = scratch
    odd(store).gate = asyncio.Event()
    running = asyncio.create_task(execute(store, searching(world, "vector { score } question"), world.named("admin").token))
    await odd(store).asked.wait()
    async with store.database.writing() as connection:
        await connection.execute("update token set revoked_at = now()")
        await connection.execute("select bump_rights_epoch()")
    odd(store).gate.set()  # type: ignore[union-attr]
    answer = await running
    assert answer["data"]["search"]["vector"] is None
    assert codes(answer) == ["UNAUTHENTICATED"]


# ------------------------------------------------------------------------------------------------ many at once


async def test_callers_at_the_same_moment_share_no_loader_and_no_memory(place: tuple[Store, World]) -> None:
    store, world = place
    store.question_vectors = QuestionVectors(100)
    wanted = {}
    for caller in world.callers:
        view = View(world, caller)
        asked = list(documents(View(world, world.named("admin")), 9))[2:3]
        wanted[caller] = [(document, expected(api()._schema, view, document)) for document in asked]
    ids = [public_id("e", entity.space, entity.id) for entity in world.entities]

    async def ask(caller: Any) -> None:
        view = View(world, caller)
        found = await execute(store, f"{{ nodes(ids: {text(ids)}) {{ id }} }}", caller.token)
        assert [one is not None for one in found["data"]["nodes"]] == [view.sees(entity) for entity in world.entities]
        for document, data in wanted[caller]:
            assert differences({"data": data}, await execute(store, document, caller.token)) == []

    await asyncio.gather(*(ask(caller) for _ in range(3) for caller in world.callers))


async def test_each_of_many_requests_over_http_is_answered_as_its_own_caller(place: tuple[Store, World]) -> None:
    store, world = place
    async with served(store) as client:
        asked = [caller for _ in range(10) for caller in world.callers]
        answers = await asyncio.gather(*(post(client, "{ viewer { principal } }", caller.token) for caller in asked))
    assert [answer.json()["data"]["viewer"]["principal"] for answer in answers] == [caller.name for caller in asked]
    assert len({answer.headers["x-request-id"] for answer in answers}) == len(asked)


async def test_one_connection_is_enough_for_twenty_whole_requests_and_for_every_write(
    bases: Bases, stored: tuple[str, World]
) -> None:
    url, world = bases.clone(stored[0]), stored[1]
    writes = [
        'createNamespace(input: {name: "new"}) { namespace { entityCount } }',
        'ingestSources(input: {namespace: "new", sources: [{key: "a", content: "b"}]}) { pendingEmbeddings results { outcome } }',
        'deleteNamespace(input: {name: "new", confirm: "new"}) { counts }',
    ]
    async with opened(url, size=1) as store:
        view = View(world, world.named("admin"))
        asked = list(documents(view, 5))
        answers = await asyncio.gather(*(execute(store, asked[n % len(asked)], view.me.token) for n in range(20)))
        assert [answer for answer in answers if "errors" in answer] == []
        for write in writes:
            assert "errors" not in await execute(store, f"mutation {{ {write} }}")


async def test_waiting_for_a_connection_has_an_end(stored: tuple[str, World]) -> None:
    async with opened(stored[0]) as store:
        database = store.database
        store.database = await Database.open(stored[0], size=1, acquire_seconds=0.1)
        try:
            async with store.database.reading():
                answer = await execute(store, "{ viewer { principal } }")
        finally:
            await store.database.close()
            store.database = database
    assert codes(answer) == ["OVERLOADED"]


async def test_the_pool_is_whole_after_five_hundred_cancelled_requests(stored: tuple[str, World]) -> None:
    url, world = stored
    chance = random.Random(1)
    async with opened(url, OddEmbedder(), size=5) as store:
        odd(store).slowest = 0.01
        asked = searching(world, selection(api()._schema, "Search", 1)[1:-1], ", k: 3, hops: 2")
        gates = asyncio.Semaphore(10)

        async def is_cut_off(most: float) -> bool:
            async with gates:
                try:
                    await asyncio.wait_for(run(store, asked), chance.random() * most)
                except TimeoutError:
                    return True
                return False

        cut_off = sum(await asyncio.gather(*(is_cut_off(0.1 if number % 4 else 0.0005) for number in range(500))))
        assert cut_off > 100, "no machine answers in half a millisecond"
        async with asyncio.timeout(60):  # a trace that took too long lets go a moment later, and so does a cancelled statement
            while store.database.in_use() or await at_work(store):
                await asyncio.sleep(0.01)
        assert "errors" not in await execute(store, asked)


async def at_work(store: Store) -> int:
    """How many others are in a transaction or a statement."""
    async with store.database.reading() as connection:
        return await connection.fetchval(  # type: ignore[no-any-return]
            "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() "
            "and backend_type = 'client backend' and (state like 'idle in%' or state = 'active')"
        )


async def run(store: Store, document: str) -> None:
    async with session_for(store, None) as session:
        await api().execute(document, context_value=session)
