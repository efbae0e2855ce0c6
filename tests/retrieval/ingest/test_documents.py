"""Sources become documents: titles, tags, pieces, links, refusals."""

from __future__ import annotations

import unicodedata

import pytest

from retrieval.errors import BadInput
from retrieval.ingest.documents import read_document

ELEVEN = "\n\n".join(f"Абзац номер {number}. " + "Слова о гостевом пропуске. " * 8 for number in range(11))


@pytest.mark.parametrize(
    ("content", "media_type", "given", "title"),
    [
        ("---\ntitle: Из тегов\n---\n# Заголовок\n\nтекст", "text/markdown", None, "Из тегов"),
        ("---\ntitle: Из тегов\n---\n# Заголовок\n\nтекст", "text/markdown", "Данный", "Данный"),
        ("---\ntitle: 2024\n---\nтекст", "text/markdown", None, "2024"),
        ("---\ntitle: [a]\n---\n# Заголовок\n\nтекст", "text/markdown", None, "Заголовок"),
        ("текст\n\n## Второй\n\nещё", "text/markdown", None, "Второй"),
        ("Заголовок\nв две строки\n===\n\nтекст", "text/markdown", None, "Заголовок в две строки"),
        ("просто текст", "text/markdown", None, "отчёт.2024"),
        ("# не заголовок", "text/plain", "  ", "отчёт.2024"),
        ("<title>A &amp;\n B</title><h1>C</h1><p>d</p>", "text/html; charset=utf-8", None, "A & B"),
        ("<h1>C</h1><p>d</p>", "TEXT/HTML", None, "C"),
        ("# За\x00головок\n\nтекст", "text/markdown", None, "Заголовок"),
    ],
)
def test_the_title_is_the_given_one_else_the_best_the_content_has(
    content: str, media_type: str, given: str | None, title: str
) -> None:
    assert read_document("папка/отчёт.2024.md", content, media_type, given).title == title


def test_the_title_is_not_repeated_in_the_heading_path_and_another_first_heading_stays() -> None:
    content = "# Пропуск\n\nначало\n\n## Гость\n\nтекст"
    assert [piece.heading for piece in read_document("a", content).pieces] == ["", "Гость"]
    given = read_document("a", content, title="Другое")
    assert [piece.heading for piece in given.pieces] == ["Пропуск", "Пропуск › Гость"]


def test_front_matter_becomes_tags_and_given_tags_win() -> None:
    content = "---\ntags: [a, b]\ndate: 2024-05-01\nlang: ru\nscore: .nan\n---\nтекст"
    document = read_document("a", content, meta={"lang": "en", "n\x00ote": "x\x00y"})
    assert document.meta == {"tags": ["a", "b"], "date": "2024-05-01", "lang": "en", "score": "nan", "note": "xy"}
    assert [piece.text for piece in document.pieces] == ["текст"]


def test_line_ends_do_not_change_the_pieces() -> None:
    content = "# Шапка\n\n" + ELEVEN + "\n\n```\nкод\n\nещё\n```\n"
    read = [read_document("a", content.replace("\n", end)) for end in ("\n", "\r\n", "\r")]
    assert read[0].pieces == read[1].pieces == read[2].pieces
    assert len(read[0].pieces) > 2


def test_a_byte_order_mark_does_not_hide_the_first_heading() -> None:
    content = "# Заголовок\nтекст"
    marked, plain = read_document("a", "\ufeff" + content), read_document("a", content)
    assert marked.title == "Заголовок"
    assert marked == plain


def test_the_source_keeps_its_letters_and_pieces_are_composed() -> None:
    decomposed = unicodedata.normalize("NFD", "чай ёлка")
    document = read_document("a", decomposed + "\x00\r\n", "text/plain")
    assert document.text == decomposed + "\r\n"
    assert document.pieces[0].text == "чай ёлка"


@pytest.mark.parametrize("content", ["", " \n\t\r\n", "\ufeff", "\x00" * 1_000, "---\ntitle: a\n---\n", "<!-- x -->"])
def test_a_source_without_text_is_refused_as_empty(content: str) -> None:
    with pytest.raises(BadInput, match="empty"):
        read_document("a.md", content)


@pytest.mark.parametrize("content", ["# Заголовок", "# Заголовок\n\n---\n", "<h1>Заголовок</h1>"])
def test_a_title_alone_is_text_to_find(content: str) -> None:
    media_type = "text/html" if content.startswith("<") else "text/markdown"
    assert [piece.text for piece in read_document("a", content, media_type).pieces] == ["Заголовок"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("a", "x\ud800", "text/plain"), "lone surrogate"),
        (("a", "x", "image/png"), "media type 'image/png' is not read; use one of text/markdown"),
        (("a", "x", "text/plain", "\udfff"), "lone surrogate"),
        (("\x00.md", "x"), "NUL"),
        ((" ", "x"), "key is empty"),
        (("k" * 2_001, "x"), "2,001 characters"),
        (("a", "x" * (16 * 1024 * 1024 + 1), "text/plain"), "larger than 16 MB"),
    ],
)
def test_bad_input_is_refused_with_what_to_change(arguments: tuple[str, ...], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        read_document(*arguments)


@pytest.mark.parametrize(
    "key", ["../../x", "/abs", "C:\\x", "..%2fx", "https://kb.example.com/a%2Fb?x=1#y", "k" * 2_000, "a b/ё"]
)
def test_a_key_is_an_opaque_text(key: str) -> None:
    assert read_document(key, "текст").key == key


def test_identifiers_of_title_and_file_name_lead_to_the_first_piece() -> None:
    document = read_document("docs/request-files.md", "# Сбой ERR-7\n\nтекст ABC-12\n\n## Шаг\n\nверсия 1.2.3")
    assert [piece.identifiers for piece in document.pieces] == [("err-7", "request-files.md", "abc-12"), ("1.2.3",)]


def test_no_piece_has_a_word_that_word_search_cannot_keep() -> None:
    document = read_document("a", f"{'a' * 3_000} слово {'ж' * 1_024} {'ж' * 1_023}", "text/plain")
    words = [word for piece in document.pieces for word in piece.text.split()]
    assert sum(map(len, words)) == 3_000 + 5 + 1_024 + 1_023
    assert max(len(word.encode()) for word in words) <= 2_047


def test_links_of_a_document_point_to_keys() -> None:
    document = read_document("guide/start.md", "[a](../b.md#part) ![i](i.png) [c](https://example.com)")
    assert [(link.target_key, link.anchor) for link in document.links] == [("b.md", "part")]


def test_reading_twice_gives_the_same() -> None:
    assert read_document("a", ELEVEN) == read_document("a", ELEVEN)
