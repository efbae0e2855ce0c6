"""Makes stored text harmless for a prompt: it stays readable, and cannot pass for our own structure or for a chat turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from retrieval.untrusted import invisible, links, lookalikes, phrases, structure
from retrieval.untrusted.rule import Kind, compiled

__all__ = ["Kind", "Neutralized", "examine", "examine_line", "neutralize", "neutralize_line", "quote_orders"]

_RULES = (*structure.RULES, *links.RULES, *phrases.RULES)
# One pass over a text tells the ordinary ones, that need nothing, from the rest.
_SUSPECT = compiled(
    "|".join(f"(?:{pattern})" for pattern in (invisible.SUSPECT, links.SUSPECT, *(rule.pattern for rule in structure.RULES)))
)
_LOOKALIKE = compiled(lookalikes.SUSPECT)
_ADDRESS = compiled(links.SUSPECT_ADDRESS)
_REMEMBERED = 2_048
"""Texts whose safe form a process remembers."""
_REMEMBERED_MOST = 2_000
"""Longest text that is remembered, in characters."""


@dataclass(frozen=True, slots=True)
class Neutralized:
    """A text that is safe inside a prompt, and what was done to the stored text."""

    text: str
    kinds: frozenset[Kind] = frozenset()

    @property
    def changed(self) -> bool:
        """True when the safe text differs from the stored text in anything, be it one invisible character."""
        return bool(self.kinds)

    @property
    def flagged(self) -> bool:
        """True when something was found that is more than invisible characters."""
        return bool(self.kinds - {Kind.INVISIBLE})


def neutralize(text: str) -> str:
    """The safe form of a stored text."""
    return examine(text).text


def neutralize_line(text: str) -> str:
    """The safe form of a title, a key or a path: one line, without what could start a section."""
    return examine_line(text).text


def quote_orders(text: str) -> str:
    """A text put together from safe parts, with the orders quoted that only the parts together give; its structure stays."""
    for rule in phrases.RULES:
        text = rule.apply(text, lookalikes.folded(text) if _LOOKALIKE.search(text) is not None else text)
    return text


def examine(text: str) -> Neutralized:
    """The safe form of a stored text with the kinds of what was changed; of a safe text that text, with none."""
    return _remembered(text) if len(text) <= _REMEMBERED_MOST else _examined(text)


def examine_line(text: str) -> Neutralized:
    """The safe form of one line, as `examine`; line breaks and runs of spaces that become one space are no change."""
    found = examine(" ".join(text.split()))
    return Neutralized(" ".join(found.text.split()), found.kinds)


def _examined(text: str) -> Neutralized:
    if not _suspect(text):
        # Addresses are in many ordinary texts; where nothing else is suspect, no other rule can find anything.
        addressed = links.RULES[0].apply(text, text) if "//" in text and _ADDRESS.search(text) is not None else text
        if addressed == text:
            return Neutralized(text)
    safe = invisible.strip_invisible(text)
    kinds = set() if safe == text else {Kind.INVISIBLE}
    for kind, changed in _changes(safe):
        safe = changed
        kinds.add(kind)
    return Neutralized(safe, frozenset(kinds))


_remembered = lru_cache(maxsize=_REMEMBERED)(_examined)


def _suspect(text: str) -> bool:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        return True
    if not text.isascii() and _LOOKALIKE.search(data) is not None:
        return True
    return _SUSPECT.search(data) is not None or any(matcher.search(data) is not None for matcher in phrases.MATCHERS)


def _changes(text: str) -> Iterator[tuple[Kind, str]]:
    """Each kind of change with the text after it."""
    folds = _LOOKALIKE.search(text) is not None
    seen = lookalikes.folded(text) if folds else text
    for rule in _RULES:
        changed = rule.apply(text, seen)
        if changed != text:
            text = changed
            seen = lookalikes.folded(text) if folds else text
            yield rule.kind, text
