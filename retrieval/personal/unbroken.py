"""Where a text must not be cut, so that whoever reads a part of it reads no half of somebody's number."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from retrieval.personal.kinds import Announced
from retrieval.personal.masking import Span
from retrieval.personal.parts import spans_behind
from retrieval.personal.plain import plain

MOST = 400
"""A stretch that is longer is cut: numbers have less than a hundred characters, addresses up to 400."""
Stretch = tuple[int, int]


class Unbroken:
    """The stretches of a text that stay whole: personal data, each with the word that announces it."""

    def __init__(self, stretches: Iterable[Stretch]) -> None:
        self.stretches = _joined(stretches)
        self._starts = [start for start, _ in self.stretches]

    def around(self, at: int) -> Stretch | None:
        """The stretch that a cut at a place would cut in two."""
        number = bisect_right(self._starts, at - 1) - 1
        return self.stretches[number] if number >= 0 and at < self.stretches[number][1] else None


def unbroken(text: str, lead: str = "") -> Unbroken:
    """The stretches of a text that stay whole; `lead` is read before it, such as its heading."""
    spans = spans_behind(lead, text)
    if not spans:
        return Unbroken(())
    read = plain(text)
    words = [(read.place(start), read.place(end, end=True), kind) for start, end, kind in Announced(read.text).words]
    return Unbroken(_with_word(span, words) for span in spans)


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters, cut before personal data that the cut would cut in two; a sign tells that it was."""
    if len(text) <= most:
        return text
    stretch = unbroken(text).around(most - 1)
    return text[: stretch[0] if stretch else most - 1].rstrip() + "…"


def _with_word(span: Span, words: Sequence[tuple[int, int, str]]) -> Stretch:
    number = bisect_right(words, span.start, key=lambda word: word[1]) - 1
    if number >= 0 and words[number][2] == span.kind and span.end - words[number][0] <= MOST:
        return words[number][0], span.end
    return span.start, span.end


def _joined(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Those that overlap as one while it is short enough; else the later one begins where the other ends."""
    joined: list[Stretch] = []
    for start, end in sorted(stretches):
        if joined and start < joined[-1][1]:
            if end - joined[-1][0] <= MOST:
                joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
                continue
            start = joined[-1][1]
        if start < end:
            joined.append((start, end))
    return [stretch for stretch in joined if stretch[1] - stretch[0] <= MOST]
