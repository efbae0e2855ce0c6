"""The one function of a fragment that gives what is searched by words and what is embedded."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.lexical_text import indexed_text, lexical_text
from retrieval.tuning import TITLE_WEIGHT


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the outside sees of a fragment's text: `embedded` goes to the model, `words` becomes lexemes."""

    embedded: str
    words: str


def indexed(title: str, heading: str, text: str) -> Indexed:
    """Both forms of a fragment; nothing else of it may reach the index or a provider."""
    # A word of the title weighs as if it stood there several times: titles are short and say what a text is about.
    worded = indexed_text("\n".join([title] * TITLE_WEIGHT), heading, text)
    return Indexed(indexed_text(title, heading, text), lexical_text(worded))
