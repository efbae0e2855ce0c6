"""Masks the fields of one text together, such as title, heading and text: a word in one announces a number in the next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from retrieval.personal.kinds import Announced
from retrieval.personal.masking import Span, masked, personal_spans, replaced, united

_REMEMBERED = 2_048
_REMEMBERED_MOST = 2_500
"""Longest fields, together, whose masked form a process remembers, in characters."""


def masked_parts(*parts: str) -> tuple[str, ...]:
    """Fields that are read one after another, masked by what they say together and by what each says alone.

    >>> masked_parts("Паспорт", "4505 678901")
    ('Паспорт', '[PASSPORT]')
    """
    return _remembered(parts) if sum(map(len, parts)) <= _REMEMBERED_MOST else _masked(parts)


def values_in(parts: Sequence[str]) -> list[tuple[Span, str]]:
    """The personal data of fields with how each is written; one that two fields share is given whole."""
    together = "\n".join(parts)
    found = [(span, text[span.start : span.end]) for text in (together, *parts) for span in personal_spans(text)]
    return list({(span.kind, shown): (span, shown) for span, shown in found}.values())


def spans_behind(lead: str, text: str) -> tuple[Span, ...]:
    """The spans of a text that is read behind another one, such as its title; places are those of the text."""
    alone = personal_spans(text)
    if not lead:
        return alone
    gone = len(lead) + 1
    together = (one for one in personal_spans(f"{lead}\n{text}") if one.end > gone)
    return united((*alone, *(Span(one.kind, max(0, one.start - gone), one.end - gone) for one in together)))


def _masked(parts: tuple[str, ...]) -> tuple[str, ...]:
    spans = personal_spans("\n".join(parts))
    if not spans:
        return tuple(map(masked, parts)) if _may_hide(parts[:-1]) else parts
    shown, start = [], 0
    for part in parts:
        end = start + len(part)
        inside = (Span(one.kind, max(one.start, start) - start, min(one.end, end) - start) for one in spans)
        shown.append(masked(replaced(part, [one for one in inside if one.start < one.end])))
        start = end + 1
    # With masks in their place, what stands behind may come into the reach of a word before.
    return tuple(shown) if tuple(shown) == parts else masked_parts(*shown)


def _may_hide(before: tuple[str, ...]) -> bool:
    """Whether a number alone could be one although it is none behind these: a word of theirs says otherwise, or digits."""
    together = "\n".join(before)
    return any(sign.isdigit() for sign in together) or bool(Announced(together).words)


_remembered = lru_cache(maxsize=_REMEMBERED)(_masked)
