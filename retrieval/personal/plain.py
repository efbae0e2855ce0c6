"""Reads the numbers of a text as an eye does: nothing hidden, digits, dashes, spaces and line ends plain, places kept."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u0300-\u036f\u0483-\u0489\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20d0-\u20f0\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]+"
)
_SIGNS = {"＠": "@", "﹫": "@", "．": ".", "。": ".", "＋": "+", "（": "(", "）": ")", "−": "-", "＿": "_", "ー": "-"}


@dataclass(frozen=True, slots=True)
class Plain:
    """A text in plain form, and where what was taken out of it stood."""

    text: str
    cuts: tuple[tuple[int, int], ...]
    """For each run that was taken out: its place in the plain form, and how much was out by then."""

    def place(self, at: int, *, end: bool = False) -> int:
        """Where a place of the plain form is in the text; an end stands before what was hidden behind it."""
        if not self.cuts:
            return at
        number = bisect_right(self.cuts, (at - 1 if end else at, len(self.text) + (1 << 40)))
        return at if number == 0 else at + self.cuts[number - 1][1]


def hides(text: str) -> bool:
    """Whether a text has characters that no eye sees."""
    return _HIDDEN.search(text) is not None


def plain(text: str) -> Plain:
    """The plain form of a text, in time linear in it."""
    cuts: list[tuple[int, int]] = []
    gone = 0
    for found in _HIDDEN.finditer(text):
        cuts.append((found.start() - gone, gone + len(found[0])))
        gone += len(found[0])
    shown = _HIDDEN.sub("", text) if cuts else text
    return Plain(shown.translate(_PLAIN), tuple(cuts))


class _Table(dict[int, str | int]):
    """What each character is read as, made when it is first met."""

    def __missing__(self, code: int) -> str | int:
        self[code] = value = _read_as(chr(code)) or code
        return value


def _read_as(character: str) -> str | None:
    digit = unicodedata.decimal(character, None)
    if digit is not None:
        return str(digit)
    if character.isspace():
        return "\n" if character in "\n\r\x0b\x0c\x85\u2028\u2029" else " "
    if unicodedata.category(character) == "Pd":
        return "-"
    return _SIGNS.get(character)


_PLAIN = _Table()
