"""A typed walk is held against one in plain Python over worlds of few predicates: ways, depths, limits, origins, instants."""

from __future__ import annotations

import random

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.ingest.bulk import link
from retrieval.primitives.graph import Direction
from retrieval.typed.question import Anchor, StepOrigin, TypedStep, make_typed_question
from retrieval.typed.walking import Passage, placed, within_limit
from tests.contract.asking import text
from tests.contract.expecting import differences, expected
from tests.contract.oracle import View
from tests.fixtures.company import START, Fact, World
from tests.fixtures.random_world import Size, random_world
from tests.fixtures.world import api, execute, opened, session_for, store_world, tuned
from tests.fixtures.writing import ADMIN, DOCS, put

FIELDS = """{ anchors { value entity { id } } unresolved { value reason } truncated used { entities facts }
    sections { type items { entity { key namespace } attributes validFrom validTo distance via { factId } } }
    facts { factId namespace predicate } sources { key namespace } }"""


def dense_world(seed: int) -> World:
    """A world with many facts of three predicates, over time, some by hidden places."""
    world, chance = random_world(seed, Size(entities=9)), random.Random(seed)
    world.facts = []
    for space in world.namespaces:
        here = [entity for entity in world.entities if entity.space is space]
        for _ in range(chance.randint(10, 35)):
            row = len(world.facts) + 1
            retracted = START if chance.random() < 0.1 else None
            places = chance.sample(here, chance.choice([0, 0, 0, 1, 2]))
            begin, end = chance.choice([None, None, START]), None
            world.facts.append(
                Fact(row, 500 + row, chance.choice(here), chance.choice("abc"), chance.choice(here), None, begin, end, START,
                     retracted, 3, [], places)
            )  # fmt: skip
    return world


def question(world: World, chance: random.Random, near: str | None) -> str:
    """A random typed walk."""
    some = chance.sample(world.entities, chance.choice((1, 2, 4)))
    anchors = ", ".join(f"{{kind: {text(one.type)}, value: {text(one.key)}}}" for one in some)
    steps = []
    for _ in range(chance.choice((0, 1, 2, 3, 5))):
        step = f"relation: {text(chance.choice('abc'))}, direction: {chance.choice(('IN', 'OUT', 'BOTH'))}"
        step += f", depth: {chance.choice((1, 2, 3, 5))}, limit: {chance.choice((1, 2, 3, 7))}"
        steps.append(f"{{{step}, from: {chance.choice(('ANCHORS', 'PREVIOUS'))}}}")
    inside = "" if near is None else f", namespaces: {text([near])}"
    moment = chance.choice(("", f", asOf: {text(START.isoformat())}", ', asOf: "1999-01-01T00:00:00Z"'))
    return f"{{ typedContext(anchors: [{anchors}], traverse: [{', '.join(steps)}]{inside}{moment}) {FIELDS} }}"


@pytest.mark.parametrize("seed", range(6))
async def test_a_typed_walk_finds_what_a_plain_one_finds(base_url: str, seed: int) -> None:
    world, chance = dense_world(seed), random.Random(seed)
    await store_world(base_url, world)
    reached = cut = 0
    async with opened(base_url) as store:
        for caller in world.callers:
            view = View(world, caller)
            for number in range(20):
                near = chance.choice(view.spaces).name if view.spaces and number % 4 == 0 else None
                document = question(world, chance, near)
                answer = await execute(store, document, caller.token)
                assert differences(expected(api()._schema, view, document), answer["data"]) == [], document
                found = answer["data"]["typedContext"]
                reached = max([reached, *(item["distance"] for section in found["sections"] for item in section["items"])])
                cut += found["truncated"]
    assert reached >= 3
    assert cut > 5


@pytest.mark.parametrize(("edges", "truncated"), [(3, False), (2, True)])
async def test_a_hub_with_more_facts_than_are_looked_at_says_so(base_url: str, edges: int, truncated: bool) -> None:
    async with opened(base_url, tuning=tuned(edges_of_node=edges)) as store:
        ns = (await create_namespace(store.database, ADMIN, DOCS)).ns
        for name in ("hub", *"xyz"):
            await put(store, name, "Text.")
        await link(store.database, ns, [("hub", name) for name in "xyz"])
        async with session_for(store, None) as session:
            asked = make_typed_question(store.tuning, [Anchor("document", "hub")], [TypedStep("links_to", depth=2)])
            run = await session.typed(asked)
            assert (await run.truncated, len(await run.items)) == (truncated, edges + 1)


def test_a_limit_keeps_the_nearest_and_then_the_first() -> None:
    near, far = (1, 9), [(1, number) for number in range(3)]
    ways = {near: [Passage(near, one, 7) for one in far], far[2]: [Passage(far[2], (1, 5), 8)]}
    reached = within_limit([near], ways, {near, far[2]}, TypedStep("a", depth=2, limit=2, origin=StepOrigin.ANCHORS))
    assert reached.fresh == (far[0], far[1])
    assert reached.nodes == tuple(far), "what is known already takes no place, and is walked on from"
    assert reached.truncated


def test_a_step_comes_to_where_it_began_by_another_fact_and_not_straight_back() -> None:
    one, two = (1, 1), (1, 2)
    both = TypedStep("a", Direction.BOTH, depth=2)
    ways = {one: [Passage(one, two, 7)], two: [Passage(two, one, 7)]}
    assert within_limit([one], ways, {one}, both).nodes == (two,)
    assert within_limit([one, two], ways, {one, two}, both).nodes == (one, two)
    ways[two].append(Passage(two, one, 8))
    assert within_limit([one], ways, {one}, both).nodes == (one, two)


def test_the_shortest_way_tells_how_far_a_thing_is() -> None:
    one, two, three = (1, 1), (1, 2), (1, 3)
    passages = [Passage(one, two, 10), Passage(two, three, 11), Passage(one, three, 12), Passage(three, three, 13)]
    assert [(place.node, place.distance, place.facts) for place in placed([one], passages)] == [
        (one, 0, ()), (two, 1, (10,)), (three, 1, (12,)),
    ]  # fmt: skip
