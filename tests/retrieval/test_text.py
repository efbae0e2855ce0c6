"""How text is cleaned, folded and measured."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import BadInput
from retrieval.text import blank, clean, fold, stored, strict, utf16_offsets

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def test_nul_is_removed_and_letters_stay_as_they_came() -> None:
    decomposed = unicodedata.normalize("NFD", "чай")
    assert stored(f"{decomposed}\x00!") == f"{decomposed}!"
    assert clean(f"{decomposed}\x00!") == "чай!"


@pytest.mark.parametrize("check", [stored, clean, strict])
def test_a_lone_surrogate_is_refused_by_name_and_place(check: object) -> None:
    assert callable(check)
    with pytest.raises(BadInput, match=r"The title holds a lone surrogate \(U\+D800\) at position 2"):
        check("до\ud800", "The title")


def test_a_question_with_nul_is_refused() -> None:
    with pytest.raises(BadInput, match="The question holds a NUL character at position 1"):
        strict("a\x00", "The question")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ёлочная", "елочная"),
        ("İSTANBUL", "istanbul"),
        ("İstanbul", "ISTANBUL"),
        ("ısparta", "ISPARTA"),
        ("ΟΔΟΣ", "οδος"),
        (unicodedata.normalize("NFD", "Чай"), "чай"),
    ],
)
def test_differences_of_writing_fold_together(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("й", "и"), ("ß", "ss"), ("a", "а")])
def test_other_letters_stay_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_folding_keeps_the_length_of_every_letter_and_is_stable() -> None:
    for code in range(sys.maxunicode + 1):
        if not 0xD800 <= code < 0xE000:
            letter = unicodedata.normalize("NFC", chr(code))
            assert len(fold(letter)) == len(letter)
            assert fold(fold(letter)) == fold(letter)


@pytest.mark.parametrize("text", ["", " \n\t", "\xa0\u3000", "\u200b\u200e\ufeff", "\x00\x07"])
def test_invisible_text_is_blank(text: str) -> None:
    assert blank(text)


@pytest.mark.parametrize("text", ["a", " .", "😀", "中"])
def test_visible_text_is_not_blank(text: str) -> None:
    assert not blank(text)


@given(ANY_TEXT)
def test_offsets_agree_with_utf_16(text: str) -> None:
    everywhere = range(len(text) + 1)
    assert utf16_offsets(text, everywhere) == [len(text[:offset].encode("utf-16-le")) // 2 for offset in everywhere]
