"""The one function of a fragment that gives what is searched by words and what is embedded: made from the masked text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from retrieval.lexical_text import indexed_text, lexical_text
from retrieval.personal.masking import personal_spans
from retrieval.personal.parts import masked_parts, spans_behind
from retrieval.tuning import TITLE_WEIGHT


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the outside sees of a fragment's text: `embedded` goes to the model, `words` becomes lexemes."""

    embedded: str
    words: str


def indexed(title: str, heading: str, text: str) -> Indexed:
    """Both forms of a fragment; nothing else of it may reach the index or a provider. Personal data are in neither."""
    title, heading, text = masked_parts(title, heading, text)
    # A word of the title weighs as if it stood there several times: titles are short and say what a text is about.
    worded = indexed_text("\n".join([title] * TITLE_WEIGHT), heading, text)
    return Indexed(indexed_text(title, heading, text), lexical_text(worded))


def findings_of(title: str, content: str, texts: Iterable[str]) -> list[dict[str, str | int]]:
    """The kinds of personal data in a source and how many of each: in its content, or in its fragments when there are more."""
    whole, parts = Counter(span.kind.value for span in spans_behind(title, content)), kinds_in(texts)
    return [{"kind": kind, "count": count} for kind, count in sorted((whole | parts).items())]


def kinds_in(texts: Iterable[str]) -> Counter[str]:
    """How many spans of each kind are in some texts."""
    return Counter(span.kind.value for text in texts for span in personal_spans(text))
