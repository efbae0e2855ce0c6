"""Masks a text while it is written, the same however it is cut into pieces; what may become personal data is held back."""

from __future__ import annotations

import re

from retrieval.personal.chains import HOT, parted
from retrieval.personal.kinds import Kind
from retrieval.personal.masking import Span, personal_spans, replaced
from retrieval.personal.plain import plain
from retrieval.tuning import MASKING_HELD, MASKING_KNOWN, MASKING_KNOWN_NEAR, MASKING_STEP

_SLICE = 1_024
"""Longest piece that is looked at in one go, so that the time is linear in the text."""
_END = "\n" * 9
"""What no chain goes on behind."""
_LETTERS = r"A-Za-zА-Яа-яЁё.'\-"
_ORDINARY = re.compile(rf"((?:[{_LETTERS}]*+[ ,:!?\n])*+)([{_LETTERS}]*+)")
_SHORT_WORD = re.compile(rf"(?:\A|[^{_LETTERS}]|[.'\-])[{_LETTERS}]{{2}} ?\Z")
_ADDRESS = re.compile(r"\w[\w.%'+\-]*+@[\w.\-]*+\Z")
_REST_OF_ADDRESS = re.compile(r"(?:[.\-]*\w)*")
_DIGITS_MOST = 19
_MAY_HOLD = re.compile(r"[@＠﹫&%]|\d(?:\D*+\d){6}")


class MaskedStream:
    """Text in, final text out: joined it is what `masked` makes of the whole.

    Personal data that are written in more than 60 characters may come out in parts: of an address what stands before the last 60
    characters of its first half, of a number its first digits. Nothing is held but an unfinished word and an unfinished number.
    """

    def __init__(self) -> None:
        self._known = ""  # what was written before, which says what a number behind it is
        self._held = ""
        self._is_inside = False  # an address that was masked before its end

    @property
    def held(self) -> int:
        """How many characters are held back."""
        return len(self._held)

    def feed(self, piece: str) -> str:
        """What is final now; at most `MASKING_HELD` characters are held back."""
        return "".join(self._told(piece[at : at + _SLICE]) for at in range(0, len(piece), _SLICE))

    def pause(self) -> str:
        """What is final if a space comes next."""
        return self._told("", " ") if self._held else ""

    def finish(self) -> str:
        """What was held back at the end."""
        return self._told("", _END)

    def _told(self, piece: str, following: str = "") -> str:
        text, given = self._held + piece, list[str]()
        if (free := self._ordinary(text, following)) is not None:
            self._held = text[len(free) :]
            return self._free(free)
        while True:
            if self._is_inside:
                text = self._without_rest(text, following)
                if self._is_inside:
                    self._held = text
                    return "".join(given)
            if (text_left := self._told_until_long(text, following, given)) is None:
                return "".join(given)
            text = text_left

    def _ordinary(self, text: str, following: str) -> str | None:
        """What is final of ordinary words, found at once what the long way finds; None where that has to be gone."""
        found = _ORDINARY.fullmatch(text)
        if self._is_inside or found is None or following == _END or len(found[2]) > MASKING_HELD:
            return None
        free = text if following else found[1]
        return None if _SHORT_WORD.search(free, max(0, len(free) - 4)) is not None else free

    def _told_until_long(self, text: str, following: str, given: list[str]) -> str | None:
        """Give what is final; when a chain is longer than may be held, give its beginning and answer with the rest."""
        if HOT.search(text) is None and len(text) > 2 * MASKING_HELD:
            given.append(self._free(text[: -2 * MASKING_HELD]))
            text = text[-2 * MASKING_HELD :]
        ended, open_from = parted(text, following)
        at = 0
        for start, end, reach in ended:
            given.append(self._free(text[at:start]))
            if reach - start > MASKING_HELD:
                return self._begun(text[start:], given)
            given.append(self._covered(text[start:end]))
            at = end
        given.append(self._free(text[at:open_from]))
        if len(text) - open_from > MASKING_HELD:
            return self._begun(text[open_from:], given)
        self._held = text[open_from:]
        return None

    def _begun(self, text: str, given: list[str]) -> str:
        """Give the beginning of a chain that is too long to be held, as one more character makes it so; answer with the rest."""
        head = text[: MASKING_HELD + 1]
        if HOT.search(head) is None:
            hot = HOT.search(text)
            free = (len(text) if hot is None else hot.start()) - MASKING_HELD
            given.append(self._free(text[:free]))
            return text[free:]
        read = plain(head)
        if (address := _ADDRESS.search(read.text)) is not None:
            start = read.place(address.start())
            given += [self._covered(head[:start]), Kind.EMAIL.mask]
            self._free(head[start:])
            self._is_inside = True
            return text[len(head) :]
        digits = [at for at, sign in enumerate(head) if sign.isdecimal()]
        until = max(MASKING_STEP, digits[-_DIGITS_MOST] if len(digits) > _DIGITS_MOST else 0)
        spans = self._spans(head, MASKING_KNOWN_NEAR)
        until = next((span.end for span in spans if span.start < until < span.end), until)
        given.append(replaced(head[:until], [span for span in spans if span.end <= until]))
        self._free(head[:until])
        return text[until:]

    def _without_rest(self, text: str, following: str) -> str:
        """The text behind an address that was masked already; while that goes on, what may belong to it."""
        read = plain(text)
        end = _REST_OF_ADDRESS.match(read.text)
        until = 0 if end is None else read.place(end.end())
        self._free(text[:until])
        self._is_inside = not following and not read.text[0 if end is None else end.end() :].strip(".-")
        return text[until:]

    def _covered(self, chain: str) -> str:
        """A chain that has ended, with masks."""
        if _MAY_HOLD.search(chain) is None:
            return self._free(chain)
        shown = replaced(chain, self._spans(chain))
        self._free(chain)
        return shown

    def _spans(self, chain: str, most: int = MASKING_KNOWN) -> list[Span]:
        """The personal data in a chain, read behind what is known, or so much of it."""
        before = self._known[-most:]
        known, spans = len(before), personal_spans(before + chain)
        return [Span(one.kind, max(one.start - known, 0), one.end - known) for one in spans if one.end > known]

    def _free(self, text: str) -> str:
        """A text without personal data, remembered."""
        if text:
            self._known = (self._known + text)[-MASKING_KNOWN:]
        return text
