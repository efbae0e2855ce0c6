"""Text that is masked while it is written: the same however it is cut, what masking the whole gives, and little is held."""

from __future__ import annotations

from itertools import pairwise
from time import process_time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from retrieval.personal.chains import parted
from retrieval.personal.masking import masked
from retrieval.personal.streaming import MaskedStream
from retrieval.tuning import MASKING_HELD

WORDS = [
    *("ann@example.com", "ivan.petrov+spam@mail.corp.example.org", "@", "@a.b", "ivаn@mаil.ru", "почта@пример.рф", "a@b"),
    *("git@host.example:x", "git"),
    *("+7 (916) 123-45-67", "8 916 123 45 67", "+7", "916", "123-45-67", "(495)", "123", "45", "67", "7", "00", "4", "5"),
    *("7707083893", "77 07", "08 38 93", "ИНН", "inn:", "1027700132195", "112-233-445 95", "СНИЛС", "тел.", "заказ", "card"),
    *("4012-8888-8888-1881", "4012", "8888", "1881", "40128888", "88881881", "DE89", "3704 0044 0532 0130 00", "is", "DE"),
    *("паспорт", "4505 № 678901", "4505", "номер", "678901", "серия 45 05", "no.", "но", "n"),
    *(
        "550e8400-e29b-41d4-a716-446655440000",
        "2026-11-30",
        "v1.2.3",
        "[1]",
        "[EMAIL]",
        "word",
        "слово",
        "🙂",
        "é",
        "x",
        "＠example.com",
        "GB29 NWBK",
    ),
    *("<b>", "</b>", "&#64;", "&commat;", "**", "`", "_", "\\", "<a href='x'>", "<", ">", "\u200b", "\u200b\u200d"),
]
SIGNS = ["", "", " ", " ", "\n", "-", ".", ",", ", ", ": ", " (", ") ", "+", "/", ";", "  ", " - ", "\n\n", "\n> ", "\u00a0", "—"]
TEXTS = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SIGNS)), max_size=14).map(
    lambda parts: "".join(word + sign for word, sign in parts)
)
CUTS = st.lists(st.integers(0, 300), max_size=12)


def streamed(text: str, cuts: tuple[int, ...] = ()) -> str:
    stream = MaskedStream()
    places = [0, *sorted({cut for cut in cuts if 0 < cut < len(text)}), len(text)]
    return "".join([*(stream.feed(text[start:end]) for start, end in pairwise(places)), stream.finish()])


@settings(max_examples=300, deadline=None)
@given(TEXTS, CUTS)
def test_text_in_pieces_gives_what_whole_text_gives(text: str, cuts: list[int]) -> None:
    whole = streamed(text)
    assert streamed(text, tuple(cuts)) == whole
    assert streamed(text, tuple(range(len(text)))) == whole


def test_a_tag_that_is_cut_belongs_to_the_address_behind_it() -> None:
    text = "</b>ann@example.comivan.petrov+spam@mail.corp.example.org678901"
    assert {streamed(text, (cut,)) for cut in range(len(text))} == {"</b>ann@[EMAIL]"}


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_it_is_what_masking_the_whole_gives_where_nothing_is_too_long_to_be_held(text: str) -> None:
    assume(all(chain.reach - chain.start <= MASKING_HELD for chain in parted(text, "\n" * 9).ended))
    assert streamed(text) == masked(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_no_more_than_62_characters_are_held(text: str) -> None:
    stream = MaskedStream()
    for character in text:
        stream.feed(character)
        assert stream.held <= MASKING_HELD


def test_of_ordinary_words_only_the_last_is_held_and_that_until_it_has_ended() -> None:
    stream = MaskedStream()
    assert [stream.feed(piece) for piece in ("Zeb", "ras li", "ve, th", "ey")] == ["", "Zebras ", "live, ", ""]
    assert (stream.held, stream.pause(), stream.held) == (4, "they", 0)
    assert [stream.feed(piece) for piece in (" 3", " lions", ".")] == [" ", "3 ", ""]
    assert stream.finish() == "lions."


@pytest.mark.parametrize(
    "text",
    [
        "ИНН 7707083893, тел. 8 (916) 123-45-67 и 4012 8888 8888 1881.",
        "паспорт 4505, номер: 678901 выдан",
        "IBAN GB29 NWBK 6016 1331 9268 19 and de89 3704 0044 0532 0130 00",
        "Write to ivan.petrov@mail.example.com, or to ann@example.com.",
        "ИНН: " + ", ".join(["7707083893"] * 30),
        "карта 4 - 0 - 1 - 2 - 8 - 8 - 8 - 8 - 8 - 8 - 8 - 8 - 1 - 8 - 8 - 1 оплачено",
        f"{'a' * 40}@{'b' * 30}.{'c' * 40}.com is long",
    ],
)
def test_nothing_of_it_slips_out_in_parts(text: str) -> None:
    assert streamed(text, tuple(range(len(text)))) == masked(text) != text


def test_of_what_is_too_long_to_be_held_only_the_beginning_comes_out() -> None:
    card = "  - ".join("4012888888881881")
    spaced = f"карта {card} оплачено"
    assert masked(spaced) == "карта [CARD] оплачено"
    assert len(card) > MASKING_HELD
    shown = streamed(spaced, tuple(range(len(spaced))))
    assert "[CARD]" in shown
    assert sum(map(str.isdigit, shown)) <= 5
    address = f"{'a' * 100}@example.com"
    assert streamed(f"x {address}.") == f"x {'a' * 38}[EMAIL]."


@pytest.mark.parametrize("unit", ["1 ", "+7 ", "a@b.", "1\u200b", "<b>1</b>", "&#49;", "a1"])
def test_digits_take_time_in_step_with_their_number(unit: str) -> None:
    def seconds(size: int) -> float:
        started = process_time()
        streamed(unit * (size // len(unit)))
        return process_time() - started

    assert min(seconds(4_000) for _ in range(2)) < 4 * 3 * min(seconds(1_000) for _ in range(3)) + 0.05
