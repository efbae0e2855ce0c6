"""Pieces cover the text, are bounded, and come in bounded time."""

from __future__ import annotations

import json
import random
import time
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.ingest.documents import read_document
from retrieval.ingest.splitting import Section, split
from retrieval.tuning import DENSE_PIECE_CHARACTERS, PIECE_CHARACTERS

RANDOM = random.Random(7)
HARD = {
    "an unbroken word": "Шапка " + "a" * 200_000 + " Подвал",
    "one line": "слово " * 150_000,
    "base64": b64encode(RANDOM.randbytes(300_000)).decode(),
    "minified JSON": json.dumps([{"a": number, "b": "xxxxx"} for number in range(40_000)], separators=(",", ":")),
    "Chinese": "中文文本没有空格" * 40_000,
    "joined emoji": "👩\u200d" * 100_000,
    "hex words": " ".join(RANDOM.randbytes(16).hex() for _ in range(15_000)),
    "short lines": "строка\n" * 100_000,
}


def letters(text: str) -> str:
    """What can be seen of a text: joiners at the edge of a piece may go, like spaces."""
    return "".join(text.replace("\u200d", "").split())


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("media_type", ["text/plain", "text/markdown", "text/html"])
def test_hard_text_is_covered_by_bounded_pieces_in_bounded_time(name: str, media_type: str) -> None:
    text = HARD[name]
    started = time.process_time()
    pieces = read_document("a", text, media_type).pieces
    assert time.process_time() - started < 10 * max(0.5, len(text.encode()) / 1_000_000)
    assert max(len(piece.text) for piece in pieces) <= PIECE_CHARACTERS
    assert all(piece.text.strip() for piece in pieces)
    is_covered = letters("".join(piece.text for piece in pieces)) == letters(text)  # a difference of megabytes is not shown
    assert is_covered


@pytest.mark.parametrize("name", ["an unbroken word", "base64", "minified JSON", "Chinese"])
def test_dense_text_has_smaller_pieces_since_it_has_more_tokens(name: str) -> None:
    pieces = read_document("a", HARD[name], "text/plain").pieces
    assert max(len(piece.text) for piece in pieces[1:-1]) <= DENSE_PIECE_CHARACTERS


@given(st.text(st.sampled_from("абв .!\n中😀e\u0301-#"), max_size=400), st.integers(1, 40))
def test_pieces_cover_the_text_in_order(text: str, times: int) -> None:
    pieces = split([Section((), text * times)])
    assert letters("".join(piece.text for piece in pieces)) == letters(text * times)
    assert [piece.ordinal for piece in pieces] == list(range(len(pieces)))
    assert all(piece.text.strip() and len(piece.text) <= PIECE_CHARACTERS for piece in pieces)


def test_a_section_is_cut_into_about_equal_pieces_at_paragraphs() -> None:
    paragraph = "Слова о гостевом пропуске. " * 10
    sizes = [len(piece.text) for piece in split([Section((), "\n\n".join([paragraph.strip()] * 5))])]
    assert len(sizes) == 2
    assert min(sizes) > 400


def test_a_heading_over_another_heading_is_found_through_its_path() -> None:
    pieces = split([Section(("А",), ""), Section(("А", "Б"), "текст")])
    assert [(piece.heading, piece.text) for piece in pieces] == [("А › Б", "текст")]


@pytest.mark.parametrize("empty", ["", " \n ", "\u200b"])
def test_a_heading_with_nothing_under_it_is_a_piece_of_its_own(empty: str) -> None:
    pieces = split([Section(("А",), empty), Section(("Б",), "текст")])
    assert [(piece.heading, piece.text) for piece in pieces] == [("А", "А"), ("Б", "текст")]


def test_a_long_heading_is_cut_in_the_path_and_whole_in_the_text() -> None:
    heading = "слово " * 100 + "конец"
    (piece,) = split([Section((heading,), "текст")])
    assert len(piece.heading) <= 120
    assert piece.text == f"{heading}\n\nтекст"
