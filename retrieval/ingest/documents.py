"""Turns the content of a source into a document: title, meta tags, searchable pieces, links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from retrieval.errors import BadInput
from retrieval.identifiers import find_identifiers
from retrieval.ingest.html import SOFT_HYPHEN, read_html
from retrieval.ingest.links import Link, resolve_links
from retrieval.ingest.markdown import read_markdown
from retrieval.ingest.source_input import check_content, check_meta
from retrieval.ingest.splitting import Piece, Section, split
from retrieval.keys import check_key
from retrieval.personal.masking import masked
from retrieval.personal.unbroken import shortened
from retrieval.text import blank, clean, fold
from retrieval.tuning import TITLE_CHARACTERS, Tuning

MEDIA_TYPES = ("text/markdown", "text/plain", "text/html")
_KEY_CHARACTERS = Tuning().key_most
_LINE_END = re.compile(r"\r\n?")


@dataclass(frozen=True, slots=True)
class Document:
    """A source that is ready to be stored.

    `text` is the content as it came, without NUL and byte order mark.
    """

    key: str
    title: str
    text: str
    media_type: str
    meta: dict[str, Any]
    pieces: tuple[Piece, ...]
    links: tuple[Link, ...]


@dataclass(slots=True)
class _Reading:
    title: str | None
    first_heading: str | None
    meta: dict[str, Any]
    sections: list[Section]
    addresses: list[str]


def read_document(
    key: str,
    content: str,
    media_type: str = "text/markdown",
    title: str | None = None,
    meta: Mapping[str, Any] | None = None,
) -> Document:
    """Read one source; a given title and given tags win over those in the content.

    Raises `BadInput` for an unknown media type, a bad key, bad tags, a lone surrogate, an empty text, or one over 16 MB.
    """
    key = check_key(key, _KEY_CHARACTERS)
    kind = _checked_media_type(media_type)
    text = check_content(content).removeprefix("\ufeff")
    indexed = _LINE_END.sub("\n", clean(text)).replace(SOFT_HYPHEN, "")
    reading = _read(kind, indexed)
    heading = reading.first_heading
    chosen = next((line for line in map(one_line, (title, reading.title, heading)) if line), _stem(key))
    named = find_identifiers(masked(f"{chosen}\n{key.rpartition('/')[2]}"))
    pieces = split(_without_title(reading.sections, chosen), named, chosen)
    if not pieces and heading:
        pieces = split([Section((), heading)], named, chosen)
    if not pieces:
        raise BadInput("The content is empty: it has no text to search; leave the source out or send its text.")
    tags = check_meta(reading.meta | dict(meta or {}))
    return Document(key, chosen, text, kind, tags, pieces, resolve_links(key, reading.addresses))


def _checked_media_type(media_type: str) -> str:
    kind = media_type.partition(";")[0].strip().lower()
    if kind not in MEDIA_TYPES:
        raise BadInput(f"The media type {media_type[:100]!r} is not read; use one of {', '.join(MEDIA_TYPES)}.")
    return kind


def _read(kind: str, text: str) -> _Reading:
    if kind == "text/markdown":
        markdown = read_markdown(text)
        return _Reading(markdown.title, markdown.first_heading, markdown.meta, markdown.sections, markdown.addresses)
    if kind == "text/html":
        page = read_html(text)
        return _Reading(page.title, page.first_heading, {}, page.sections, page.addresses)
    return _Reading(None, None, {}, [Section((), text)], [])


def one_line(title: str | None) -> str:
    """A title as it is stored: one line, cut at 500 characters; empty when there is nothing to see."""
    line = " ".join(clean(title or "", "The title").split())
    if blank(line):
        return ""
    return shortened(line, TITLE_CHARACTERS)


def _stem(key: str) -> str:
    name = key.rstrip("/").rpartition("/")[2]
    stem = name.rpartition(".")[0] or name or key
    return shortened(stem, TITLE_CHARACTERS)


def _without_title(sections: list[Section], title: str) -> list[Section]:
    """The heading that repeats the title is not part of the path."""
    repeated = fold(title)
    return [
        Section(section.headings[1:], section.text) if section.headings and fold(section.headings[0]) == repeated else section
        for section in sections
    ]
