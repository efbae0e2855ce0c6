"""What callers see of errors, and what the log sees."""

from __future__ import annotations

import json
from typing import Any

import pytest
import strawberry
from graphql import GraphQLError, GraphQLSyntaxError, Source
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from retrieval.errors import BadInput, ContextQLError, NamespaceNotFound
from schema.assembly import assemble
from schema.errors import CODES, SHOWN, code_of, json_safe, present_exception, presented

SECRET = "zebra-4711"


@strawberry.type
class Query:
    @strawberry.field
    def fails(self, kind: str, word: str = "") -> str | None:
        if kind == "own":
            raise BadInput("`k` is 1 to 50.")
        if kind == "chained":
            try:
                raise ValueError(word)
            except ValueError as error:
                raise RuntimeError(word) from error
        if kind == "graphql":
            raise GraphQLError(f"from a library: {word}")
        if kind == "base":
            raise ContextQLError(f"no code of its own: {word}")
        return None

    @strawberry.field
    def whole(self, number: int) -> int | None:
        return number

    @strawberry.field
    def spoilt(self) -> int | None:
        return SECRET  # type: ignore[return-value]

    @strawberry.field
    def missing(self) -> str:
        return None  # type: ignore[return-value]


SCHEMA = assemble(Query)


async def shown(query: str, **variables: Any) -> list[GraphQLError]:
    result = await SCHEMA.execute(query, variable_values=variables)
    return presented(result.errors or [])


async def test_a_domain_error_keeps_code_message_and_place() -> None:
    (error,) = await shown('{ fails(kind: "own") }')
    assert error.formatted == {
        "message": "`k` is 1 to 50.",
        "locations": [{"line": 1, "column": 3}],
        "path": ["fails"],
        "extensions": {"code": "BAD_INPUT"},
    }


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{", "GRAPHQL_PARSE_FAILED"),
        ("{ a" + " a" * 2_000 + " }", "LIMIT_EXCEEDED"),
        ("{ whole(number: 1) } #" + "x" * 65_536, "LIMIT_EXCEEDED"),
        ("{ whole(number: 1) }" + "\n#" * 101, "LIMIT_EXCEEDED"),
        ("{ whole(number: " + "[" * 1_000 + "]" * 1_000 + ") }", "LIMIT_EXCEEDED"),
        ("{ nothing }", "GRAPHQL_VALIDATION_FAILED"),
        ("{ whole(number: " + "9" * 5_000 + ") }", "GRAPHQL_VALIDATION_FAILED"),
        ("query($n: Int! = " + "9" * 5_000 + ") { whole(number: $n) }", "GRAPHQL_VALIDATION_FAILED"),
        ("query($n: Int!) { whole(number: $n) }", "BAD_INPUT"),
        ("{ spoilt }", "INTERNAL"),
        ("{ missing }", "INTERNAL"),
        ('{ fails(kind: "graphql") }', "INTERNAL"),
        ('{ fails(kind: "base") }', "INTERNAL"),
    ],
)
async def test_every_error_has_a_stable_code(query: str, code: str) -> None:
    errors = await shown(query)
    assert {code_of(error) for error in errors} == {code}
    assert code in CODES


@pytest.mark.parametrize("kind", ["chained", "graphql", "base"])
async def test_no_log_line_and_no_message_repeats_input(kind: str) -> None:
    with capture_logs() as logs:
        (error,) = await shown(
            "query($kind: String!, $word: String!) { a_alias: fails(kind: $kind, word: $word) }",
            kind=kind,
            word=SECRET,
        )
    assert SECRET not in str(error.formatted)
    assert SECRET not in str(logs)
    assert "alias" not in str(logs)
    assert [line["error_id"] for line in logs] == [(error.extensions or {})["id"]]
    assert logs[0]["fields"] == ["fails"]


async def test_the_log_tells_the_kinds_and_the_place_of_a_failure() -> None:
    with capture_logs() as logs:
        await shown('{ fails(kind: "chained") }')
    assert logs[0]["raised"] == ["builtins.RuntimeError", "builtins.ValueError"]
    assert "test_errors.py" in logs[0]["frames"][-1]


async def test_deliberate_errors_are_not_logged() -> None:
    with capture_logs() as logs:
        await shown('{ fails(kind: "own") whole(number: 1) }')
    assert logs == []


def test_at_most_twenty_errors_are_shown() -> None:
    assert len(presented([GraphQLError("x") for _ in range(100)])) == SHOWN


def test_messages_of_the_library_are_cut_and_lose_suggestions() -> None:
    (long,) = presented([GraphQLError("y" * 1_000)])
    assert len(long.message) == 200
    (hint,) = presented([GraphQLSyntaxError(Source("x"), 0, "Odd. Did you mean 'secretField'?")])
    assert "secretField" not in hint.message


def test_exceptions_outside_of_execution_get_the_same_treatment() -> None:
    assert code_of(present_exception(NamespaceNotFound("attic"))) == "NAMESPACE_NOT_FOUND"
    assert code_of(present_exception(TimeoutError())) == "DEADLINE_EXCEEDED"
    masked = present_exception(OSError(SECRET))
    assert code_of(masked) == "INTERNAL"
    assert SECRET not in masked.message


def test_a_masked_error_is_not_masked_twice() -> None:
    once = present_exception(OSError(SECRET))
    with capture_logs() as logs:
        (again,) = presented([once])
    assert again.formatted == once.formatted
    assert logs == []


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.just("\ud800"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.sets(st.integers()),
)


@given(ANYTHING)
def test_anything_becomes_json(value: Any) -> None:
    json.dumps(json_safe(value), allow_nan=False).encode()


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8")), st.lists))
def test_what_is_json_already_stays_as_it_is(value: Any) -> None:
    assert json_safe(value) == value
