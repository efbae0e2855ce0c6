"""How many answers an operation asks for is known before any of its fields runs."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import parse

from schema.api import make_schema
from schema.limits import RequestLimits, too_costly

SCHEMA = make_schema()
MANY = " ".join(f'a{n}: search(question: "q{n}") {{ answer {{ text }} }}' for n in range(10))
NAMES = " ".join(f"a{n}: answer {{ text }}" for n in range(10))

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "ten searches": (f"{{ {MANY} }}", {}),
    "ten names in one search": (f'{{ search(question: "q") {{ {NAMES} }} }}', {}),
    "two names of one search": ('{ search(question: "q") { answer { text } b: answer { status } } }', {}),
    "the same search under two names": (
        '{ a: search(question: "q") { answer { text } } b: search(question: "q") { answer { text } } }', {},
    ),
    "one in a fragment": (
        'query { search(question: "q") { answer { text } ...F } } fragment F on Search { ... { b: answer { text } } }', {},
    ),
    "one in a fragment at the root": (
        'query { a: search(question: "q") { answer { text } } ...F } '
        'fragment F on Query { b: search(question: "r") { answer { text } } }',
        {},
    ),
    "one behind a variable": (
        'query($yes: Boolean!) { search(question: "q") { answer { text } b: answer @include(if: $yes) { text } } }',
        {"yes": True},
    ),
    "one behind the default of a variable": (
        'query($no: Boolean = false) { search(question: "q") { answer { text } ... @skip(if: $no) { b: answer { text } } } }', {},
    ),
}  # fmt: skip

TAKEN: dict[str, tuple[str, dict[str, Any]]] = {
    "one": ('{ search(question: "q") { answer { text } hits { score } } other: search(question: "r") { hits { score } } }', {}),
    "one written twice": ('{ search(question: "q") { answer { text } } search(question: "q") { answer { status } } }', {}),
    "others that are left out": (
        'query($no: Boolean!) { search(question: "q") { answer { text } b: answer @include(if: $no) { text } } }', {"no": False},
    ),
    "one that is followed": ('subscription { answer(question: "q") { ... on AnswerDone { answer { text } } } }', {}),
    "none": ("{ viewer { principal } }", {}),
}  # fmt: skip


def codes(query: str, variables: dict[str, Any]) -> list[str]:
    """The codes of what an operation is refused for."""
    errors = too_costly(SCHEMA._schema, parse(query), None, variables, RequestLimits())
    return [str((error.extensions or {})["code"]) for error in errors]


@pytest.mark.parametrize("name", REFUSED)
def test_a_second_answer_is_refused(name: str) -> None:
    assert codes(*REFUSED[name]) == ["LIMIT_EXCEEDED"]


@pytest.mark.parametrize("name", TAKEN)
def test_one_answer_is_let_through(name: str) -> None:
    assert codes(*TAKEN[name]) == []
