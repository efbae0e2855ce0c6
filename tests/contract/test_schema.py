"""The schema keeps the promised names, describes everything, and is committed as it is printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    find_breaking_changes,
    is_introspection_type,
    is_specified_scalar_type,
)

from schema.api import make_schema

HERE = Path(__file__).parent
PRINTED = HERE.parent.parent / "schema" / "schema.graphql"


@pytest.fixture(scope="module")
def ours() -> GraphQLSchema:
    return make_schema()._schema


def not_yet() -> dict[str, int]:
    """Names still to come, each with the issue that brings it."""
    lines = (HERE / "not_yet.txt").read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if line and not line.startswith("#")]
    return {name: int(issue) for name, issue in pairs}


def breaks(ours: GraphQLSchema) -> set[str]:
    """What a client of the promised shape would miss, as `Type`, `Type.field`, `Type.field.argument` or `ENUM.VALUE`."""
    promised = build_schema((HERE / "api.graphql").read_text(encoding="utf-8"))
    return {name_of(change.description) for change in find_breaking_changes(promised, ours)}


def name_of(description: str) -> str:
    """The coordinate that a description of a removal is about; any other kind of change stays whole, and is never listed."""
    removed = re.fullmatch(r"(?:Field |Argument |Enum value )?(\S+) was removed\.", description)
    return description if removed is None else removed[1]


def test_what_is_promised_is_there_or_listed_with_its_issue(ours: GraphQLSchema) -> None:
    assert breaks(ours) - set(not_yet()) == set()


def test_the_list_of_names_to_come_only_shrinks(ours: GraphQLSchema) -> None:
    assert set(not_yet()) - breaks(ours) == set(), "these have come: take them off the list"


def test_the_committed_schema_is_the_printed_one() -> None:
    printed = make_schema().as_str() + "\n"
    assert PRINTED.read_text(encoding="utf-8") == printed, "run `contextql schema > schema/schema.graphql`"


def undescribed(schema: GraphQLSchema) -> Iterator[str]:
    """Every type, field, argument and value without a description."""
    for name, kind in schema.type_map.items():
        if is_introspection_type(kind) or is_specified_scalar_type(kind):
            continue
        if not kind.description:
            yield name
        yield from (f"{name}.{part}" for part in undescribed_parts(kind))


def undescribed_parts(kind: GraphQLNamedType) -> Iterator[str]:
    if isinstance(kind, GraphQLEnumType):
        yield from (value for value, definition in kind.values.items() if not definition.description)
    elif isinstance(kind, GraphQLInputObjectType):
        yield from (field for field, definition in kind.fields.items() if not definition.description)
    elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
        for field, definition in kind.fields.items():
            if not definition.description:
                yield field
            yield from (f"{field}.{name}" for name, argument in definition.args.items() if not argument.description)


def test_everything_is_described(ours: GraphQLSchema) -> None:
    assert list(undescribed(ours)) == []


def test_only_types_that_depend_on_nothing_but_their_id_have_one(ours: GraphQLSchema) -> None:
    with_id = {
        name
        for name, kind in ours.type_map.items()
        if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType) and "id" in kind.fields
    }
    assert with_id == {"Node", "Entity", "Fragment", "Source"}
