"""Cuts the sections of a document into pieces that fit the embedding model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from semantic_text_splitter import MarkdownSplitter

from retrieval.identifiers import find_identifiers
from retrieval.personal.masking import masked
from retrieval.text import blank
from retrieval.tuning import (
    DENSE_PIECE_CHARACTERS,
    HEADING_CHARACTERS,
    PIECE_CHARACTERS,
    SPACES_OF_DENSE_TEXT,
    SPLIT_WINDOW_CHARACTERS,
)

HEADING_SEPARATOR = " › "
_SPACE = re.compile(r"\s")
_PLAY = 1.2  # how far a piece may pass the equal share to end with a paragraph or a sentence


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of text under its headings, outermost first, without the document's title."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """A searchable piece: its place in the document from 0, the heading path, the text, the identifiers of both."""

    ordinal: int
    heading: str
    text: str
    identifiers: tuple[str, ...]


def split(sections: Iterable[Section], document_identifiers: tuple[str, ...] = ()) -> tuple[Piece, ...]:
    """The pieces of a document in order; none is blank, and each has at most 1,200 characters.

    A heading with nothing under it, not even another heading, is a piece of its own with the heading as text.
    `document_identifiers` (of title and key) go to the first piece.
    """
    texts = [(section.headings, text) for section in _with_text(list(sections)) for text in _split_text(section.text)]
    return tuple(
        Piece(ordinal, path, text, _identifiers(path, text, document_identifiers if ordinal == 0 else ()))
        for ordinal, (headings, text) in enumerate(texts)
        for path in (HEADING_SEPARATOR.join(map(_shortened, headings)),)
    )


def _identifiers(path: str, text: str, more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*more, *find_identifiers(masked(f"{path}\n{text}")))))


def _with_text(sections: list[Section]) -> Iterator[Section]:
    for index, section in enumerate(sections):
        text = section.text
        if section.headings and blank(text):
            following = sections[index + 1].headings if index + 1 < len(sections) else ()
            if len(following) > len(section.headings) and following[: len(section.headings)] == section.headings:
                continue  # the next piece carries this heading in its path
            text = section.headings[-1]
        elif section.headings and len(section.headings[-1]) > HEADING_CHARACTERS:
            text = f"{section.headings[-1]}\n\n{text}"
        yield Section(section.headings, text)


def _shortened(heading: str) -> str:
    return heading if len(heading) <= HEADING_CHARACTERS else heading[: HEADING_CHARACTERS - 1].rstrip() + "…"


def _split_text(text: str) -> Iterator[str]:
    for window in _windows(text):
        for piece in _split_window(window):
            if not blank(piece):
                yield piece


def _split_window(window: str) -> list[str]:
    """About equal pieces: filled to the brim, they would leave a last one of a few words."""
    spaces = sum(1 for _ in _SPACE.finditer(window))
    most = DENSE_PIECE_CHARACTERS if spaces < len(window) * SPACES_OF_DENSE_TEXT else PIECE_CHARACTERS
    if len(window) <= most:
        return [window.strip("\n").rstrip()]
    share = len(window) / math.ceil(len(window) / most)
    return MarkdownSplitter((math.floor(share), min(most, math.ceil(share * _PLAY)))).chunks(window)


def _windows(text: str) -> Iterator[str]:
    """Stretches of bounded length that cover the text, cut at a blank line, a line, a space, or anywhere, in this order."""
    start = 0
    while len(text) - start > SPLIT_WINDOW_CHARACTERS:
        end = start + SPLIT_WINDOW_CHARACTERS
        middle = start + SPLIT_WINDOW_CHARACTERS // 2
        cuts = (text.rfind(mark, middle, end) + len(mark) for mark in ("\n\n", "\n", ". ", " "))
        cut = next((cut for cut in cuts if cut > middle), end)
        yield text[start:cut]
        start = cut
    yield text[start:]
