"""A walk is a search breadth first over what the caller may see: held against one in plain Python, bounds and all."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.tokens import create_token
from retrieval.errors import BadInput
from retrieval.ingest.bulk import link
from retrieval.primitives.graph import Direction, Steps, graph, walk
from retrieval.ranking import Channel
from retrieval.store import Store
from retrieval.subgraph import EntityRef, GraphQuestion, make_graph_question
from retrieval.tuning import Tuning
from tests.contract.oracle import View
from tests.fixtures.company import START, Entity, Fact, World
from tests.fixtures.random_world import Size, random_world
from tests.fixtures.world import codes, execute, opened, session_for, store_world, tuned
from tests.fixtures.writing import ADMIN, DOCS, put

LATER = START + timedelta(days=500)


def dense_world(seed: int) -> World:
    """A world with many facts of few predicates: loops, cycles, diamonds, parallel facts, dangling ends, hidden places."""
    world, chance = random_world(seed, Size(entities=7)), random.Random(seed)
    world.facts = []
    for space in world.namespaces:
        here = [entity for entity in world.entities if entity.space is space]
        ends = here[: chance.randint(4, 7)]
        for _ in range(chance.randint(6, 30)):
            row = len(world.facts) + 1
            since = chance.choice([None, None, START, LATER + timedelta(days=9)])
            until = chance.choice([None, None, None, LATER - timedelta(days=9)]) if since in (None, START) else None
            retracted = START if chance.random() < 0.1 else None
            places = chance.sample(here, chance.choice([0, 0, 1, 2, 3]))
            fact = Fact(row, 500 + row, chance.choice(ends), chance.choice("abc"), chance.choice(ends), None, since, until, START,
                        retracted, 3, [], places)  # fmt: skip
            world.facts.append(fact)
    return world


@dataclass
class Found:
    """What the plain walk found."""

    neighbours: list[tuple[int, int, int, tuple[int, ...]]]
    facts: set[tuple[int, int]]
    truncated: bool


class Plain:
    """The walk by looking at everything; `edges` is how many visible edges of an entity are looked at each way."""

    def __init__(self, view: View, edges: int) -> None:
        self.view, self.edges = view, edges

    def of(self, near: Entity, outgoing: bool, steps: Steps) -> list[tuple[Entity, Fact, int]]:
        """The visible edges of an entity one way, in the order of the index: a row for each place that is seen."""
        listed = []
        for fact in self.view.world.facts:
            ends = (fact.subject, fact.object) if outgoing else (fact.object, fact.subject)
            if ends[0] is not near or fact.retracted or ends[1] is None or not self.view.sees(ends[1]):
                continue
            if steps.predicates is not None and fact.predicate not in steps.predicates:
                continue
            seen = {place.acl for place in fact.places if self.view.sees(place)} if fact.places else {0}
            listed += [(ends[1], fact, acl) for acl in seen]
        return sorted(listed, key=lambda one: (one[0].acl, one[2], one[1].predicate, one[1].row))

    def walk(self, start: list[Entity], steps: Steps) -> Found:
        begin = [entity for entity in start if self.view.sees(entity)]
        seen, front, result = set(begin), begin, Found([], set(), False)
        for hop in range(1, steps.hops + 1):
            if not front or (result.truncated and len(result.neighbours) == steps.most):
                break
            reached: dict[Entity, set[int]] = {}
            for near in front:
                for outgoing in steps.direction.ways:
                    edges = self.of(near, outgoing, steps)
                    result.truncated |= len(edges) > self.edges
                    for far, fact, _ in edges[: self.edges]:
                        began = fact.valid_from is None or fact.valid_from <= steps.at
                        if began and (fact.valid_to is None or fact.valid_to > steps.at):
                            reached.setdefault(far, set()).add(fact.row)
            new = [far for far in reached if far not in seen]
            new.sort(key=lambda far: (-len(reached[far]), far.space.ns, far.id))
            kept = new[: steps.most - len(result.neighbours)]
            result.truncated |= len(kept) < len(new)
            seen |= set(kept)
            result.facts |= {(far.space.ns, row) for far, rows in reached.items() if far in seen for row in rows}
            result.neighbours += [(far.space.ns, far.id, hop, tuple(sorted(reached[far]))) for far in kept]
            front = kept
        return result


@pytest.mark.parametrize("seed", range(12))
async def test_a_walk_finds_what_a_plain_search_finds(base_url: str, seed: int) -> None:
    world, chance = dense_world(seed), random.Random(seed)
    await store_world(base_url, world)
    edges, compared, cut = chance.choice([1, 2, 4, 400]), 0, 0
    async with opened(base_url, tuning=tuned(edges_of_node=edges)) as store:
        for caller in world.callers:
            view = View(world, caller)
            plain = Plain(view, edges)
            async with session_for(store, caller.token) as session:
                reader = session.reader((await session.caller).spaces)
                for number in range(24):
                    among = view.entities(view.spaces) if number % 3 else world.entities
                    start = chance.sample(among, min(len(among), chance.choice([1, 1, 2, 5])))
                    steps = Steps(
                        hops=chance.choice([1, 2, 3]),
                        at=LATER,
                        most=chance.choice([1, 2, 5, 40]),
                        predicates=chance.choice([None, None, ("a",), ("a", "c"), ()]),
                        direction=chance.choice(list(Direction)),
                    )
                    wanted = plain.walk(start, steps)
                    found = await walk(reader, [(one.space.ns, one.id) for one in start], steps)
                    assert [(n.ns, n.entity_id, n.hops, n.facts) for n in found.neighbours] == wanted.neighbours, steps
                    assert set(found.facts) == wanted.facts, steps
                    assert found.truncated == wanted.truncated, steps
                    compared += bool(wanted.neighbours)
                    cut += wanted.truncated
    assert compared >= 10
    assert cut >= 1


async def test_the_walk_as_a_list_has_a_score_of_one_by_the_steps(store: Store) -> None:
    ns = await chain(store, "abcd")
    async with session_for(store, None) as session:
        reader = session.reader((await session.caller).spaces)
        keys = {e.entity_id: e.key for e in await entities_of(session, ns, "abcd")}
        start = next((ns, id) for id, key in keys.items() if key == "a")
        ranking = await graph(reader, [start], Steps(3, datetime.now(UTC), 40))
    assert (ranking.channel, ranking.asked) == (Channel.GRAPH, 40)
    assert [(keys[hit.item_id], hit.raw_score) for hit in ranking.hits] == [("b", 1.0), ("c", 1 / 2), ("d", 1 / 3)]


async def chain(store: Store, keys: str) -> int:
    """Documents that each link to the next."""
    ns = (await create_namespace(store.database, ADMIN, DOCS)).ns
    for key, following in zip(keys, [*keys[1:], None], strict=True):
        await put(store, key, f"text [x]({following})" if following else "text")
    return ns


async def entities_of(session: Any, ns: int, keys: str) -> list[Any]:
    return await (await session.catalogue()).entities_by_key.many((ns, key) for key in keys)


# ------------------------------------------------------------------------------------------------ bounds

BAD = {
    'start: [{key: "a"}], hops: 0': "`hops` is 0",
    'start: [{key: "a"}], hops: 4': "`hops` is 4",
    'start: [{key: "a"}], limit: 0': "`limit` is 0",
    'start: [{key: "a"}], limit: -3': "`limit` is -3",
    'start: [{key: "a"}], limit: 201': "`limit` is 201",
    'start: [{key: ""}]': "empty",
    'start: [{key: "a\\u0000"}]': "NUL",
    f'start: [{{key: "{"k" * 2_001}"}}]': "2,001 characters",
    'start: [{key: "a"}], asOf: "2025-01-01T00:00:00"': "time zone",
}
MANY = ", ".join('{key: "a"}' for _ in range(21))


@pytest.mark.parametrize("given", [*BAD, f"start: [{MANY}]"])
async def test_what_lies_outside_the_bounds_is_refused_with_what_to_change(store: Store, given: str) -> None:
    answer = await execute(store, f"{{ graph({given}) {{ truncated }} }}")
    assert codes(answer) == ["BAD_INPUT"]
    assert BAD.get(given, "`start` has 21 entities; give at most 20") in answer["errors"][0]["message"]
    assert answer["data"] == {"graph": None}


def test_equal_walks_are_equal_values() -> None:
    ask = make_graph_question
    twice = ask(Tuning(), [EntityRef(None, "a"), EntityRef(None, "a")], namespaces=["x", "x"], predicates=["p", "p"])
    assert twice == GraphQuestion((EntityRef(None, "a"),), namespaces=("x",), predicates=("p",))
    with pytest.raises(BadInput, match="predicates"):
        ask(Tuning(), [], predicates=["p"] * 1_001)


FIELDS = "entities { entity { key } hops via { predicate } } facts { factId } truncated"
ASKED = "{{ graph(start: [{0}], hops: 3) {{ " + FIELDS.replace("{", "{{").replace("}", "}}") + " }} }}"
NOTHING = {"graph": {"entities": [], "facts": [], "truncated": False}}


async def test_an_empty_list_unknown_keys_and_other_namespaces_start_nowhere(store: Store) -> None:
    await chain(store, "abc")
    await create_namespace(store.database, ADMIN, "other")
    for start in ("", '{key: "missing"}', '{namespace: "other", key: "a"}'):
        assert (await execute(store, ASKED.format(start)))["data"] == NOTHING
    answer = await execute(store, ASKED.format('{namespace: "nowhere", key: "a"}'))
    assert codes(answer) == ["NAMESPACE_NOT_FOUND"]
    outside = '{ graph(start: [{namespace: "docs", key: "a"}], namespaces: ["other"]) { truncated } }'
    answer = await execute(store, outside)
    assert codes(answer) == ["BAD_INPUT"]
    assert "add it there" in answer["errors"][0]["message"]


async def test_a_limit_that_is_just_enough_cuts_nothing(store: Store) -> None:
    await chain(store, "abcd")
    for limit, hops, truncated in ((1, 1, False), (1, 2, True), (2, 2, False), (3, 3, False), (2, 3, True)):
        document = f'{{ graph(start: [{{key: "a"}}], hops: {hops}, limit: {limit}) {{ entities {{ hops }} truncated }} }}'
        graph = (await execute(store, document))["data"]["graph"]
        assert (len(graph["entities"]), graph["truncated"]) == (limit, truncated), (limit, hops)


# ------------------------------------------------------------------------------------------------ a hidden hub


async def test_what_is_hidden_around_a_hub_changes_no_byte_and_cuts_nothing(base_url: str) -> None:
    async with opened(base_url, tuning=tuned(edges_of_node=5)) as store:
        ns = await chain(store, "abcd")
        await upsert_principals(store.database, ADMIN, [PrincipalInput("ann", "USER")])
        await grant(store.database, ADMIN, "ann", DOCS)
        token = (await create_token(store.database, ADMIN, "ann")).token
        for number in range(30):
            await put(store, f"hidden{number}", "text", restricted=True)
        documents = [ASKED.format(f'{{key: "{key}"}}') for key in "abcd"]
        before = json.dumps([await execute(store, document, token) for document in documents])
        assert before.count('"truncated": false') == 4
        edges = [(f"hidden{number}", "b") for number in range(30)] + [("b", f"hidden{number}") for number in range(30)]
        await link(store.database, ns, edges * 2)
        async with store.database.writing() as connection:  # facts between open ends that only a hidden document states
            await connection.execute(
                "insert into fact (ns, fact_id, subject_id, predicate, object_id, evidence, has_places) "
                "select ns, 9000 + i, (select entity_id from entity where key = 'b'), 'x', "
                "(select entity_id from entity where key = 'd'), 3, true from namespace, generate_series(1, 30) i"
            )
            await connection.execute(
                "insert into fact_place (ns, fact_id, entity_id) select ns, 9000 + i, "
                "(select entity_id from entity where key = 'hidden1') from namespace, generate_series(1, 30) i"
            )
            await connection.execute("select refresh_edges($1, array(select fact_id from fact where fact_id > 9000))", ns)
        assert json.dumps([await execute(store, document, token) for document in documents]) == before
        everything = [await execute(store, document) for document in documents]
        assert [one["data"]["graph"]["truncated"] for one in everything] == [True] * 4
        for key in ("hidden1", "missing"):
            assert await execute(store, ASKED.format(f'{{key: "{key}"}}'), token) == {"data": NOTHING}
