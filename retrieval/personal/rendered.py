"""Reads a text as a page shows it: entities and escapes decoded, tags and emphasis gone, places kept."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape

_INLINE = (
    r"a|abbr|acronym|b|bdi|bdo|big|cite|code|data|del|dfn|em|font|i|ins|kbd|label|mark|q|s|samp|small|span|strike|strong|sub|sup|time|tt"
    r"|u|var|wbr"
)
_CODES = r"&(?:amp;){0,3}(?:#[0-9]{1,20}|#x[0-9a-f]{1,20}|[a-z][a-z0-9]{1,30});?|%(?:40|2[0-9bde]|3[0-9])"
_ENCODED = re.compile(_CODES, re.IGNORECASE)
_MARKUP = re.compile(
    r"(?P<inline></?(?:" + _INLINE + r")(?:[\s/][^<>]{0,2000})?>|<!--[^<>]{0,2000}-->)"
    r"|(?P<cell></?t[dh](?:[\s/][^<>]{0,2000})?>)"
    r"|(?P<block></?[a-z][a-z0-9]{0,20}(?:[\s/][^<>]{0,2000})?>)"
    r"|(?P<encoded>" + _CODES + r")"
    r"|(?P<escape>\\(?=[!-/:-@\[-`{-~]))"
    r"|(?P<emphasis>(?P<mark>\*{1,3}|_{1,3}|`|~~)[\d+(][\d ().+\-]{0,30}(?P=mark))"
    r"|(?P<around>(?<=@)[*`]{1,3}|[*`]{1,3}(?=@))"
    r"|(?P<line>(?<![ \t])[ \t]*+\n(?:(?:[ \t]*+>)++[ \t]*+|[ \t]++))",
    re.IGNORECASE,
)
_SIGNS_OF_ADDRESSES = ("@", "&", "%40")
"""One of these is in all that parts an address."""
_TAGS = ("inline", "cell", "block")
_TAG = re.compile(r"</?[a-z][^<>]{0,2000}>|<!--[^<>]{0,2000}-->", re.IGNORECASE)
_CLOSING_TAG = re.compile(r"</[a-z]|<br", re.IGNORECASE)
_SPACES = re.compile(r"\s{2,}")
# Markup that could part the digits of a number, or the signs of an address: elsewhere it changes nothing that is looked for.
_SEVEN_DIGITS = re.compile(r"(?:\d\D*+){7}")
_PARTED_NUMBER = re.compile(r"&#|\d[ ()+.\-/]{0,3}(?:[<\\*`_~%&]|\n[ \t>])|\d[\s()+.\-/]{4}")
_PARTED_ADDRESS = re.compile(r"&#|%40|&commat|&amp;|@[^\s@<&\\*`]{0,64}[<&\\*`]|[>;\\*`][^\s>;\\*`]{0,32}@", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A text as it is shown, and what of the original each piece that differs stands for."""

    text: str
    changes: tuple[tuple[int, int, int, int], ...]
    """Start and end in what is shown, start and end in the original; in order."""

    def place(self, at: int, *, end: bool = False) -> int:
        """Where a place of what is shown is in the original; an end stands before the markup behind it."""
        sign = at - 1 if end else at
        number = bisect_right(self.changes, (sign, 1 << 60))
        if number == 0:
            return at
        _, shown_end, start, stop = self.changes[number - 1]
        if sign < shown_end:
            return stop if end else start
        return stop + at - shown_end


def renderings(text: str) -> Iterator[Rendered]:
    """What a page shows of a text, and what stands in its tags, decoded, each in time linear in it.

    Nothing where no number or address could look otherwise than it is written.
    """
    if not may_differ(text):
        return
    changes = [(found.lastgroup, change) for found in _MARKUP.finditer(text) for change in _changes(found)]
    spaces = [(*one.span(), " ") for one in _SPACES.finditer(text)] if _CLOSING_TAG.search(text) else []
    # A page shows a run of spaces and line ends as one space.
    yield _made(text, sorted([change for _, change in changes] + spaces, key=lambda change: (change[0], -change[1])))
    if any(_ENCODED.search(text, start, end) for kind, (start, end, _) in changes if kind in _TAGS):
        yield _made(text, [(*one.span(), _decoded(one[0])) for one in _ENCODED.finditer(text)])


def as_shown(text: str) -> str:
    """What a page shows of a text."""
    return next((shown.text for shown in renderings(text)), text)


def may_differ(text: str) -> bool:
    """Whether markup stands where it could part a number or an address."""
    if any(sign in text for sign in _SIGNS_OF_ADDRESSES) and _PARTED_ADDRESS.search(text) is not None:
        return True
    return _SEVEN_DIGITS.search(text) is not None and _PARTED_NUMBER.search(text) is not None


def tags_of(text: str) -> str:
    """The tags of a piece of HTML, without what stands between them."""
    return "".join(_TAG.findall(text)) if "<" in text else ""


def _changes(found: re.Match[str]) -> tuple[tuple[int, int, str], ...]:
    if found.lastgroup == "emphasis":
        start, end, mark = *found.span(), len(found["mark"])
        return (start, start + mark, ""), (end - mark, end, "")
    return ((*found.span(), _shown(found)),)


def _shown(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "cell":
            return " "
        case "block" | "line":
            return "\n"
        case "encoded":
            return _decoded(found[0])
    return ""


def _decoded(written: str) -> str:
    if written[0] == "%":
        return chr(int(written[1:], 16))
    while (decoded := unescape(written)) != written:
        written = decoded
    return written


def _made(text: str, replacements: Iterable[tuple[int, int, str]]) -> Rendered:
    parts: list[str] = []
    changes: list[tuple[int, int, int, int]] = []
    at = length = 0
    for start, end, shown in replacements:
        if start < at:
            continue
        parts += [text[at:start], shown]
        length += start - at
        changes.append((length, length + len(shown), start, end))
        length += len(shown)
        at = end
    return Rendered("".join((*parts, text[at:])), tuple(changes))
