"""The spans of personal data in a text, and the text without them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

from retrieval.personal.addresses import emails, ibans
from retrieval.personal.candidates import chosen
from retrieval.personal.kinds import Announced, Kind
from retrieval.personal.numbers import numbers, passports
from retrieval.personal.phones import phones
from retrieval.personal.plain import hides, plain
from retrieval.personal.rendered import renderings, tags_of

_NUMBER = re.compile(r"\d(?:\D{0,12}+\d){6}")
_DIGITS = re.compile(r"\d(?:\D*+\d){6}")
# In a plain text: what numbers and phones are written in, unlike passports and IBANs, which have words and letters in them.
_RUN = re.compile(r"\d(?:[ \n()._\-/]{0,4}\d){6}")
_AT = "@＠﹫"
_LEAST_DIGITS = 7
"""How many digits the shortest number has."""
_ORDINARY = bytes(
    one for one in range(256) if one in b"\xe2" or 0x80 <= one <= 0xD3 or (one < 0x80 and one not in b"0123456789@&%")
)
"""Bytes of UTF-8 that no digit and no at-sign has, however it is written: U+0080 to U+04FF and U+2000 to U+2FFF have none."""
_NAME_MOST = 60
"""How much of the names that lead to a value helps to tell what it is, in characters: `{"passport": {"number": …}}`."""
_REMEMBERED = 2_048
"""Texts whose masked form a process remembers."""
_REMEMBERED_MOST = 2_000
"""Longest text that is remembered, in characters."""


@dataclass(frozen=True, slots=True)
class Span:
    """Personal data at [start, end) of a text, in characters."""

    kind: Kind
    start: int
    end: int


def personal_spans(text: str) -> tuple[Span, ...]:
    """The spans of personal data in a text, in their order, none overlapping; the time is linear in the text.

    They are found in what is written and in what a page shows of it: entities, tags and emphasis hide none.

    >>> personal_spans("ИНН 7707083893")
    (Span(kind=<Kind.INN: 'INN'>, start=4, end=14),)
    """
    spans: tuple[Span, ...] = ()
    if is_ordinary(text):
        return spans
    while more := _found(replaced(text, spans)):  # a mask is short: what stands behind may come into the reach of a word before
        known, spans = spans, united((*spans, *_unmasked(text, spans, more)))
        if spans == known:
            break
    return spans


def masked(text: str) -> str:
    """The text with `[EMAIL]`, `[PHONE]` and so on in place of personal data; masking it again changes nothing.

    >>> masked("Write to ann@example.com")
    'Write to [EMAIL]'
    """
    return _remembered(text) if len(text) <= _REMEMBERED_MOST else _masked(text)


def masked_value(value: Any, name: str = "") -> Any:
    """A JSON value with the strings, numbers and names in it masked; what a value is called helps to tell what it is."""
    if isinstance(value, str):
        return _masked_part(value, name)
    if isinstance(value, dict):
        return {masked(key): masked_value(part, f"{name} {key}"[-_NAME_MOST:].strip()) for key, part in value.items()}
    if isinstance(value, list):
        return [masked_value(part, name) for part in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        whole = isinstance(value, float) and value.is_integer()  # to a filter of the database 1.0 is 1
        shown = str(int(value) if whole else value)
        covered = _masked_part(shown, name)
        return value if covered == shown else covered
    return value


def replaced(text: str, spans: Sequence[Span]) -> str:
    """A text with the masks of some of its spans in their place, and the tags that stood in them."""
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], _in_place_of(text, span)]
        at = span.end
    return "".join((*parts, text[at:]))


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in their order; of those that overlap one is made, of the kind of the longest."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if kept and span.start < kept[-1].end:
            longest = max(kept[-1], span, key=lambda one: one.end - one.start)
            kept[-1] = Span(longest.kind, kept[-1].start, max(kept[-1].end, span.end))
        else:
            kept.append(span)
    return tuple(kept)


def _found(text: str) -> tuple[Span, ...]:
    """What is found in a text as it is written and as it is shown."""
    found = [*_read(text)]
    for shown in renderings(text):
        found += [Span(one.kind, shown.place(one.start), shown.place(one.end, end=True)) for one in _read(shown.text)]
    return united(found)


def _read(text: str) -> tuple[Span, ...]:
    addressed, numbered = any(sign in text for sign in _AT), _may_hold_numbers(text)
    if not addressed and not numbered:
        return ()
    read = plain(text)
    candidates = list(emails(read.text)) if addressed else []
    if numbered:
        announced = Announced(read.text)
        candidates += ibans(read.text)
        if _RUN.search(read.text) is not None:
            candidates += [*numbers(read.text, announced), *phones(read.text, announced)]
        else:
            candidates += passports(read.text, announced)
    found = chosen(candidates, len(read.text))
    return tuple(Span(one.kind, read.place(one.start), read.place(one.end, end=True)) for one in found)


def _in_place_of(text: str, span: Span) -> str:
    tags = tags_of(text[span.start : span.end])
    return span.kind.mask if tags and _found(tags) else span.kind.mask + tags


def _unmasked(text: str, masked: Sequence[Span], found: Sequence[Span]) -> list[Span]:
    """Spans found once others were masked, where they stand in the text itself."""
    gone = list(accumulate(span.end - span.start - len(_in_place_of(text, span)) for span in masked))
    ends = [span.end - out for span, out in zip(masked, gone, strict=True)]  # of the masks, in the masked text

    def place(at: int) -> int:
        number = bisect_right(ends, at)
        return at + gone[number - 1] if number else at

    return [Span(span.kind, place(span.start), place(span.end - 1) + 1) for span in found]


def is_ordinary(text: str) -> bool:
    """Whether a text has too few digits for any number, and no at-sign, hidden and encoded ones counted: most texts."""
    rest = text.encode("utf-8", "surrogatepass").translate(None, _ORDINARY)
    return len(rest) < _LEAST_DIGITS and (not rest or rest.isdigit())


def _may_hold_numbers(text: str) -> bool:
    """Whether enough digits stand near each other, what is hidden between them not counted."""
    if _NUMBER.search(text) is not None:
        return True
    return _DIGITS.search(text) is not None and hides(text) and _NUMBER.search(plain(text).text) is not None


def _masked(text: str) -> str:
    return replaced(text, personal_spans(text))


_remembered = lru_cache(maxsize=_REMEMBERED)(_masked)


def _masked_part(text: str, name: str) -> str:
    if not name:
        return masked(text)
    lead = name.replace("_", " ") + ": "
    whole = masked(lead + text)
    return whole[len(lead) :] if whole.startswith(lead) else masked(text)
