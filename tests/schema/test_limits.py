"""The guard refuses hostile documents fast, lets ordinary ones through, and validates equal ones once."""

from __future__ import annotations

import time
from typing import Any

import pytest
import strawberry
from graphql import GraphQLError, OperationDefinitionNode, get_introspection_query, parse
from graphql.validation import ValidationRule

from schema import limits
from schema.api import make_schema
from schema.assembly import assemble
from schema.cost import INTROSPECTION_POINTS, points
from schema.limits import OperationNote, RequestLimits, operation_note, refusals


@strawberry.type
class Item:
    name: str

    @strawberry.field
    def child(self) -> Item | None:
        return None

    @strawberry.field
    def items(self, first: int = 20) -> list[Item]:
        return []


@strawberry.input
class Step:
    relation: str
    limit: int = 50


@strawberry.input
class Batch:
    names: list[str]


@strawberry.type
class Query:
    @strawberry.field
    def item(self, k: int = 8) -> Item | None:
        return Item(name="i")

    @strawberry.field
    def items(self, first: int | None = 20) -> list[Item]:
        return []

    @strawberry.field
    def nodes(self, ids: list[strawberry.ID]) -> list[Item]:
        return []

    @strawberry.field
    def walk(self, steps: list[Step]) -> list[Item]:
        return []

    @strawberry.field
    def count(self, batch: Batch) -> int:
        return len(batch.names)


@strawberry.type
class Mutation:
    @strawberry.mutation
    def write(self) -> int:
        return 1


SCHEMA = assemble(Query, Mutation)
CAPS = RequestLimits()


async def outcome(query: str, **variables: Any) -> list[GraphQLError]:
    result = await SCHEMA.execute(query, variable_values=variables)
    return result.errors or []


async def code(query: str, **variables: Any) -> str:
    errors = await outcome(query, **variables)
    return str((errors[0].extensions or {}).get("code")) if errors else "OK"


def nested(depth: int, name: str = "child") -> str:
    return "{ item " + f"{{ {name} " * (depth - 2) + "{ name }" + " }" * (depth - 2) + " }"


def doubling(levels: int) -> str:
    fragments = [f"fragment F{n} on Item {{ child {{ ...F{n + 1} ...F{n + 1} }} }}" for n in range(levels)]
    return "{ item { ...F0 } } " + " ".join(fragments) + f" fragment F{levels} on Item {{ name }}"


def flat_doubling(levels: int) -> str:
    fragments = [f"fragment F{n} on Item {{ ...F{n + 1} ...F{n + 1} }}" for n in range(levels)]
    return "{ item { ...F0 } } " + " ".join(fragments) + f" fragment F{levels} on Item {{ name }}"


AT_LIMIT = {
    "depth": lambda n: nested(n),
    "aliases": lambda n: "{ item { " + " ".join(f"a{i}: name" for i in range(n)) + " } }",
    "root_fields": lambda n: "{ " + "item { name } " * n + "}",
    "fragment_definitions": lambda n: (
        "{ item { "
        + " ".join(f"...F{i}" for i in range(n))
        + " } } "
        + " ".join(f"fragment F{i} on Item {{ name }}" for i in range(n))
    ),
    "spreads": lambda n: "{ item { " + "...F " * n + "} } fragment F on Item { name }",
    "equal_fields": lambda n: "{ item { " + "name " * n + "} }",
    "directives": lambda n: "{ item { " + " ".join(["name", *["@include(if: true)"] * n]) + " } }",
    "selections": lambda n: "{ item { " + "...F " * 50 + "} } fragment F on Item { " + "name " * ((n - 1) // 50) + "} ",
    "introspection_roots": lambda n: "{ " + '__type(name: "Item") { name } ' * n + "}",
    "introspection_aliases": lambda n: "{ __schema { " + " ".join(f"a{i}: __typename" for i in range(n)) + " } }",
}


@pytest.mark.parametrize("name", AT_LIMIT)
def test_a_document_at_its_limit_passes_and_one_above_is_refused(name: str) -> None:
    limit = getattr(CAPS, name)
    step = 50 if name == "selections" else 1
    make = AT_LIMIT[name]
    assert refusals(parse(make(limit)), CAPS) == []
    for size in (limit + step, 100 * limit if name != "depth" else limit * 10):
        found = refusals(parse(make(size)), CAPS)
        assert found, size
        assert {(error.extensions or {})["code"] for error in found} == {"LIMIT_EXCEEDED"}
        assert any(f"limit is {limit:,}" in error.message for error in found)


HOSTILE = {
    "60 doubling levels": doubling(60),
    "29 doubling levels": doubling(29),
    "29 flat doubling levels": flat_doubling(29),
    "150 levels": nested(150),
    "1,000 equal fields": "{ item { " + "name " * 1_000 + "} }",
    "many equal fields under many": "{ " + "item { name } " * 400 + "}",
    "1,900 aliases": "{ item { " + " ".join(f"a{n}: name" for n in range(600)) + " } }",
    "500 directives": "{ item { name " + "@include(if: true) " * 280 + "} }",
    "190 inline fragments": "{ " + "... { " * 190 + "item { name }" + " }" * 190 + " }",
    "a cycle": "{ item { ...A } } fragment A on Item { child { ...B ...B } } fragment B on Item { child { ...A ...A } }",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_verdict_takes_less_than_10_ms(name: str) -> None:
    document = parse(HOSTILE[name])
    times = []
    for _ in range(5):
        start = time.thread_time()
        found = refusals(document, CAPS)
        times.append(time.thread_time() - start)
    assert min(times) < 0.010
    assert found or name == "a cycle"


@pytest.mark.parametrize("name", HOSTILE)
async def test_a_hostile_document_is_refused_before_it_runs(name: str) -> None:
    assert await code(HOSTILE[name]) == ("GRAPHQL_VALIDATION_FAILED" if name == "a cycle" else "LIMIT_EXCEEDED")


async def test_the_introspection_of_graphiql_passes() -> None:
    query = get_introspection_query(
        descriptions=True, specified_by_url=True, schema_description=True, input_value_deprecation=True
    )
    assert await code(query) == "OK"


async def test_introspection_is_capped_by_itself() -> None:
    wide = "{ " + "__schema { types { fields { args { name } } } } " * 3 + "}"
    assert await code(wide) == "OK"
    assert await code("{ " + "__schema { types { name } } " * 5 + "}") == "LIMIT_EXCEEDED"
    inside = "{ __schema { ...S } } fragment S on __Schema { " + "types { name } " * 40 + "}"
    assert refusals(parse(inside), RequestLimits(introspection_selections=40)) != []


async def test_mutations_of_one_request_are_capped() -> None:
    assert await code("mutation { " + " ".join(f"a{n}: write" for n in range(10)) + " }") == "OK"
    assert await code("mutation { " + " ".join(f"a{n}: write" for n in range(11)) + " }") == "LIMIT_EXCEEDED"
    hidden = "mutation { ...A ...B } fragment A on Mutation { a1: write a2: write a3: write a4: write a5: write a6: write }"
    assert (
        await code(hidden + " fragment B on Mutation { b1: write b2: write b3: write b4: write b5: write }") == "LIMIT_EXCEEDED"
    )


@pytest.mark.parametrize(
    ("query", "variables", "cost"),
    [
        ("{ item { name } }", {}, 1),
        ("{ item(k: 50) { child { name } } }", {}, 51),
        ("{ item { child { name } } }", {}, 9),
        ("query($n: Int!) { items(first: $n) { child { name } } }", {"n": 30}, 31),
        ("query($n: Int!) { items(first: $n) { child { name } } }", {"n": 30.0}, 31),
        ("query($n: Int = 30) { items(first: $n) { child { name } } }", {}, 31),
        ("query($n: Int = 30) { items(first: $n) { child { name } } }", {"n": 3}, 4),
        ("query($n: Int) { items(first: $n) { child { name } } }", {}, 21),
        ("{ items(first: null) { child { name } } }", {}, 2),
        ("{ items(first: -1) { child { name } } }", {}, 2),
        ('{ nodes(ids: ["a", "b", "c"]) { child { name } } }', {}, 4),
        ("query($ids: [ID!]!) { nodes(ids: $ids) { child { name } } }", {"ids": list("abcde")}, 6),
        ('{ walk(steps: [{relation: "a", limit: 7}, {relation: "b"}]) { child { name } } }', {}, 58),
        ("{ items(first: 10) { ...A } } fragment A on Item { items(first: 10) { child { name } } }", {}, 111),
        ("{ a: items(first: 10) { child { name } } b: items(first: 10) { ... on Item { child { name } } } }", {}, 22),
    ],
)
async def test_points_are_the_product_of_page_sizes(query: str, variables: dict[str, Any], cost: int) -> None:
    note = OperationNote()
    token = operation_note.set(note)
    try:
        await SCHEMA.execute(query, variable_values=variables)
    finally:
        operation_note.reset(token)
    assert note.points == cost


@pytest.mark.parametrize(
    ("query", "cost"),
    [
        ('{ recall(question: "a") { memories { entity { key } } } }', 1 + 8 + 8),
        ('{ recall(question: "a", budget: LOW) { memories { entity { key } } } }', 1 + 4 + 4),
        ('query($b: RecallBudget! = HIGH) { recall(question: "a", budget: $b) { memories { score } } }', 1 + 16),
        ('{ search(question: "a", k: 1) { neighbors { entity { key } } } }', 1 + 1 + 40),
        ('{ search(question: "a", k: 50) { neighbors { entity { key } via { predicate } } } }', 1 + 1 + 40 + 40),
        (
            "{ contextPack(k: 3) { sections { items { provenance { label } } } budget { dropped { title } } } }",
            1 + 6 + 3 + 15 + 3,
        ),
        ("{ contextPack(k: 8) { conflicts { conflictsWith { predicate } } } }", 1 + 40 + 400),
        ("{ contextPack(k: 1) { conflicts { conflictsWith { conflictsWith { predicate } } } } }", 1 + 5 + 50 + 10_000),
        ('{ recall(question: "a") { neighbors { entity { fragments(first: 100) { nodes { ordinal } } } } } }', 82 + 4_000),
        ("{ __schema { types { fields { name } } } viewer { principal } }", INTROSPECTION_POINTS + 1),
        ('{ a: __type(name: "A") { name } ... { b: __type(name: "B") { name } } }', 2 * INTROSPECTION_POINTS),
        ('mutation { retractFacts(input: {ids: ["1", "2", "3"]}) { results { status } } }', 3 + 1),
        ('mutation { deleteSource(input: {namespace: "a", key: "b"}) { deleted } }', 1),
    ],
)
def test_lists_without_a_page_size_count_as_long_as_they_may_be(query: str, cost: int) -> None:
    document, schema = parse(query), make_schema()._schema
    (operation,) = document.definitions
    assert isinstance(operation, OperationDefinitionNode)
    assert points(schema, operation, {}, {}) == cost


def test_what_a_mutation_is_given_to_write_counts_by_its_items() -> None:
    text = (
        "mutation($n: String!, $s: [SourceInput!]!) { ingestSources(input: {namespace: $n, sources: $s}) { results { status } } }"
    )
    whole = "mutation($i: IngestSourcesInput!) { ingestSources(input: $i) { results { status } } }"
    sources = {"n": "a", "s": [{"key": str(number)} for number in range(1_000)]}
    for query, given in ((text, sources), (whole, {"i": {"namespace": "a", "sources": sources["s"]}})):
        (operation,) = parse(query).definitions
        assert isinstance(operation, OperationDefinitionNode)
        assert points(make_schema()._schema, operation, {}, given) == 1_000 + 1


async def test_a_request_above_its_points_is_refused_with_what_to_change() -> None:
    deep = "query($n: Int!) { items(first: $n) { items(first: 100) { child { name } } } }"
    assert await code(deep, n=99) == "OK"
    (error,) = await outcome(deep, n=100)
    assert (error.extensions or {})["code"] == "LIMIT_EXCEEDED"
    assert "10,101" in error.message
    assert "lower `first`" in error.message
    four = "{ items(first: 100) " + "{ items(first: 100) " * 4 + "{ name }" + " }" * 5
    assert await code(four) == "LIMIT_EXCEEDED"


async def test_lists_in_variables_are_measured_wherever_they_are() -> None:
    query = "query($b: Batch!) { count(batch: $b) }"
    assert await code(query, b={"names": ["x"] * 10_000}) == "OK"
    assert await code(query, b={"names": ["x"] * 10_001}) == "LIMIT_EXCEEDED"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("{ item { " + "name " * 1_994 + "} }", "LIMIT_EXCEEDED"),
        ("{ item { " + "name " * 1_995 + "} }", "LIMIT_EXCEEDED"),
        ('{ nodes(ids: ["' + "x" * 65_000 + '"]) { name } }', "OK"),
    ],
)
async def test_tokens_and_characters_are_counted_by_the_parser(query: str, expected: str) -> None:
    assert await code(query) == expected


async def test_validation_runs_once_for_two_equal_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[object] = []

    class Counting(ValidationRule):
        def __init__(self, context: Any) -> None:
            runs.append(context.document)
            super().__init__(context)

    monkeypatch.setattr(limits, "RULES", (*limits.RULES, Counting))
    query = "query OnlyHere { item { name child { name } } }"
    assert [await code(query), await code(query)] == ["OK", "OK"]
    assert len(runs) == 1


async def test_documents_that_fail_are_not_kept() -> None:
    for _ in range(2):
        assert await code("{ nothing }") == "GRAPHQL_VALIDATION_FAILED"
        assert await code(doubling(40)) == "LIMIT_EXCEEDED"


async def test_equal_texts_of_two_schemas_do_not_meet() -> None:
    @strawberry.type
    class Other:
        @strawberry.field
        def hello(self) -> str:
            return "hi"

    other = assemble(Other)
    assert (await other.execute("{ hello }")).errors is None
    assert await code("{ hello }") == "GRAPHQL_VALIDATION_FAILED"


async def test_limits_are_settable() -> None:
    tight = assemble(Query, limits=RequestLimits(points=5, tokens=20))
    assert (await tight.execute("{ items(first: 4) { child { name } } }")).errors is None
    for query in ("{ items(first: 5) { child { name } } }", "{ " + "item { name } " * 6 + "}"):
        assert (await tight.execute(query)).errors


async def test_no_message_suggests_names() -> None:
    for query in ("{ itms { name } }", "{ items(frst: 1) { name } }", "{ item { ... on Itm { name } } }"):
        (error, *_) = await outcome(query)
        assert "Did you mean" not in error.message
