"""A possible span of personal data, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from retrieval.personal.kinds import Kind


class Sure(IntEnum):
    """How sure a span is; where spans overlap, the surest stays."""

    ANNOUNCED = 0
    PROVEN = 1
    LIKELY = 2
    POSSIBLE = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place [start, end) of the plain text."""

    kind: Kind
    start: int
    end: int
    sure: Sure


def chosen(candidates: list[Candidate], length: int) -> list[Candidate]:
    """Those that do not overlap, the surest and longest first to choose, in the order of the text."""
    taken = bytearray(length)
    kept = []
    for one in sorted(candidates, key=lambda one: (one.sure, one.start - one.end, one.start)):
        if not taken.count(1, one.start, one.end):
            taken[one.start : one.end] = b"\x01" * (one.end - one.start)
            kept.append(one)
    return sorted(kept, key=lambda one: one.start)
