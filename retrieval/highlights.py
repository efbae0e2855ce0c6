"""Finds where the words of a question stand in the fields of a fragment, in UTF-16 code units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from retrieval.lexical_text import lexical_text
from retrieval.primitives.lexical import Words
from retrieval.reader import Reader
from retrieval.records import Fragment
from retrieval.text import utf16_offsets

START, STOP = "\x01", "\x02"


class TextField(StrEnum):
    """A field of a fragment."""

    TITLE = "TITLE"
    HEADING = "HEADING"
    TEXT = "TEXT"


@dataclass(frozen=True, slots=True)
class Highlight:
    """A matching word: [start, end) in UTF-16 code units of the field."""

    field: TextField
    start: int
    end: int


async def highlights_of(reader: Reader, words: Words, fragments: Sequence[Fragment]) -> Mapping[tuple[int, int], list[Highlight]]:
    """The highlights of each fragment, all in one statement."""
    found: dict[tuple[int, int], list[Highlight]] = {(f.ns, f.fragment_id): [] for f in fragments}
    if not words.words or not fragments:
        return found
    fields = [(f, field, text) for f in fragments for field, text in fields_of(f) if text]
    query = " | ".join(word.query for word in words.words)
    rows = await reader.rows("highlights", [lexical_text(text) for _, _, text in fields], query)
    for row in sorted(rows, key=lambda row: row["ordinal"]):
        fragment, field, text = fields[row["ordinal"] - 1]
        found[fragment.ns, fragment.fragment_id] += [Highlight(field, start, end) for start, end in spans(row["marked"], text)]
    return found


def fields_of(fragment: Fragment) -> list[tuple[TextField, str]]:
    """The fields that are searched, in their order."""
    return [(TextField.TITLE, fragment.title), (TextField.HEADING, fragment.heading), (TextField.TEXT, fragment.text)]


def spans(marked: str, text: str) -> list[tuple[int, int]]:
    """The marked places of a text, in UTF-16 code units of the text without marks.

    >>> spans("a \\x01word\\x02 here", "a word here")
    [(2, 6)]
    """
    offsets: list[int] = []
    passed = 0
    for position, character in enumerate(marked):
        if character in (START, STOP):
            offsets.append(position - passed)
            passed += 1
    if len(marked) - passed != len(text):
        return []  # the database left a character out: no mark is better than a wrong one
    units = utf16_offsets(text, offsets)
    return list(zip(units[::2], units[1::2], strict=True))
