"""Finds bank cards, INN, OGRN, SNILS and passports among the numbers of a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from retrieval.personal.candidates import Candidate, Sure
from retrieval.personal.kinds import OTHER, Announced, Kind, has_issuer, is_card, is_inn, is_ogrn, is_snils

Group = tuple[int, int]
"""Where a run of digits starts and ends."""

_DIGITS = re.compile(r"\d+")
_SEPARATOR = re.compile(r"(?:[ \n\-]{1,4}|[._])\Z")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PASSPORT = re.compile(
    r"\d(?<!\d\d)\d[ \n\-]?\d\d(?:[ \n,.;:\-]{0,3}(?:№|номер|n|no)?[ \n.:№\-]{0,3})\d{3}[ \n\-]?\d{3}(?!\d)", re.IGNORECASE
)
_DIGITS_MOST = 19
_SPLIT_MOST = 19

Proof = Callable[[str], bool]
PROOFS: dict[Kind, tuple[frozenset[int], Proof]] = {
    Kind.CARD: (frozenset(range(13, 20)), is_card),
    Kind.INN: (frozenset({10, 12}), is_inn),
    Kind.OGRN: (frozenset({13, 15}), is_ogrn),
    Kind.SNILS: (frozenset({11}), is_snils),
}
"""How long a number of a kind is, and what proves it."""

_CARD_SHAPES = (
    (4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (4, 4, 4, 4, 2), (4, 4, 5), (8, 8), (6, 13), (4, 12), (12, 4)
)  # fmt: skip
_SHAPES: dict[tuple[int, ...], tuple[Kind, Sure]] = {
    **dict.fromkeys(_CARD_SHAPES, (Kind.CARD, Sure.LIKELY)),
    (3, 3, 3, 2): (Kind.SNILS, Sure.PROVEN),
    (1, 2, 2, 2, 5, 1): (Kind.OGRN, Sure.PROVEN),
}
"""How the kinds are usually written in groups: only these count where no word announces the number."""
_FIRST = frozenset(shape[0] for shape in _SHAPES)
_SHAPE_MOST = max(map(len, _SHAPES))


def numbers(text: str, announced: Announced) -> Iterator[Candidate]:
    """Numbers in a plain text that are proven by their check digits, and passports that are announced."""
    uuids = {place for found in _UUID.finditer(text) for place in range(found.start(), found.end())}
    groups = [found.span() for found in _DIGITS.finditer(text) if found.start() not in uuids]
    for at, (start, end) in enumerate(groups):
        if end - start > _DIGITS_MOST or not _stands_alone_before(text, start, announced):
            continue
        kind = announced.kind(start)
        possible = [*_whole(text, groups[at], kind), *(_split(text, groups, at, kind) if end - start < _DIGITS_MOST else ())]
        listed = [one.end for one in possible if one.kind == kind]
        if listed:
            announced.goes_on(start, max(listed))
        yield from possible
    yield from passports(text, announced)


def passports(text: str, announced: Announced) -> Iterator[Candidate]:
    """Passports in a plain text that are announced."""
    for found in _PASSPORT.finditer(text):
        if announced.kind(found.start()) == Kind.PASSPORT:
            announced.goes_on(*found.span())
            yield Candidate(Kind.PASSPORT, found.start(), found.end(), Sure.ANNOUNCED)


def proven(kind: Kind, digits: str, *, announced: bool) -> bool:
    """Whether digits have the length and the check digits of a kind; a card that no word announces needs a known issuer too."""
    lengths, proof = PROOFS[kind]
    return len(digits) in lengths and proof(digits) and (announced or kind is not Kind.CARD or has_issuer(digits))


def _whole(text: str, group: Group, kind: str | None) -> Iterator[Candidate]:
    """What an unbroken run of digits can be."""
    start, end = group
    if not _stands_alone_behind(text, end, kind):
        return
    digits = text[start:end]
    for one in PROOFS:
        if proven(one, digits, announced=kind == one):
            weak = len(digits) == 10 or one in (Kind.CARD, Kind.SNILS)
            if kind == one:
                yield Candidate(one, start, end, Sure.ANNOUNCED)
            elif not (weak and kind == OTHER):
                yield Candidate(one, start, end, Sure.POSSIBLE if len(digits) == 10 else Sure.LIKELY if weak else Sure.PROVEN)


def _split(text: str, groups: Sequence[Group], at: int, kind: str | None) -> Iterator[Candidate]:
    """What several runs together can be: any groups where the kind is announced, else only as it is usually written."""
    start, end = groups[at]
    wanted = next((one for one in PROOFS if one == kind), None)
    breaks = text[end : end + 4].lstrip("- ").startswith("\n")
    if wanted is None and end - start not in _FIRST and not breaks:
        return
    digits, signs = text[start:end], set[str]()
    shape: tuple[int, ...] = (end - start,)
    for number in range(at + 1, min(len(groups), at + (_SPLIT_MOST if wanted else _SHAPE_MOST))):
        following = groups[number]
        between = text[end : min(following[0], end + 5)]
        signs.add(between if between in (".", "_") else " ")
        if _SEPARATOR.match(between) is None or len(signs) > 1:
            return
        end = following[1]
        digits, shape = digits + text[following[0] : end][: _DIGITS_MOST + 1], (*shape, end - following[0])
        if len(digits) > _DIGITS_MOST:
            return
        if not _stands_alone_behind(text, end, kind):
            continue
        if " " not in signs:
            yield from _pointed((start, end), digits, shape, kind)
            continue
        if wanted is not None and proven(wanted, digits, announced=True):
            yield Candidate(wanted, start, end, Sure.ANNOUNCED)
        yield from _as_written((start, end), digits, shape)
        if len(shape) == 2 and breaks and kind != OTHER and min(shape) > 1:
            yield from _broken((start, end), digits)


def _as_written(place: Group, digits: str, shape: tuple[int, ...]) -> Iterator[Candidate]:
    """Groups that look as the kind is usually written, whatever a word such as *order* before them says."""
    known = _SHAPES.get(shape)
    if known is not None and proven(known[0], digits, announced=False):
        yield Candidate(known[0], *place, known[1])


def _pointed(place: Group, digits: str, shape: tuple[int, ...], kind: str | None) -> Iterator[Candidate]:
    """Groups with points or underscores between: cards, and what a word announces; two groups are rather a fraction."""
    for one in _as_written(place, digits, shape) if len(shape) > 2 else ():
        if one.kind in (Kind.CARD, kind):
            yield one


def _broken(place: Group, digits: str) -> Iterator[Candidate]:
    """A number that the end of a line cut in two, where its proof is a strong one."""
    for kind in PROOFS:
        if len(digits) != 10 and proven(kind, digits, announced=False):
            yield Candidate(kind, *place, Sure.POSSIBLE)


def _stands_alone_before(text: str, start: int, announced: Announced) -> bool:
    """Whether no word and no longer number ends where digits start."""
    before = text[start - 1 : start] if start else ""
    if before.isalpha():
        return announced.touches(start)
    return not (before == "." and text[start - 2 : start - 1].isdigit()) if start > 1 else True


def _stands_alone_behind(text: str, end: int, kind: str | None) -> bool:
    """Whether no word and no fraction begins where digits end."""
    behind = text[end : end + 1]
    if behind.isalpha():
        return kind is not None and kind != OTHER
    return not (behind == "." and text[end + 1 : end + 2].isdigit())
