"""No cut of a long text goes through somebody's number: its fragments, its content and its index tell no part of one."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from html import escape

import pytest

from retrieval.identifiers import find_identifiers
from retrieval.ingest.documents import Document, read_document
from retrieval.ingest.indexing import indexed
from retrieval.personal.masking import masked, personal_spans
from retrieval.personal.parts import masked_parts
from retrieval.tuning import PIECE_CHARACTERS, SPLIT_WINDOW_CHARACTERS

MEDIA_TYPES = ("text/plain", "text/markdown", "text/html")
NUMBERS = {
    "phone": "8 (916) 123-45-67", "abroad": "+49 30 901820", "card": "4012 8888 8888 1881", "inn": "ИНН 500100732259",
    "ogrn": "ОГРН 1027700132195", "snils": "112-233-445 95", "passport": "паспорт 45 05 № 678901",
    "iban": "DE89 3704 0044 0532 0130 00", "mail": "anna.kuznetsova@example.com", "local": "тел. 765-43-21",
}  # fmt: skip
WORDS = ("договор", "доставка", "оплата", "служба", "в", "срок", "отчёт", "и", "клиент", "поставка", "не", "позднее", "письмо")


def prose(chance: random.Random, length: int) -> str:
    """Text without digits of about a length."""
    words: list[str] = []
    while length > 0:
        words.append(chance.choice(WORDS) + ("." if chance.random() < 0.1 else ""))
        length -= len(words[-1]) + 1
    return " ".join(words)


def parts_of(number: str) -> list[str]:
    """What may not be read of a number: every stretch of its digits that is most of it, or its address."""
    if "@" in number:
        return [number.partition("@")[0]]
    digits = re.sub(r"\D", "", number)
    size = max(5, len(digits) // 2)
    return [digits[at : at + size] for at in range(len(digits) - size + 1)]


def told(text: str, number: str) -> list[str]:
    """The parts of a number that a text tells whoever reads it, markup or not."""
    seen = text if "@" in number else re.sub(r"\D", "", re.sub(r"&#?\w+;|<[^<>]*>", "", text))
    return [part for part in parts_of(number) if part in seen]


def everything_read(document: Document) -> dict[str, str]:
    """What a caller without the right, the index and the provider of embeddings read of a document."""
    shown = {"content": masked(document.text), "title": masked(document.title)}
    for piece in document.pieces:
        title, heading, text = masked_parts(document.title, piece.heading, piece.text)
        form = indexed(document.title, piece.heading, piece.text)
        fields = {"title": title, "heading": heading, "text": text, "words": form.words, "embedded": form.embedded}
        shown |= {f"{name} {piece.ordinal}": value for name, value in fields.items()}
        shown[f"identifiers {piece.ordinal}"] = "\n".join(piece.identifiers)
    return shown


def leaks(content: str, media_type: str, number: str) -> dict[str, list[str]]:
    """The fields that tell a part of a number."""
    read = everything_read(read_document("a", content, media_type))
    return {name: parts for name, text in read.items() if (parts := told(text, number))}


def test_the_check_sees_half_a_number() -> None:
    assert told("до 8 (916) 12", NUMBERS["phone"])
    assert told("8 (916) <b>123</b>", NUMBERS["phone"])
    assert not told("[PHONE] 12 45", NUMBERS["phone"])


def lines(chance: random.Random, length: int, line: str) -> str:
    """Lines without digits of about a length, `@` in each of them some words."""
    return "".join(line.replace("@", prose(chance, 50)) + "\n" for _ in range(length // (50 + len(line))))


def around(lead: str, line: str) -> Callable[[random.Random, str, int, int], str]:
    """What makes a text of such lines with a number in one of them."""

    def made(chance: random.Random, number: str, before: int, after: int) -> str:
        return lead + lines(chance, before, line) + line.replace("@", number) + "\n" + lines(chance, after, line)

    return made


def paragraph(chance: random.Random, number: str, before: int, after: int) -> str:
    """One line of words with a number in it."""
    return f"{prose(chance, before)} {number} {prose(chance, after)}"


SHAPES: dict[str, Callable[[random.Random, str, int, int], str]] = {
    "a paragraph": paragraph,
    "hard-wrapped lines": lambda *given: wrapped(paragraph(*given)),
    "a list": around("", "- @"),
    "a table": around("| кто | что |\n| --- | --- |\n", "| клиент | @ |"),
    "a conversation": around("", "Анна: @\n"),
    "JSON Lines": around("", '{"note": "@"}'),
    "no spaces": lambda chance, number, before, after: f"{'щ' * before} {number} {'ж' * after}",
    "a heading": lambda chance, number, before, after: (
        f"# {paragraph(chance, number, before % 500, 90)}\n\n{prose(chance, after)}"
    ),
    "the whole heading": lambda chance, number, before, after: (
        f"{prose(chance, before)}\n\n## {number}\n\n{prose(chance, after)}"
    ),
}


def wrapped(text: str) -> str:
    """Lines of 50 characters, cut at spaces wherever they are."""
    return re.sub(r"(.{30,50}) ", r"\1\n", text)


def as_html(text: str, chance: random.Random, number: str) -> str:
    """A page of a text: its paragraphs, with tags and entities inside the number."""
    inside = "".join(marked(sign, chance) for sign in number)
    return "".join(f"<p>{escape(part)}</p>\n" for part in text.split("\n\n")).replace(escape(number), inside)


def marked(sign: str, chance: random.Random) -> str:
    """A character as some page writes it."""
    if sign == " ":
        return chance.choice((" ", "&nbsp;", "&#160;", "\n    "))
    if not sign.isalnum() and sign != "@":
        return sign
    forms = ("{}", "{}", "<b>{}</b>", '<span class="ab">{}</span>', f"&#{ord(sign)};", f"&#x{ord(sign):x};", "{}&shy;", "{}<wbr>")
    return chance.choice((*forms, "{}\u200b", "{}\xad")).replace("{}", sign)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.long)])
def test_no_number_at_a_random_place_is_told_in_part(shape: str, count: int) -> None:
    chance = random.Random(f"{shape} 7")
    edges = [PIECE_CHARACTERS, PIECE_CHARACTERS // 2, SPLIT_WINDOW_CHARACTERS]
    for at in range(count):
        number = chance.choice(list(NUMBERS.values()))
        before = chance.choice((chance.randrange(3_000), chance.choice(edges) - chance.randrange(40)))
        text = SHAPES[shape](chance, number, before, chance.randrange(1_500))
        media_type = MEDIA_TYPES[at % 3]
        content = as_html(text, chance, number) if media_type == "text/html" else text
        found = leaks(content, media_type, number)
        assert found == {}, (number, media_type, content)


@pytest.mark.parametrize(
    "written",
    [
        "8 (916) <b>123</b>-45-67", "8&nbsp;(916)&#160;123-45-67", "8 (916) 12\u00ad3-45-67", "8 (916) 1&shy;23-45-67",
        "<td>8 (916)</td><td>123-45-67</td>", "8 (916)\n        123-45-67", "8 (916) 123<!-- home -->-45-67",
        "&#56; (916) 123-45-67", '<a href="tel:%2B7%20916%20123%2045%2067">звонить</a>',
    ],
)  # fmt: skip
def test_a_number_with_markup_inside_is_masked_in_content_and_fragments(written: str) -> None:
    content = f"<p>Звоните нам</p><p>{written}</p>"
    assert leaks(content, "text/html", NUMBERS["phone"]) == {}
    assert "[PHONE]" in masked(content)


@pytest.mark.parametrize(
    "written",
    [
        "ann&#64;example.com", "ann&commat;example&#46;com", "ann<b>@</b>example.com", "ann@exam<wbr>ple.com",
        '<a href="mailto:ann%40example.com">письмо</a>', "<code>ann@</code><i>example.com</i>", "ann&amp;#64;example.com",
    ],
)  # fmt: skip
def test_an_address_written_in_html_is_masked_in_content_and_fragments(written: str) -> None:
    content = f"<h1>Контакты</h1><p>{written}</p>"
    read = everything_read(read_document("a", content, "text/html"))
    shown = "\n".join(read.values())
    assert "[EMAIL]" in read["content"]
    assert not any(part in re.sub(r"<[^<>]*>", "", shown) for part in ("ann@", "ann&", "ann%"))


@pytest.mark.parametrize(
    "written", ["8 (916) **123**-45-67", "8 \\(916\\) 123\\-45\\-67", "> 8 (916)\n> 123-45-67", "- 8 (916)\n      123-45-67"]
)
def test_a_number_with_markdown_inside_is_masked(written: str) -> None:
    assert leaks(f"# Контакты\n\n{written}\n", "text/markdown", NUMBERS["phone"]) == {}


def test_tags_around_and_inside_a_number_stay_in_the_content() -> None:
    assert masked("<p>8 (916) <b>123</b>-45-67 или <i>ann@example.com</i></p>") == "<p>[PHONE]<b></b> или <i>[EMAIL]</i></p>"


@pytest.mark.parametrize(
    ("title", "text", "shown"),
    [
        ("Паспорт", "4505 678901 выдан", ("Паспорт", "[PASSPORT] выдан")),
        ("Звоните 8 (916)", "123-45-67 до шести", ("Звоните [PHONE]", "[PHONE] до шести")),
        ("Заказ", "ИНН 7707083893", ("Заказ", "ИНН [INN]")),
        ("Заказ", "40128888 88881881", ("Заказ", "[CARD]")),
    ],
)
def test_fields_that_are_read_together_are_masked_together(title: str, text: str, shown: tuple[str, str]) -> None:
    assert masked_parts(title, text) == shown
    assert masked_parts(*shown) == shown


def test_a_title_is_cut_before_a_number_and_not_through_it() -> None:
    for length in range(476, 500):
        document = read_document("a", f"# {'щ' * length} {NUMBERS['card']} конец\n\nТекст", "text/markdown")
        assert document.title.endswith("…")
        assert not told(document.title, NUMBERS["card"]) or personal_spans(document.title)


@pytest.mark.parametrize("unit", ["1", "@", "+7", "тел. ", "<b>1</b>", "&#49;", "тел. 123-45-67, ", "*1", "DE89 "])
def test_reading_and_masking_take_time_in_step_with_the_length(unit: str) -> None:
    def seconds(size: int) -> float:
        content, times = unit * (size // len(unit)) + " конец", []
        for _ in range(2):
            started = time.process_time()
            document = read_document("a", content, "text/html" if "<" in unit else "text/plain")
            masked(document.text)
            times.append(time.process_time() - started)
        return min(times)

    assert seconds(32_000) < 8 * 3 * seconds(4_000) + 0.1


def test_identifiers_of_a_piece_hold_no_number() -> None:
    assert find_identifiers("inn7707083893")
    (piece,) = read_document("a", "Клиент inn7707083893", "text/plain").pieces
    assert piece.identifiers == ()
