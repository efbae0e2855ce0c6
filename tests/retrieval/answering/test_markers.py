"""Citations in a model's words: the same however the words are cut, checked, and never more than what stands in the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.answering.markers import MarkedText
from retrieval.personal.masking import masked
from retrieval.personal.streaming import MaskedStream
from retrieval.tuning import CITATIONS_MOST, HELD_CHARACTERS

WORDS = st.lists(
    st.sampled_from(
        [
            "[",
            "]",
            "[[",
            "1",
            "2",
            "9",
            ",",
            " ",
            ", ",
            "a",
            "\n",
            "`",
            "```",
            "~~~",
            "🙂",
            "é",
            ";",
            "[1]",
            "[9]",
            "[2, 9]",
            "[1-2]",
            "-",
            " " * 70,
            "\\",
        ]
    ),
    max_size=40,
).map("".join)


def read(text: str, known: int = 3, cuts: tuple[int, ...] = ()) -> tuple[str, MarkedText]:
    marked, pieces, begin = MarkedText(known), [], 0
    for cut in sorted({*cuts, len(text)}):
        pieces.append(marked.feed(text[begin:cut]))
        begin = cut
    return "".join(pieces) + marked.finish(), marked


def cut(text: str, start: int, end: int) -> str:
    """A part of a text by offsets in UTF-16."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


@given(WORDS, st.lists(st.integers(0, 120)))
def test_text_in_pieces_gives_what_whole_text_gives(text: str, cuts: list[int]) -> None:
    whole, marked = read(text)
    pieces, again = read(text, cuts=tuple(cut for cut in cuts if cut <= len(text)))
    assert (pieces, again.marks, again.removed) == (whole, marked.marks, marked.removed)


@given(WORDS)
def test_every_mark_stands_where_it_says(text: str) -> None:
    whole, marked = read(text)
    assert all(cut(whole, mark.start, mark.end) == mark.text == f"[{mark.number}]" for mark in marked.marks)
    assert all(1 <= mark.number <= 3 for mark in marked.marks)


@given(WORDS.map(lambda text: re.sub("[`~]", "", text)))
def test_no_citation_is_left_that_was_not_checked(text: str) -> None:
    whole, marked = read(text)
    found = [
        (one.start(), one.end())
        for one in re.finditer(r"\[ *[0-9]+(?: *[,;] *[0-9]+)* *\]|\[[1-9]-9\]", whole)
        if len(one[0]) <= HELD_CHARACTERS
    ]
    letters = [len(cut(whole, 0, mark.start)) for mark in marked.marks]
    assert [start for start, _ in found] == letters


@given(WORDS.map(lambda text: text.replace("]", "[")))
def test_at_most_64_characters_are_held_back(text: str) -> None:
    marked, given_back = MarkedText(3), 0
    for taken, character in enumerate("x" + text, 1):
        given_back += len(marked.feed(character))
        assert taken - given_back <= HELD_CHARACTERS


CASES = {
    "one": ("Так [1].", "Так [1].", [(4, 7)], 0),
    "several in one become several": ("a [1, 2; 3] b", "a [1][2][3] b", [(2, 5), (5, 8), (8, 11)], 0),
    "spaces inside": ("a [ 1 ,2 ]", "a [1][2]", [(2, 5), (5, 8)], 0),
    "one that points nowhere goes with its space": ("So [9]. And [0] so[4]!", "So. And so!", [], 3),
    "of several only those that point nowhere go": ("a [1, 9]", "a [1]", [(2, 5)], 1),
    "a range is each of its numbers": ("a [1-2] [1, 2 – 3]", "a [1][2] [1][2][3]", [(n, n + 3) for n in (2, 5, 9, 12, 15)], 0),
    "a range that ends nowhere": ("a [2-99999999] b [7–9].", "a [2][3] b.", [(2, 5), (5, 8)], 2),
    "no range": ("[0-9] [3-1] [2026-11-30] [-1] [1-]", "[0-9] [3-1] [2026-11-30] [-1] [1-]", [], 0),
    "repeated ones are kept": ("a [1] b [1]", "a [1] b [1]", [(2, 5), (8, 11)], 0),
    "nested": ("[[1]]", "[[1]]", [(1, 4)], 0),
    "nested without an aim": ("a [[9]] b", "a [] b", [], 1),
    "what removal puts together is a citation": ("a [1[9]] b", "a [1] b", [(2, 5)], 1),
    "an emoji before": ("🙂🙂 [1]", "🙂🙂 [1]", [(5, 8)], 0),
    "a word in brackets": ("[note] [1x] [] [,] [1,]", "[note] [1x] [] [,] [1,]", [], 0),
    "left open": ("a [1", "a [1", [], 0),
    "an escaped one": (r"\[x\]", r"\[x\]", [], 0),
    "in code": ("`a[9]` [1] ``b`[9]`` [1]", "`a[9]` [1] ``b`[9]`` [1]", [(7, 10), (21, 24)], 0),
    "in a fence": ("```py\na[9]\n``` x\n[1]", "```py\na[9]\n``` x\n[1]", [(17, 20)], 0),
    "in a fence of tildes": ("~~~\n[9]\n~~~\n[9]b", "~~~\n[9]\n~~~\nb", [], 1),
    "a fence inside a longer one": ("````\n```\n[9]\n````\n[1]", "````\n```\n[9]\n````\n[1]", [(18, 21)], 0),
    "a lone backtick counts to the end of its line": ("a ` b [9]\n[9]c", "a ` b [9]\nc", [], 1),
    "a huge number": ("a [" + "9" * 50 + "]", "a", [], 1),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_citation_is_kept_or_removed_by_what_it_points_to(name: str) -> None:
    text, expected, places, removed = CASES[name]
    whole, marked = read(text)
    assert (whole, [(mark.start, mark.end) for mark in marked.marks], marked.removed) == (expected, places, removed)


def test_halves_of_a_character_are_put_together_and_a_lone_one_is_replaced() -> None:
    marked = MarkedText(1)
    pieces = [marked.feed("a\ud83d"), marked.feed("\ude42[1]"), marked.feed("\ude42\ud83d"), marked.finish()]
    assert pieces == ["a", "🙂[1]", "�", "�"]
    assert [(mark.start, mark.end) for mark in marked.marks] == [(3, 6)]


def test_citations_of_one_answer_are_bounded() -> None:
    whole, marked = read("[1]" * (CITATIONS_MOST + 7))
    assert (len(marked.marks), marked.removed, whole) == (CITATIONS_MOST, 0, "[1]" * (CITATIONS_MOST + 7))


def test_one_beyond_the_bound_is_no_mark_but_is_checked_like_the_others() -> None:
    whole, marked = read("[1]" * CITATIONS_MOST + " a [2, 9] b [9]")
    assert whole.endswith("[1] a [2] b")
    assert (len(marked.marks), marked.removed) == (CITATIONS_MOST, 2)


@pytest.mark.parametrize("piece", ["a\x1b[31mb", "a\x00[31mb", "\u202ea[31m\x9bb\x07"])
def test_controls_of_a_terminal_and_overrides_of_direction_are_left_out_before_citations_are_placed(piece: str) -> None:
    text = MarkedText(1)
    assert text.feed(piece + "\u202d [1]\t\n") + text.finish() == "a[31mb [1]\t\n"
    assert [(mark.start, mark.end) for mark in text.marks] == [(7, 10)]


def test_an_answer_begins_with_what_can_be_read_and_blanks_are_none() -> None:
    assert [read(text)[0] for text in (" \n", "\n [9] \n", "[9]")] == ["", "", ""]
    whole, marked = read("\n\u00a0 [1] a", cuts=(1, 2, 3))
    assert (whole, marked.marks[0].start) == ("[1] a", 0)


PERSONAL = st.lists(
    st.sampled_from([
        *("ИНН ", "7707083893", "7707", "083893", "ann@example.com", "ann", "@example.com", "+7 916 123-45-67", "+7 916", "-12"),
        *("3-45-67", "[1]", "[9]", "[2, 9]", "[", "]", " ", " ", ".", "a", "`", "\n", "🙂", "[EMAIL]", "[1, 2, 3, 1, 2, 3"),
    ]), max_size=20,
).map("".join)  # fmt: skip


def covered(text: str, cuts: tuple[int, ...] = ()) -> tuple[str, MarkedText]:
    marked, pieces, begin = MarkedText(3, MaskedStream()), [], 0
    for cut in sorted({*cuts, len(text)}):
        pieces.append(marked.feed(text[begin:cut]))
        begin = cut
    return "".join(pieces) + marked.finish(), marked


@given(PERSONAL, st.lists(st.integers(0, 200)))
def test_what_is_left_is_masked_however_it_comes_and_marks_stand_where_they_say(text: str, cuts: list[int]) -> None:
    whole, marked = covered(text)
    for places in (tuple(cut for cut in cuts if cut <= len(text)), tuple(range(len(text)))):
        pieces, again = covered(text, places)
        assert (pieces, again.marks, again.removed) == (whole, marked.marks, marked.removed)
    assert masked(whole) == whole
    assert all(cut(whole, mark.start, mark.end) == mark.text for mark in marked.marks)


def test_a_number_that_a_removed_citation_parts_is_masked_and_masks_are_no_citations() -> None:
    whole, marked = covered("ИНН 7707 [9]08[9]3893 [1], ann@example.com [2].", tuple(range(60)))
    assert (whole, [mark.text for mark in marked.marks], marked.removed) == ("ИНН [INN] [1], [EMAIL] [2].", ["[1]", "[2]"], 2)


@given(PERSONAL.map(lambda text: text.replace("]", "[").replace("@", "")))
def test_no_more_is_held_for_masks_and_citations_together(text: str) -> None:
    marked, given_back = MarkedText(3, MaskedStream()), 0
    for taken, character in enumerate("x" + re.sub("[0-9]", "0", text), 1):
        given_back += len(marked.feed(character))
        assert taken - given_back <= HELD_CHARACTERS
