"""Finds phone numbers: international ones, Russian ones as they are written, and local ones that a word announces."""

from __future__ import annotations

import re
from collections.abc import Iterator

import phonenumbers

from retrieval.personal.candidates import Candidate, Sure
from retrieval.personal.kinds import OTHER, Announced, Kind

_BETWEEN = r"[ \n().\-/]{0,3}"
_INTERNATIONAL = re.compile(rf"(?<!\d)(?:\+|(?<!\w)(?<!\d\.)00)[ (]?\d(?:{_BETWEEN}\d){{6,14}}")
_RUSSIAN = re.compile(rf"(?<![^\W_])(?<!\+)(?<!\d\.(?=\d{{11}}))[78](?:{_BETWEEN}\d){{10}}(?![^\W_])")
_WITH_AREA = re.compile(r"(?<![^\W_])\(\d{3,5}\)[ \n\-]?\d{2,3}(?:[ \n\-]?\d{2}[ \n\-]?\d{2}|[ \n\-]?\d{4})(?![^\W_])")
_DASHED = re.compile(r"(?<![\w\-])\d{3}(?:[\-.]\d{3}[\-.]\d{4}|-\d{3}-\d{2}-\d{2})(?![\w\-])")
_SPACED = re.compile(r"(?<![^\W_])(?<!\d[ \-])[78]([ \-])9(?:\1\d){9}(?![^\W_]|[ \-]\d)")
"""One digit and one sign after another, and no longer list of digits."""
_LOCAL = re.compile(rf"(?<![^\W_])(?<!\+)\(?\d(?:{_BETWEEN}\d){{6,13}}(?![^\W_])")
_USUAL = re.compile(
    r"[78][ \n\-]{0,3}(?:\(\d{3,5}\)|\d{3})[ \n\-]{0,3}"
    r"(?:\d{3}[ \n\-]{0,3}\d{2}[ \n\-]{0,3}\d{2}|\d{3}[ \n\-]?\d{4}|\d{2}[ \n\-]\d{2}[ \n\-]\d{3})"
)
_CLEAR = re.compile(
    r"[78][ \n\-]{0,3}\(\d{3,5}\)[ \n\-]{0,3}\d{2,3}[ \n\-]?\d{2}[ \n\-]?\d{2}|[78][ \-]\d{3}[ \-]\d{3}-\d{2}-\d{2}"
    r"|[78]\.[3489]\d{2}\.\d{3}(?:\.\d{2}\.\d{2}|\.?\d{4})"
)
"""Written as no other number is, so that a word such as *order* before it says nothing."""
_SUM = re.compile(r"\+ \d+(?:\.\d+)?|\+\d+\.\d{1,9}")
"""A number that is added, or a fraction; `+7.9161234567` is how registries of domains write phones."""
_FRACTION = re.compile(r"\d{1,3}\.\d{4,}")
_THOUSANDS = re.compile(r"\d(?: \d{3}){2,3}")
_BEGUN = re.compile(r"(?:\(?\d{3,5}\)?[ \n\-]?)?\d{3}(?:[ \n\-]\d\d[ \n\-]\d\d|-\d{4})(?!\d)")
_DAY, _MONTH, _YEAR = r"(?:0?[1-9]|[12]\d|3[01])", r"(?:0?[1-9]|1[0-2])", r"(?:19|20)\d\d"
_DATE = re.compile(
    rf"(?<!\d)(?<!\d[ ().\-/])(?:{_YEAR}([.\-/]){_MONTH}\1{_DAY}|{_DAY}([.\-/]){_MONTH}\2{_YEAR}|{_YEAR}[\-/]{_YEAR})(?![.\-]?\d)"
)
"""A day, or years from and to, behind no other digits: a call has a date more often than a number of that form."""
_REGIONS = ("RU", "US", "GB", "DE", "FR", "IL", "KZ", "UA", "BY")
"""Whose numbers are known without their country's code; the first is asked first."""


def phones(text: str, announced: Announced) -> Iterator[Candidate]:
    """Phone numbers in a plain text."""
    for found in _INTERNATIONAL.finditer(text):
        end = 0 if _SUM.fullmatch(found[0]) else _end_of_international(found[0])
        if end:
            yield Candidate(Kind.PHONE, found.start(), found.start() + end, Sure.PROVEN)
    for found in _RUSSIAN.finditer(text):
        yield from _russian(found, announced.kind(found.start()))
    for found in _SPACED.finditer(text):
        if announced.kind(found.start()) != OTHER:
            yield Candidate(Kind.PHONE, *found.span(), Sure.LIKELY)
    for found in _WITH_AREA.finditer(text):
        if announced.kind(found.start()) in (None, Kind.PHONE) and _is_phone(found[0], ("RU", "US")):
            yield Candidate(Kind.PHONE, found.start(), found.end(), Sure.LIKELY)
    for found in _DASHED.finditer(text):
        if announced.kind(found.start()) in (None, Kind.PHONE) and _is_phone(found[0], ("RU" if found[0][-3] == "-" else "US",)):
            yield Candidate(Kind.PHONE, found.start(), found.end(), Sure.LIKELY)
    yield from _local(text, announced)


def _local(text: str, announced: Announced) -> Iterator[Candidate]:
    """Numbers that a word announces; what follows one, such as the number of a line, is none of it."""
    text = _DATE.sub(lambda date: "x" * len(date[0]), text)
    found = _LOCAL.search(text)
    while found is not None:
        end = found.end()
        if announced.kind(found.start()) == Kind.PHONE and (length := _length_of_announced(found[0])):
            end = found.start() + length
            announced.goes_on(found.start(), end)
            yield Candidate(Kind.PHONE, found.start(), end, Sure.LIKELY)
        found = _LOCAL.search(text, end)


def _russian(found: re.Match[str], kind: str | None) -> Iterator[Candidate]:
    if kind == Kind.PHONE:
        yield Candidate(Kind.PHONE, *found.span(), Sure.ANNOUNCED)
    elif _CLEAR.fullmatch(found[0]) is not None or (kind != OTHER and _is_likely(found[0])):
        yield Candidate(Kind.PHONE, *found.span(), Sure.LIKELY)


def _is_likely(shown: str) -> bool:
    """Whether a Russian number that no word announces is written as one, or is valid where nothing sets its digits apart."""
    return _is_phone(shown, ("RU",)) if shown.isdigit() else _USUAL.fullmatch(shown) is not None


def _end_of_international(shown: str) -> int:
    """How much of it is the number: the longest valid one, else the longest that could be."""
    ends = [at for at, sign in enumerate(shown, 1) if sign.isdigit() and not shown[at : at + 1].isdigit()]
    shown = shown.replace("\n", " ")  # the parser stops at the end of a line
    number = "+" + shown[2:] if shown.startswith("00") else shown
    gone = len(shown) - len(number)
    possible = 0
    for end in reversed(ends):
        try:
            parsed = phonenumbers.parse(number[: end - gone], None)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            return end
        reason = phonenumbers.is_possible_number_with_reason(parsed)  # a local one has no country's code
        if not possible and reason == phonenumbers.ValidationResult.IS_POSSIBLE and not shown.startswith("00"):
            possible = end
    return possible


def _length_of_announced(shown: str) -> int:
    """How much of what a word announces is a number: all of it, else what is written as one; 0 for a fraction or a sum."""
    if _FRACTION.fullmatch(shown) is not None or _THOUSANDS.fullmatch(shown) is not None:
        return 0
    digits = sum(sign.isdigit() for sign in shown)
    if (digits == 7 and not shown.isdigit()) or _is_phone(shown, _REGIONS):
        return len(shown)
    begun = _BEGUN.match(shown)
    return 0 if begun is None else begun.end()


def _is_phone(shown: str, regions: tuple[str, ...]) -> bool:
    """Whether it is a valid number in one of the regions."""
    shown = shown.replace("\n", " ")
    for region in regions:
        try:
            if phonenumbers.is_valid_number_for_region(phonenumbers.parse(shown, region), region):
                return True
        except phonenumbers.NumberParseException:
            continue
    return False
