"""Where a text that is still being written may be parted: anywhere but in a chain, which may be or become personal data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain as joined
from typing import NamedTuple

from stdnum import numdb

from retrieval.personal.addresses import latin
from retrieval.personal.plain import plain

HOT = re.compile(r"[\d@＠﹫&]")
"""What a chain without personal data in it may have and one with them must have."""

_TAG = r"<[a-z/!][^<>\n]{0,40}>"
_ATOM = rf"(?:[\w.%'+\-@*`~\\&;#]|{_TAG})"
_GAP = rf"(?:[ \n,.;:№()/\->]|{_TAG})"
# What stands before a gap that digits may go on behind.
_BEHIND = r"(?:(?<=[\d+;>*`~_\\])|(?<=\d[.\-])|(?<=\d[.\-]{2}))"
_SIGNS_BEFORE, _SIGNS_AFTER = r"[ \n,.;:\-]{0,3}", r"[ \n.:№\-]{0,3}"
_GLUE = rf"(?:{_BEHIND}{_GAP}{{1,8}}+|(?<=\d){_SIGNS_BEFORE}(?:№|номер|no?){_SIGNS_AFTER})(?=[*`~_\\&#+]*\d)"
_CHAIN = re.compile(rf"(?:\((?=\d))?{_ATOM}++(?:{_GLUE}{_ATOM}++)*+", re.IGNORECASE)
_GOES_ON = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_BEHIND}{_GAP}{{0,8}}[*`~_\\&#+]*(?:<(?:[a-z/!][^<>\n]{{0,40}})?)?",
        rf"(?<=\d){_SIGNS_BEFORE}(?:н(?:о(?:м(?:е(?:р)?)?)?)?{_SIGNS_AFTER}|no?{_SIGNS_AFTER})?",
        r"(?:(?<=\b[^\W\d_]{2})|(?<=_[^\W\d_]{2})) ?-?",
        r"<(?:[a-z/!][^<>\n]{0,40})?",
    )
)
_TAG_BEGUN = re.compile(r"<(?:[a-z/!][^<>\n]{0,40})?\Z", re.IGNORECASE)
_IBAN = re.compile(r"(?<![^\W_])([A-Z]{2})(?= ?-?\d)", re.IGNORECASE)
_IBAN_GAP = r"[ \n\-]{0,2}"
_SEPARATORS = re.compile(_IBAN_GAP)
_PART = re.compile(r"(\d+)!([nac])")
_SIGN = {"n": r"\d", "a": "[A-Z]", "c": "[A-Z0-9]"}


class Chain(NamedTuple):
    """A chain [start, end) of a text; as long as the text has not gone beyond `reach`, what comes may belong to it."""

    start: int
    end: int
    reach: int


class Parted(NamedTuple):
    """The chains of a text that have ended and may hold personal data, and from where on it has not: what is before is free."""

    ended: list[Chain]
    open_from: int


def parted(text: str, following: str = "") -> Parted:
    """The chains of a text, in its characters; `following` is what is known to come next, and is not counted.

    The same chains are found whatever is written afterwards.
    """
    read = plain(text)
    shown = read.text + following
    chains = list(_chains(shown))
    open_from = len(text)
    if shown.endswith("("):
        open_from = min(open_from, read.place(len(read.text) - 1))
    begun = _TAG_BEGUN.search(shown, max(0, shown.rfind("<")))
    if begun is not None and begun.start() < len(read.text):  # a tag is part of the chain that it stands before
        open_from = min(open_from, read.place(begun.start()))
    ended: list[Chain] = []
    for start, end, reach in chains:
        if reach >= len(shown) or (begun is not None and start >= begun.start()):
            open_from = min(open_from, read.place(start))
            break
        if HOT.search(shown, start, end) is not None:
            ended.append(Chain(read.place(start), read.place(end, end=True), min(read.place(reach), len(text))))
    return Parted(ended, open_from)


def _chains(shown: str) -> Iterator[Chain]:
    """The chains of a plain text in order, with IBANs and what touches them as one."""
    words = [found.span() for found in _CHAIN.finditer(shown)]
    ibans = [] if HOT.search(shown) is None else list(_ibans(shown))
    start = end = reach = -1
    for one in sorted(joined(((*word, word[1]) for word in words), ibans)):
        if one[0] < end:
            end, reach = max(end, one[1]), max(reach, one[2])
            continue
        if end >= 0:
            yield Chain(start, end, _reach(shown, end, reach))
        start, end, reach = one
    if end >= 0:
        yield Chain(start, end, _reach(shown, end, reach))


def _reach(shown: str, end: int, known: int) -> int:
    """How far a text may go on behind a chain before it is sure that the chain has ended."""
    found = (pattern.match(shown, end) for pattern in _GOES_ON)
    return max(known, end, *(one.end() for one in found if one is not None))


def _ibans(shown: str) -> Iterator[tuple[int, int, int]]:
    """Where an IBAN may stand, as far as it is one: its start, its end, and how far it may be parted from more of it."""
    text = latin(shown)
    for found in _IBAN.finditer(text):
        if (structure := _structures().get(found[1].upper())) is not None:
            rest = structure.match(text, found.end())
            if rest is not None:
                gap = _SEPARATORS.match(text, rest.end())
                yield found.start(), rest.end(), rest.end() if gap is None else gap.end()


@cache
def _structures() -> Mapping[str, re.Pattern[str]]:
    """For each country how an IBAN goes on behind its letters, as a pattern that takes as much of one as there is."""
    letters = [chr(code) for code in range(ord("A"), ord("Z") + 1)]
    known = numdb.get("iban")
    parts = {one + other: known.info(one + other)[0][1].get("bban") for one in letters for other in letters}
    return {country: _pattern(bban) for country, bban in parts.items() if bban}


def _pattern(bban: str) -> re.Pattern[str]:
    signs = [_SIGN[kind] for count, kind in _PART.findall(bban) for _ in range(int(count))]
    inner = ""
    for sign in reversed(signs):
        inner = f"(?:{_IBAN_GAP}{sign}{inner})?"
    return re.compile(rf" ?-?\d(?: ?\d{inner})?", re.IGNORECASE)
