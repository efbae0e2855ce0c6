"""A cursor works for whom and what it was made, is URL-safe, and nothing else passes for one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.cursor import make_cursor, read_cursor
from retrieval.errors import BadCursor

SECRET = b"s" * 32
SCOPE = ["anna", "fragments", 1, 2]


@given(st.lists(st.one_of(st.integers(-(2**53), 2**53), st.text(st.characters(exclude_categories=["Cs"]))), max_size=4))
def test_a_position_comes_back(position: list[object]) -> None:
    cursor = make_cursor(SECRET, SCOPE, position)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)
    assert read_cursor(SECRET, SCOPE, cursor) == position


@pytest.mark.parametrize(
    ("secret", "scope"),
    [(b"t" * 32, SCOPE), (SECRET, ["boris", *SCOPE[1:]]), (SECRET, [*SCOPE[:3], 3]), (SECRET, [])],
)
def test_another_base_caller_or_question_is_refused(secret: bytes, scope: list[object]) -> None:
    with pytest.raises(BadCursor):
        read_cursor(secret, scope, make_cursor(SECRET, SCOPE, [5]))


@pytest.mark.parametrize("cursor", ["", "WyJUZXN0Il0=", "x", "ы", "A" * 40, "====", "a b"])
def test_what_was_never_made_here_is_refused(cursor: str) -> None:
    with pytest.raises(BadCursor):
        read_cursor(SECRET, SCOPE, cursor)


def test_no_changed_character_passes() -> None:
    cursor = make_cursor(SECRET, SCOPE, [12345])
    for place, letter in enumerate(cursor[:-1]):
        changed = cursor[:place] + ("A" if letter != "A" else "B") + cursor[place + 1 :]
        with pytest.raises(BadCursor):
            read_cursor(SECRET, SCOPE, changed)
