"""The one function of a fragment that gives what is searched by words and what is embedded."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.lexical_text import indexed_text, lexical_text


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the outside sees of a fragment's text: `embedded` goes to the model, `words` becomes lexemes."""

    embedded: str
    words: str


def indexed(title: str, heading: str, text: str) -> Indexed:
    """Both forms of a fragment; nothing else of it may reach the index or a provider."""
    whole = indexed_text(title, heading, text)
    return Indexed(whole, lexical_text(whole))
