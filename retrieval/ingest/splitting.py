"""Cuts the sections of a document into pieces that fit the embedding model."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from semantic_text_splitter import MarkdownSplitter

from retrieval.identifiers import find_identifiers
from retrieval.personal.parts import masked_parts
from retrieval.personal.unbroken import Unbroken, shortened, unbroken
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


def split(sections: Iterable[Section], document_identifiers: tuple[str, ...] = (), title: str = "") -> tuple[Piece, ...]:
    """The pieces of a document in order; none is blank, each has at most 1,200 characters, and no cut goes through personal data.

    A heading with nothing under it, not even another heading, is a piece of its own with the heading as text.
    `document_identifiers` (of title and key) go to the first piece.
    """
    texts = [
        (path, text)
        for section in _with_text(list(sections))
        for path in (HEADING_SEPARATOR.join(shortened(heading, HEADING_CHARACTERS) for heading in section.headings),)
        for text in _split_text(section.text, unbroken(section.text, "\n".join(part for part in (title, path) if part)))
    ]
    return tuple(
        Piece(ordinal, path, text, _identifiers(path, text, document_identifiers if ordinal == 0 else ()))
        for ordinal, (path, text) in enumerate(texts)
    )


def _identifiers(path: str, text: str, more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*more, *find_identifiers("\n".join(masked_parts(path, text))))))


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


def _split_text(text: str, whole: Unbroken) -> Iterator[str]:
    for start, end in _windows(text, whole):
        for first, last in _split_window(text, start, end, whole):
            if not blank(piece := text[first:last]):
                yield piece


def _split_window(text: str, start: int, end: int, whole: Unbroken) -> Iterator[tuple[int, int]]:
    """About equal pieces: filled to the brim, they would leave a last one of a few words."""
    window = text[start:end]
    spaces = sum(1 for _ in _SPACE.finditer(window))
    most = DENSE_PIECE_CHARACTERS if spaces < len(window) * SPACES_OF_DENSE_TEXT else PIECE_CHARACTERS
    if len(window) <= most:
        yield _trimmed(text, start, end)
        return
    share = len(window) / math.ceil(len(window) / most)
    chunks = MarkdownSplitter((math.floor(share), min(most, math.ceil(share * _PLAY)))).chunk_indices(window)
    for first, last in _moved([(start + at, start + at + len(chunk)) for at, chunk in chunks], whole):
        if last - first <= most:
            yield first, last
        else:
            yield from _split_window(text, *_trimmed(text, first, last), whole)


def _moved(pieces: list[tuple[int, int]], whole: Unbroken) -> Iterator[tuple[int, int]]:
    """The pieces, with each cut that would go through what stays whole moved before it, or behind where it begins a piece."""
    first, last = pieces[0]
    for start, end in pieces[1:]:
        stretch = whole.around(start)
        if stretch is None:
            if start > first:
                yield first, last
                first = start
        elif stretch[0] > first:
            yield first, stretch[0]
            first = stretch[0]
        elif stretch[1] < end:
            yield first, stretch[1]
            first = stretch[1]
        last = max(last, end)
    yield first, last


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without line ends before, and spaces behind."""
    piece = text[start:end].rstrip()
    return start + len(piece) - len(piece.lstrip("\n")), start + len(piece)


def _windows(text: str, whole: Unbroken) -> Iterator[tuple[int, int]]:
    """Stretches of bounded length that cover the text, cut at a blank line, a line, a space, or anywhere, in this order."""
    start = 0
    while len(text) - start > SPLIT_WINDOW_CHARACTERS:
        end = start + SPLIT_WINDOW_CHARACTERS
        middle = start + SPLIT_WINDOW_CHARACTERS // 2
        cuts = (text.rfind(mark, middle, end) + len(mark) for mark in ("\n\n", "\n", ". ", " "))
        cut = next((cut for cut in cuts if cut > middle), end)
        stretch = whole.around(cut)
        cut = stretch[0] if stretch else cut
        yield start, cut
        start = cut
    yield start, len(text)
