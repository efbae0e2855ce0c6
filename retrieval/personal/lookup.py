"""The marks by which holders of the right find somebody's number exactly: digests that no text of a question can spell."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from hashlib import sha256

from retrieval.personal.kinds import Kind
from retrieval.personal.masking import is_ordinary, personal_spans
from retrieval.personal.parts import values_in
from retrieval.personal.plain import plain
from retrieval.personal.rendered import as_shown

_LOOKALIKES = str.maketrans("аеорсухкмтвніАЕОРСУХКМТВНІ", "aeopcyxkmtbhiaeopcyxkmtbhi")
_NUMBERED = (Kind.PASSPORT, Kind.INN, Kind.SNILS, Kind.OGRN, Kind.CARD, Kind.PHONE)
_DIGITS_LEAST, _DIGITS_MOST = 7, 19


def marks_of(ns: int, parts: Sequence[str]) -> tuple[str, ...]:
    """The marks of the personal data in the fields of a text of a namespace, each once.

    They begin with a sign that no identifier has, and differ from namespace to namespace, as rights do.
    """
    return tuple(dict.fromkeys(_mark(ns, span.kind, written(span.kind, shown)) for span, shown in values_in(parts)))


def marks_asked(spaces: Iterable[int], question: str) -> tuple[str, ...]:
    """The marks that a question asks for in some namespaces: of the personal data in it, and of a bare number whatever it is."""
    if is_ordinary(question):
        return ()
    asked = {(span.kind, written(span.kind, question[span.start : span.end])): None for span in personal_spans(question)}
    bare = re.sub(r"[\s()+.\-]", "", plain(question).text)
    if bare.isdigit() and _DIGITS_LEAST <= len(bare) <= _DIGITS_MOST:
        asked.update({(kind, written(kind, bare)): None for kind in _NUMBERED})
    return tuple(_mark(ns, kind, value) for ns in spaces for kind, value in asked)


def without_personal_data(question: str) -> str:
    """A question without the personal data in it: no words are made from them."""
    parts, at = [], 0
    for span in personal_spans(question):
        parts.append(question[at : span.start])
        at = span.end
    return " ".join((*parts, question[at:]))


def written(kind: Kind, shown: str) -> str:
    """One form for all ways to write the same.

    >>> written(Kind.PHONE, "8 (916) 123-45-67") == written(Kind.PHONE, "+79161234567")
    True
    """
    text = unicodedata.normalize("NFKC", plain(as_shown(shown)).text)
    if kind is Kind.EMAIL:
        return text.translate(_LOOKALIKES).lower()
    if kind is Kind.IBAN:
        return "".join(sign for sign in text.translate(_LOOKALIKES).upper() if sign.isalnum())
    digits = "".join(sign for sign in text if sign.isdigit())
    if kind is Kind.PHONE and "+" not in text:
        digits = digits.removeprefix("00")
        if len(digits) == 10 or (len(digits) == 11 and digits[0] == "8"):
            return "7" + digits[-10:]
    return digits


def _mark(ns: int, kind: Kind, value: str) -> str:
    return f"@{sha256(f'{ns} {kind} {value}'.encode()).hexdigest()[:32]}"
