"""Selection changes cost, never values: what each field costs, and that it holds the same among any others (spec 12)."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from graphql import GraphQLInterfaceType, GraphQLObjectType, get_named_type

from retrieval.store import Store
from tests.contract.asking import text
from tests.contract.costs import BASES, CALLER, COSTS, HITS, NOT_REACHED, PACKED, POOLED, RERANKED, STRATEGIES
from tests.contract.fields import FIELDS
from tests.contract.oracle import View, public_id
from tests.contract.selections import random_choice, selection
from tests.fixtures.bases import Bases
from tests.fixtures.company import Entity, Fact, Namespace, World
from tests.fixtures.random_world import random_world
from tests.fixtures.world import api, codes, execute, opened, recorder, store_world


class Place:
    """A stored world and what the documents of this module ask about."""

    def __init__(self, store: Store, world: World) -> None:
        self.store, self.world = store, world
        self.caller = world.named("admin")
        self.space = world.namespaces[0]
        self.entity = next(one for one in world.entities if one.space is self.space and is_full(one))
        given = f"question: {text(' '.join(world.words[:3]))}, namespaces: {text([self.space.name])}"
        key = f"namespace: {text(self.space.name)}, key: {text(self.entity.key)}"
        told = next(one for one in world.facts if one.subject.space is self.space and one.retracted is None)
        fact = f"namespace: {text(self.space.name)}, factId: {text(public_id('a', self.space, told.fact))}"
        ids = [
            public_id("e", self.space, self.entity.id),
            public_id("s", self.space, self.entity.id),
            public_id("f", self.space, self.entity.fragments[0].id),
        ]
        self.roots = {
            "viewer": ("viewer", "Viewer"),
            "knowledge": ("knowledge", "Knowledge"),
            "SEARCH": (f'search({given}, k: 3, entityFilter: {{meta: {{tag: "a"}}}})', "Search"),
            "RERANKED": (f"search({given}, k: 3, rerank: true)", "Search"),
            "WIDE": (f"search(question: {text(' '.join(world.words[3:6]))}, k: 3, hops: 2, locale: RU)", "Search"),
            "RECALL": (f"recall({given}, budget: LOW)", "Recall"),
            "ENTITIES": ('entities(orderBy: UPDATED, first: 3, filter: {types: ["page"]})', "EntityConnection"),
            "GRAPH": (f"graph(start: [{{{key}}}])", "Subgraph"),
            "TYPED": (typed_walk(world, self.space), "TypedContext"),
            "PACK": (pack_of_all(world, self.space), "ContextPack"),
            "AGGREGATE": ("aggregate(metric: FACTS, dimensions: [MONTH, KIND])", "Aggregate"),
            "ENTITY": (f"entity({key})", "Entity"),
            "SOURCE": (f"source({key})", "Source"),
            "FACT": (f"fact({fact})", "Fact"),
            "NODES": (f"nodes(ids: {text(ids)})", "Node"),
            "NODE": (f"node(id: {text(ids[0])})", "Node"),
        }

    async def cost(self, document: str) -> dict[str, int]:
        """The statements and provider calls of one request."""
        recorder(self.store).forget()
        answer = await self.ask(document)
        assert "errors" not in answer, answer
        return recorder(self.store).counted

    async def ask(self, document: str) -> dict[str, Any]:
        for name, (call, _) in self.roots.items():
            document = document.replace(f"{name} ", f"{call} ")
        return await execute(self.store, document, self.caller.token)


def stated_edges(world: World, space: Namespace) -> list[Fact]:
    """Facts between two entities that were stated in places and always hold."""
    return [one for one in world.facts if one.subject.space is space and one.object not in (None, one.subject) and one.places
            and one.retracted is one.valid_from is one.valid_to is None]  # fmt: skip


def pack_of_all(world: World, space: Namespace) -> str:
    """A call of a pack of all five channels, with facts, texts and an entity, and with less room than it could fill."""
    anchor = stated_edges(world, space)[3].subject
    return (
        f"contextPack(question: {text(' '.join(world.words[:3]))}, namespaces: {text([space.name])}, k: 3, maxTokens: 320, "
        f'anchors: [{{key: {text(anchor.key)}}}], relevanceScopes: ["project:shared"])'
    )


def typed_walk(world: World, space: Namespace) -> str:
    """A call of two steps from both ends of a fact that was stated in places."""
    fact = stated_edges(world, space)[0]
    anchor = f"{{kind: {text(fact.subject.type)}, value: {text(fact.subject.key)}, namespace: {text(space.name)}}}"
    step = f"relation: {text(fact.predicate)}"
    return (
        f'typedContext(anchors: [{anchor}, {{kind: "page", value: "nothing"}}], traverse: [{{{step}}}, {{{step}, '
        f'direction: BOTH, from: PREVIOUS}}], asOf: "2400-06-01T00:00:00Z")'
    )


def is_full(entity: Entity) -> bool:
    """Whether there is something of everything."""
    return entity.source is not None and bool(entity.versions) and len(entity.fragments) > 1


@pytest.fixture(scope="module")
def filled(shared_bases: Bases) -> tuple[str, World]:
    """The base of this module and the world in it."""
    url, world = shared_bases.new(), random_world(22)  # facts around its hits lead to entities that nothing else has loaded
    asyncio.run(store_world(url, world))
    return url, world


@pytest.fixture
async def place(filled: tuple[str, World]) -> AsyncIterator[Place]:
    """The world of this module, opened when its clock stands."""
    url, world = filled
    async with opened(url) as store:
        place = Place(store, world)
        trace_id = (await place.ask("{ PACK { traceId } }"))["data"]["contextPack"]["traceId"]
        place.roots["TRACE"] = (f"trace(traceId: {text(trace_id)})", "Trace")
        yield place


# ------------------------------------------------------------------------------------------------ cost


async def test_each_field_costs_what_the_table_says(place: Place) -> None:
    for kind, fields in FIELDS.items():
        for name in fields if kind not in NOT_REACHED else ():
            way, base = BASES[kind]
            document = "{ " + way.replace("%", minimal(place, kind, name)) + " }"
            wanted = Counter([*base, *COSTS.get(f"{kind}.{name}", [])])
            assert await place.cost(document) == dict(wanted), f"{kind}.{name}: {document}"


def minimal(place: Place, kind: str, name: str) -> str:
    """A field with as little below it as can be."""
    parent = api()._schema.type_map[kind]
    assert isinstance(parent, GraphQLObjectType)
    below = get_named_type(parent.fields[name].type)
    roots = {"search": "SEARCH", "recall": "RECALL", "entity": "ENTITY", "source": "SOURCE", "fact": "FACT",
             "node": "NODE", "nodes": "NODES",
             "entities": "ENTITIES", "aggregate": "AGGREGATE", "graph": "GRAPH", "typedContext": "TYPED",
             "contextPack": "PACK", "trace": "TRACE"}  # fmt: skip
    name = {"Trace.why": 'why(key: "nothing")'}.get(f"{kind}.{name}", name)
    if kind == "Query":
        name = roots.get(name, name)
    return f"{name} {{ __typename }}" if isinstance(below, GraphQLObjectType | GraphQLInterfaceType) else name


def test_the_table_speaks_of_fields_that_are_there() -> None:
    assert set(COSTS) <= {f"{kind}.{name}" for kind, listed in FIELDS.items() for name in listed}
    assert set(FIELDS) == set(BASES) | NOT_REACHED


async def test_deep_selections_run_one_statement_a_kind(place: Place) -> None:
    one_each = await place.cost(
        "{ SEARCH { hits { entity { attributes fragments { totalCount nodes { text } } source { content } } "
        "highlights { start } card { source { mediaType } } fragment { provenance { node { id } } } } "
        "neighbors { entity { title } via { subject { key } object { key } provenance { label } } } sources { key } context } }"
    )
    once = [
        "caller",
        *HITS,
        "graph_hop",
        "facts_by_row",
        "highlights",
        "attributes",
        "fragments_of",
        "fragments_counted",
        "contents",
    ]
    assert {name: one_each[name] for name in once} == dict.fromkeys(once, 1)
    # Entities and sources are known at three moments: of the hits, of the neighbours, of the places of facts.
    assert one_each["entities_by_id"] <= 3
    assert one_each["sources"] <= 3


async def test_a_list_that_is_fused_is_not_ranked_again_by_itself(place: Place) -> None:
    fields = ["hits { score }", "vector { score }", "lexical { score }", "entities { score }", "sources { key }", "context"]
    for chosen in (fields[:3], fields[2::-1], fields, fields[::-1], [fields[1], fields[5]], [fields[2], fields[3]]):
        cost = await place.cost(f"{{ SEARCH {{ {' '.join(chosen)} }} }}")
        assert cost["vector_exact+lexical"] == 1, chosen
        assert not {"vector_exact", "lexical"} & set(cost), chosen


async def test_a_step_is_a_statement_over_all_namespaces(place: Place) -> None:
    document = "{{ search(question: {0}, k: 20, hops: {1}) {{ hits {{ entity {{ namespace }} }} neighbors {{ hops }} }} }}"
    words = text(" ".join(place.world.words))
    answer = await place.ask(document.format(words, 2))
    assert len({hit["entity"]["namespace"] for hit in answer["data"]["search"]["hits"]}) > 1
    assert (await place.cost(document.format(words, 1)))["graph_hop"] == 1
    assert (await place.cost(document.format(words, 2)))["graph_hop"] == 2


@pytest.mark.parametrize("fields", RERANKED)
async def test_a_rerank_runs_for_what_depends_on_it_and_for_nothing_else(place: Place, fields: str) -> None:
    plain = place.roots["SEARCH"][0]
    asked = f"{{ {plain[:-1]}, rerank: true) {{ {fields} }} }}"
    assert await place.cost(asked) == dict(Counter([*CALLER, *RERANKED[fields]]))
    assert "rerank" not in await place.cost(asked.replace("rerank: true", "rerank: false"))
    assert "rerank" not in await place.cost(asked.replace(", rerank: true", ""))


async def test_all_that_depends_on_a_rerank_shares_it(place: Place) -> None:
    whole = "hits { rerankScore fragment { text } } sources { key } context degraded { code } neighbors { hops }"
    assert await place.cost(f"{{ RERANKED {{ {whole} }} }}") == dict(Counter(CALLER + POOLED))
    twice = (
        f"{{ a: RERANKED {{ {whole} }} b: RERANKED {{ hits {{ score }} vector {{ score }} }} c: SEARCH {{ hits {{ score }} }} }}"
    )
    assert (await place.cost(twice))["rerank"] == 1


async def test_a_pack_loads_what_prices_its_items_and_nothing_else(place: Place) -> None:
    cost = await place.cost("{ PACK { budget { usedTokens } } }")
    assert not {"sources", "fact_places", "facts_by_row", "contents", "highlights", "store_trace"} & set(cost)
    assert {name: cost[name] for name in ("fragments", "attributes")} == {"fragments": 1, "attributes": 1}


async def test_all_of_a_pack_is_one_compilation(place: Place) -> None:
    whole = "budget { usedTokens dropped { title } } sections { items { text signals { kind } } } text conflicts { predicate }"
    assert await place.cost(f"{{ PACK {{ {whole} degraded {{ code }} }} }}") == dict(Counter(CALLER + PACKED))
    twice = await place.cost("{ a: PACK { text } b: PACK { budget { usedTokens } } }")
    assert twice == dict(Counter(CALLER + PACKED))


async def test_only_the_channels_of_the_strategy_run(place: Place) -> None:
    call = place.roots["PACK"][0]
    costs = {name: await place.cost(f"{{ {call[:-1]}, strategy: {name}) {{ tokenEstimate }} }}") for name in STRATEGIES}
    assert costs == {name: dict(Counter([*CALLER, *cost])) for name, cost in STRATEGIES.items()}


async def test_aliases_of_equal_arguments_share_the_work(place: Place) -> None:
    alone = await place.cost("{ SEARCH { hits { score } } }")
    twice = await place.cost("{ a: SEARCH { hits { score } } b: SEARCH { hits { fragment { text } } question } }")
    assert twice == alone


async def test_two_questions_are_one_call_of_the_provider(place: Place) -> None:
    cost = await place.cost("{ a: SEARCH { vector { score } } b: WIDE { vector { score } } RECALL { count } }")
    assert cost["embedding"] == 1
    assert recorder(place.store).calls == [2]


async def test_channels_that_are_not_asked_do_not_run(place: Place) -> None:
    document = "{{ search(question: {0}, channels: [{1}]) {{ hits {{ score }} degraded {{ code }} }} }}"
    words = text(place.world.words[0])
    assert not {"words", "lexical", "vector_exact+lexical"} & set(await place.cost(document.format(words, "VECTOR")))
    assert not {"embedding", "vector_exact", "vector_exact+lexical"} & set(await place.cost(document.format(words, "LEXICAL")))
    by_entity = document.replace("hits", "entities")
    assert not {"sql", "graph_hop"} & set(await place.cost(by_entity.format(words, "VECTOR, LEXICAL")))
    assert not {"embedding", "words", "lexical", "graph_hop"} & set(await place.cost(by_entity.format(words, "SQL")))


async def test_a_field_that_is_skipped_costs_nothing(place: Place) -> None:
    document = "{ SEARCH { question hits @skip(if: true) { score } ...on Search @include(if: false) { context } } }"
    assert await place.cost(document) == {"caller": 1}


# ------------------------------------------------------------------------------------------------ values


async def test_any_selection_gives_a_part_of_the_whole_answer(place: Place) -> None:
    schema, chance = api()._schema, random.Random(1)
    whole = {}
    for name, (_, kind) in place.roots.items():
        depth = 3 if kind in ("Entity", "Source", "Node") else 2
        answer = await place.ask(f"{{ {name} {selection(schema, kind, depth, avoid=OF_THE_WORK)} }}")
        assert "errors" not in answer
        (whole[name],) = answer["data"].values()
    for _ in range(60):
        asked = chance.sample(sorted(whole), chance.choice([1, 1, 2, 3]))
        choose = random_choice(chance, chance.choice([0.2, 0.4, 0.6]))
        parts = []
        for number, name in enumerate(asked):
            depth = 2 if place.roots[name][1] not in ("Entity", "Source", "Node") or len(asked) > 1 else 3
            parts.append(f"r{number}: {name} {selection(schema, place.roots[name][1], depth, choose, OF_THE_WORK)}")
        document = "{ " + " ".join(parts) + " }"
        answer = await place.ask(document)
        assert "errors" not in answer
        for number, name in enumerate(asked):
            assert strays(answer["data"][f"r{number}"], whole[name]) == [], document


def strays(part: Any, whole: Any, path: str = "") -> list[str]:
    """Where a part differs from the whole."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return [line for key, value in part.items() for line in strays(value, whole.get(key), f"{path}.{key}")]
    if isinstance(part, list) and isinstance(whole, list) and len(part) == len(whole):
        return [line for number, pair in enumerate(zip(part, whole, strict=True)) for line in strays(*pair, f"{path}[{number}]")]
    return [] if part == whole and type(part) is type(whole) else [f"{path}: {part!r}, not {whole!r}"]


OF_THE_WORK = frozenset(f"{kind}.{name}" for kind in ("Search", "TypedContext", "ContextPack") for name in ("trace", "traceId"))
"""What tells of the work itself, which a selection changes; a trace that is stored is a value like any other."""
FIELDS_OF_SEARCH = (
    "question",
    "namespaces",
    "hits { score }",
    "lexical { score }",
    "entities { score }",
    "graph { score }",
    "neighbors { hops }",
    "degraded { code }",
    "context",
)
REFUSED = {
    'question: ""': "BAD_INPUT",
    'question: "x\\u0000y"': "BAD_INPUT",
    'question: "x", k: 0': "BAD_INPUT",
    'question: "x", k: 51': "BAD_INPUT",
    'question: "x", hops: 3': "BAD_INPUT",
    'question: "x", namespaces: ["nowhere"]': "NAMESPACE_NOT_FOUND",
    'question: "x", asOf: "2025-01-01T00:00:00"': "BAD_INPUT",
    'question: "x", filter: {meta: [1]}': "BAD_INPUT",
    'question: "x", entityFilter: {keys: ["x\\u0000"]}': "BAD_INPUT",
    'question: "x", entityFilter: {createdAfter: "2025-01-01T00:00:00"}': "BAD_INPUT",
    'question: "x", fusion: {weights: [{channel: VECTOR, weight: 2}]}': "BAD_INPUT",
}


async def test_a_refusal_does_not_depend_on_what_is_selected(place: Place) -> None:
    for given, code in REFUSED.items():
        answers = []
        for fields in FIELDS_OF_SEARCH:
            recorder(place.store).forget()
            answer = await place.ask(f"{{ search({given}) {{ {fields} }} viewer {{ principal }} }}")
            assert codes(answer) == [code], given
            assert answer["data"] == {"search": None, "viewer": {"principal": place.caller.name}}
            assert set(recorder(place.store).counted) == {"caller"}
            answers.append(answer["errors"][0]["message"])
        assert len(set(answers)) == 1, given


async def test_a_field_that_fails_leaves_its_siblings_and_its_error_whatever_else_is_selected(place: Place) -> None:
    broken = 'bad: fragments(first: 0) { nodes { text } } worse: fragments(after: "x") { nodes { text } }'
    alone = await place.ask(f"{{ ENTITY {{ {broken} }} }}")
    assert codes(alone) == ["BAD_INPUT", "BAD_CURSOR"]
    beside = await place.ask(f"{{ ENTITY {{ title {broken} source {{ content }} good: fragments {{ totalCount }} }} }}")
    shown = [[(error["message"], error["path"]) for error in answer["errors"]] for answer in (alone, beside)]
    assert sorted(shown[0]) == sorted(shown[1])
    found, entity = beside["data"]["entity"], place.entity
    assert entity.source is not None
    assert (found["bad"], found["worse"], found["title"]) == (None, None, entity.title)
    assert found["source"] == {"content": entity.source.content}
    assert found["good"] == {"totalCount": len(entity.fragments)}
    assert View(place.world, place.caller).sees(entity)
