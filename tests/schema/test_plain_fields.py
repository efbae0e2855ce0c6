"""The short way to plain fields gives what the whole way gives: values, nulls, errors and awaited values."""

from __future__ import annotations

import asyncio
import gc
import weakref
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import pytest
import strawberry
from graphql import FieldNode, GraphQLObjectType, NameNode, OperationDefinitionNode, parse
from strawberry.schema.config import StrawberryConfig

from schema.assembly import assemble
from schema.plain_fields import FIXED_MOST, PLAIN, Way, Ways, is_fixed


@strawberry.enum
class Color(Enum):
    RED = "red"


@dataclass
class Within:
    """What a resolver gives for an inner thing."""

    name: Any = "in"


@strawberry.type
class Inner:
    name: str

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        return isinstance(value, Within)


def twice(root: Any, times: int = 2) -> int:
    return int(root.number) * times


def always() -> int:
    return 7


async def waited(root: Any) -> int:
    await asyncio.sleep(0)
    return int(root.number)


@strawberry.type
class Thing:
    number: int
    needed: str
    maybe: str | None
    flag: bool
    ratio: float
    color: Color | None
    tags: list[str]
    inner: Inner | None
    twice: int = strawberry.field(resolver=twice)
    always: int = strawberry.field(resolver=always)
    waited: int = strawberry.field(resolver=waited)


@dataclass
class Found:
    """What a resolver gives for a thing; the values are those of a test."""

    number: Any = 1
    needed: Any = "a"
    maybe: Any = None
    flag: Any = True
    ratio: Any = 0.5
    color: Any = Color.RED
    tags: Any = ("x", "y")
    inner: Any = field(default_factory=Within)


@strawberry.type
class Query:
    @strawberry.field(graphql_type=Thing | None)
    def thing(self, info: strawberry.Info) -> Any:
        return info.context


ALL = """query($times: Int = 3) { thing { again: number number needed maybe flag ratio color tags inner { name other: name }
    __typename twice four: twice(times: 4) many: twice(times: $times) always waited } }"""


def test_fields_that_hang_on_their_value_alone_take_the_short_way() -> None:
    fields = assemble(Query)._schema.type_map["Thing"].fields  # type: ignore[attr-defined]
    plain = {name for name, field in fields.items() if PLAIN in field.extensions}
    assert plain == {"number", "needed", "maybe", "flag", "ratio", "color", "tags", "inner", "twice"}


async def soon() -> str:
    await asyncio.sleep(0)
    return "later"


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"maybe": "b"},
        {"needed": None},
        {"number": "no number"},
        {"number": 2**40},
        {"number": True},
        {"ratio": float("nan")},
        {"ratio": 1},
        {"needed": 5},
        {"color": "red"},
        {"color": "green"},
        {"tags": None},
        {"tags": ("x", None)},
        {"tags": "xy"},
        {"tags": []},
        {"inner": None},
        {"inner": "no inner thing"},
        {"inner": Within(None)},
        {"inner": Within(5)},
    ],
)
async def test_the_answer_is_the_same_as_the_whole_way(changed: dict[str, Any]) -> None:
    short = assemble(Query)
    whole = strawberry.Schema(Query, config=StrawberryConfig(disable_field_suggestions=True))
    found = replace(Found(), **changed)
    ours, theirs = [await schema.execute(ALL, context_value=found) for schema in (short, whole)]
    assert ours.data == theirs.data
    assert [error.formatted for error in ours.errors or ()] == [error.formatted for error in theirs.errors or ()]


async def test_arguments_are_those_of_the_request_and_of_the_alias() -> None:
    schema, query = assemble(Query), "query($n: Int!) { thing { number twice six: twice(times: 6) many: twice(times: $n) } }"
    for times in (5, 7):
        result = await schema.execute(query, {"n": times}, context_value=Found())
        assert (result.data, result.errors) == ({"thing": {"number": 1, "twice": 2, "six": 6, "many": times}}, None)


async def test_a_way_that_was_found_for_one_request_is_taken_for_another_only_if_no_variable_changes_it() -> None:
    schema = assemble(Query)
    document = """query($times: Int!, $named: Boolean!, $other: Boolean!) { thing {
        fixed: inner { name } inner { name @include(if: $named) ...other @include(if: $other) } many: twice(times: $times) } }
        fragment other on Inner { other: name }"""
    for times, named, other in ((2, True, True), (3, False, True), (5, True, False), (2, True, True)):
        result = await schema.execute(document, {"times": times, "named": named, "other": other}, Found())
        inner = {name: "in" for name, shown in (("name", named), ("other", other)) if shown}
        assert result.data == {"thing": {"fixed": {"name": "in"}, "inner": inner, "many": times}}
        assert list(result.data["thing"]["inner"]) == list(inner)


@pytest.mark.parametrize(
    ("selected", "fixed"),
    [
        ("number", True),
        ("inner { name other: name }", True),
        ("twice(times: 4)", False),
        ("number @skip(if: false)", False),
        ("inner { name @skip(if: false) }", False),
        ("inner { ...named }", False),
        ("inner { ... { name } }", False),
        ("inner {" + "".join(f" n{number}: name" for number in range(FIXED_MOST)) + "}", False),
    ],
)
def test_only_what_hangs_on_no_variable_and_no_fragment_is_kept(selected: str, fixed: bool) -> None:
    (operation,) = parse("{" + selected + "}").definitions
    assert isinstance(operation, OperationDefinitionNode)
    (node,) = operation.selection_set.selections
    assert isinstance(node, FieldNode)
    assert is_fixed(node) is fixed


def test_a_way_is_that_of_one_node_under_one_type_and_the_first_goes_first() -> None:
    things, others = (assemble(Query)._schema.type_map["Thing"] for _ in range(2))
    assert isinstance(things, GraphQLObjectType)
    assert isinstance(others, GraphQLObjectType)
    nodes = [FieldNode(name=NameNode(value="number")) for _ in range(3)]
    ways, way = Ways(most=2), Way(things.fields["number"].extensions[PLAIN])
    for node in nodes:
        ways.keep(things, node, way)
    assert [ways.get(things, node) for node in nodes] == [None, way, way]
    assert ways.get(others, nodes[2]) is None


async def test_an_attribute_that_must_be_awaited_is_awaited() -> None:
    result = await assemble(Query).execute("{ thing { needed } }", context_value=replace(Found(), needed=soon()))
    assert (result.data, result.errors) == ({"thing": {"needed": "later"}}, None)


async def test_an_operation_that_is_done_holds_its_context_no_longer() -> None:
    schema, found = assemble(Query), Found()
    await schema.execute(ALL, context_value=found)  # now it is known, and goes straight to the executor
    seen = weakref.ref(found)
    gc.disable()
    try:
        await schema.execute(ALL, context_value=found)
        del found
        await asyncio.sleep(0)
        assert seen() is None
    finally:
        gc.enable()
