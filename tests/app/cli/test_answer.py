"""The two lines that show why a fragment was found."""

from __future__ import annotations

from app.cli.answer import excerpt
from retrieval.highlights import Highlight, TextField
from retrieval.text import utf16_offsets

WIDTH = 40


def marks(text: str, *words: str) -> list[Highlight]:
    places = [(text.index(word), text.index(word) + len(word)) for word in words]
    return [Highlight(TextField.TEXT, *utf16_offsets(text, place)) for place in places]


def bold(text: str, *words: str) -> list[str]:
    """What stands in bold on the lines."""
    lines = excerpt(text, marks(text, *words), WIDTH)
    return [line.plain[span.start : span.end] for line in lines for span in line.spans]


def test_a_short_text_is_shown_whole_with_its_words_in_bold() -> None:
    (line,) = excerpt("Upload a file.", marks("Upload a file.", "file"), WIDTH)
    assert line.plain == "Upload a file."
    assert bold("Upload a file.", "file") == ["file"]


def test_letters_outside_the_basic_plane_do_not_move_the_bold_words() -> None:
    assert bold("😀😀 загрузить 😀 файл", "загрузить", "файл") == ["загрузить", "файл"]


def test_a_word_far_inside_a_long_text_is_on_the_first_two_lines() -> None:
    text = "nothing here " * 50 + "the needle is here " + "nothing there " * 50
    lines = excerpt(text, marks(text, "needle"), WIDTH)
    assert "needle" in "".join(line.plain for line in lines)
    assert bold(text, "needle") == ["needle"]


def test_lines_end_between_words_and_are_not_too_long() -> None:
    text = "several words in a row that are cut " * 5
    lines = [line.plain for line in excerpt(text, [], WIDTH)]
    assert len(lines) == 2
    assert all(len(line) <= WIDTH and line.endswith(" ") for line in lines)


def test_a_word_without_end_is_cut_anyway() -> None:
    assert [len(line.plain) for line in excerpt("x" * 500, [], WIDTH)] == [WIDTH, WIDTH]


def test_a_text_of_spaces_shows_no_line() -> None:
    assert excerpt("\n\n  ", [], WIDTH) == []
