"""A rule: where it looks, what it makes of what it finds, and the kind that it reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import re2

from retrieval.tuning import UNTRUSTED_PATTERN_BYTES, UNTRUSTED_PHRASES_BYTES


class Kind(StrEnum):
    """What was changed in a stored text."""

    INVISIBLE = "invisible"
    """Invisible characters were removed, or line ends made LF."""
    CHAT_TOKEN = "chat_token"
    """A control token of a chat model was made plain text."""
    ROLE_HEADER = "role_header"
    """A line that looked like a turn of a chat was made an ordinary line."""
    HEADING = "heading"
    """A heading that looked like one of ours was escaped."""
    LINK = "link"
    """An image or a link that could carry data away was made plain text."""
    END_MARK = "end_mark"
    """A line that looked like the end or the beginning of a document was quoted."""
    OVERRIDE = "override"
    """A phrase that gives orders to a model was quoted."""


def compiled(pattern: str) -> Any:
    """The pattern, matched in time that is linear in the text."""
    options = re2.Options()
    options.max_mem = UNTRUSTED_PATTERN_BYTES
    options.log_errors = False
    return re2.compile(pattern, options=options)


def compiled_bytes(pattern: str) -> Any:
    """The same over single bytes; the pattern is ASCII."""
    options = re2.Options()
    options.max_mem = UNTRUSTED_PHRASES_BYTES
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile(pattern.encode("ascii"), options=options)


@dataclass(frozen=True, slots=True)
class Rule:
    """Finds by `pattern` (RE2) in a form of the text with look-alikes folded, and has `replace` make the safe piece.

    `replace` is given the text and the match (its places are those of the text) and answers None to leave the piece alone.
    """

    kind: Kind
    pattern: str
    replace: Callable[[str, Any], str | None]
    matcher: Any = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "matcher", compiled(self.pattern))

    def apply(self, text: str, seen: str) -> str:
        """The text with every piece replaced; the same text when nothing was found."""
        parts: list[str] = []
        end = 0
        for found in self.matcher.finditer(seen):
            safe = self.replace(text, found)
            if safe is not None:
                parts += [text[end : found.start()], safe]
                end = found.end()
        return "".join([*parts, text[end:]]) if parts else text


FULL_WIDTH = str.maketrans("<>[]|():", "＜＞［］｜（）：")


def widened(text: str, found: Any) -> str:
    """The piece with its brackets and colons as their full-width look-alikes: it reads the same and is no mark any more."""
    return text[found.start() : found.end()].translate(FULL_WIDTH)


QUOTES = (("⟦цитата: ", "⟧"), ("⟦quoted: ", "⟧"))
"""What a quoted phrase stands between, in Russian and in any other language."""


def quoted(text: str, start: int, end: int) -> str | None:
    """The piece in quotes that say what it is; None when it stands in such quotes already."""
    for before, after in QUOTES:
        if text.startswith(after, end) and text.startswith(before, start - len(before)) and start >= len(before):
            return None
    piece = text[start:end]
    cyrillic = sum("а" <= letter <= "ё" for letter in piece.lower())
    before, after = QUOTES[0 if cyrillic * 2 > sum(map(str.isalpha, piece)) else 1]
    return before + piece + after
