"""Keys come back as they went in, compare in composed form, and ids say nothing but what they stand for."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import BadInput
from retrieval.keys import check_key, key_digest, public_id, read_id


@pytest.mark.parametrize(
    "key",
    ["a/b", "a%2Fb", "https://kb.example.com/articles/a%2Fb?x=1#y", "чай.md", "../../x", "C:\\x", "x" * 2000, "ё" * 2000, "a b"],
)
def test_any_text_up_to_2000_characters_is_a_key(key: str) -> None:
    assert check_key(key, 2000) == key


@pytest.mark.parametrize("key", ["", "   ", "x" * 2001, "a\x00b", "\ud800"])
def test_a_key_that_cannot_be_kept_is_refused(key: str) -> None:
    with pytest.raises(BadInput):
        check_key(key, 2000)


def test_composed_and_decomposed_spellings_are_one_key() -> None:
    key = "чай.md"
    assert key_digest(key) == key_digest(unicodedata.normalize("NFD", key))
    assert key_digest("a/b") != key_digest("a%2Fb")


@given(st.sampled_from(["entity", "fragment", "source", "fact"]), st.integers(1, 2**31 - 1), st.integers(1, 2**63 - 1))
def test_an_id_comes_back(kind: str, ns: int, number: int) -> None:
    assert read_id(public_id(kind, ns, number)) == (kind, ns, number)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", "x", "ZTox", "ы", "ZTotMToy", "ZTowOjI", "ejoxOjI", "ZToxOjI=", "ZTowMTox", "a" * 5000])
def test_what_is_not_our_id_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        read_id(text)
