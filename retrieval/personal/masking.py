"""The spans of personal data in a text, and the text without them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from retrieval.personal.addresses import emails, ibans
from retrieval.personal.candidates import chosen
from retrieval.personal.kinds import Announced, Kind
from retrieval.personal.numbers import numbers
from retrieval.personal.phones import phones
from retrieval.personal.plain import plain

_NUMBER = re.compile(r"\d(?:\D{0,12}+\d){6}")
_AT = "@＠﹫"
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

    >>> personal_spans("ИНН 7707083893")
    (Span(kind=<Kind.INN: 'INN'>, start=4, end=14),)
    """
    addressed, numbered = any(sign in text for sign in _AT), _NUMBER.search(text) is not None
    if not addressed and not numbered:
        return ()
    read = plain(text)
    candidates = list(emails(read.text)) if addressed else []
    if numbered:
        announced = Announced(read.text)
        candidates += [*ibans(read.text), *numbers(read.text, announced), *phones(read.text, announced)]
    found = chosen(candidates, len(read.text))
    return tuple(Span(one.kind, read.place(one.start), read.place(one.end, end=True)) for one in found)


def masked(text: str) -> str:
    """The text with `[EMAIL]`, `[PHONE]` and so on in place of personal data; masking it again changes nothing.

    >>> masked("Write to ann@example.com")
    'Write to [EMAIL]'
    """
    return _remembered(text) if len(text) <= _REMEMBERED_MOST else _masked(text)


def holds_mask(text: str) -> bool:
    """Whether a mask stands in a text, so that it may not be what is stored."""
    return any(kind.mask in text for kind in Kind)


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
    """A text with the masks of some of its spans in their place."""
    parts, at = [], 0
    for span in spans:
        parts += [text[at : span.start], span.kind.mask]
        at = span.end
    return "".join((*parts, text[at:]))


def _masked(text: str) -> str:
    while spans := personal_spans(text):  # a mask is short: what stands behind may come into the reach of a word before
        text = replaced(text, spans)
    return text


_remembered = lru_cache(maxsize=_REMEMBERED)(_masked)


def _masked_part(text: str, name: str) -> str:
    if not name:
        return masked(text)
    lead = name.replace("_", " ") + ": "
    whole = masked(lead + text)
    return whole[len(lead) :] if whole.startswith(lead) else masked(text)
