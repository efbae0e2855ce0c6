"""Reads a model's words piece by piece and keeps of its citations `[n]` those that point to something that it was given."""

from __future__ import annotations

import re
from dataclasses import dataclass

from retrieval.personal.streaming import MaskedStream
from retrieval.tuning import CITATIONS_MOST, HELD_CHARACTERS

_ITEM = re.compile(r"([0-9]+)(?: *[-–] *([0-9]+))?")
_MARKER = re.compile(rf"\[ *{_ITEM.pattern}(?: *[,;] *{_ITEM.pattern})* *")
_INSIDE = frozenset("0123456789,;-– ")
_OPEN_TAIL = re.compile(r"\[[0-9,;\-– ]*[0-9][0-9,;\-– ]*\Z")
_SPECIAL = re.compile("[\\[\\]`~\ud800-\udfff]")
_UNSAID = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202d\u202e]")
"""Controls of terminals, and what turns the direction of letters round: no words, and a page or a terminal would obey them."""
_FENCE = 3


@dataclass(frozen=True, slots=True)
class Mark:
    """A citation that was kept: the number that it names, and where it stands in the text, in UTF-16 code units."""

    number: int
    start: int
    end: int

    @property
    def text(self) -> str:
        """How it stands in the text."""
        return f"[{self.number}]"


class MarkedText:
    """Text in, final text out, the same however the text is cut into pieces; `marks` and `removed` say what became of citations.

    A citation is `[1]`, or `[1, 2]` or `[1-2]`, which come out as `[1][2]`; numbers run from 1 to `known`. One that points to
    nothing is left out with the space before it. What stands in code is left alone: between backticks on one line, or in a fence.
    With `cover` what is left is masked. Blanks at the beginning and control characters are left out.
    """

    def __init__(self, known: int, cover: MaskedStream | None = None) -> None:
        self.marks: list[Mark] = []
        self.removed = 0
        self._known = known
        self._cover = cover
        self._code = _Code()
        self._open: list[str] = []  # citations that have begun, one inside the other
        self._gap = ""  # a space that goes with the citation after it, if that goes
        self._half = ""  # of a character of two code units
        self._units = 0
        self._recent = ""
        self._said: list[str] = []
        self._ready: list[str] = []

    def feed(self, piece: str) -> str:
        """What is final now; at most 64 characters are held back, while a citation or what is masked may be open."""
        piece = _UNSAID.sub("", piece)
        if self._open or self._half or self._code.is_open or _SPECIAL.search(piece) is not None:
            for character in self._whole(piece):
                self._take(character)
        else:
            self._pass(piece)
        return self._given()

    def finish(self) -> str:
        """What was held back at the end."""
        if self._half:
            self._half = ""
            self._take("�")
        self._let_go()
        self._settle()
        if self._cover is not None:
            self._give(self._cover.finish())
        return self._given()

    def _whole(self, piece: str) -> str:
        """The piece in whole characters: halves of one are put together, and one without its other half is replaced."""
        if piece.isascii() and not self._half:
            return piece
        piece, self._half = self._half + piece, ""
        if piece and "\ud800" <= piece[-1] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return piece.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _given(self) -> str:
        self._settle()
        text = "".join(self._ready)
        self._ready.clear()
        return text

    def _pass(self, piece: str) -> None:
        """Take plain text at once, which is what most pieces are."""
        text = self._gap + piece
        self._gap = " " if text.endswith(" ") else ""
        self._code.pass_by(piece)
        if said := text[: len(text) - len(self._gap)]:
            self._say(said)

    def _take(self, character: str) -> None:
        if self._code.takes(character):
            self._let_go()
            self._say(character)
        elif character == "[":
            self._settle()
            self._open.append(character)
            self._bound()
        elif self._open and character in _INSIDE:
            self._open[-1] += character
            self._bound()
        elif self._open and character == "]":
            self._close()
        else:
            self._let_go()
            self._plain(character)

    def _plain(self, character: str) -> None:
        if character == " ":
            self._gap = character
        elif character == "]" and _OPEN_TAIL.search(self._recent):
            self.removed += 1  # it would close a citation that was too long to be held, and that nobody checked
        else:
            self._say(character)

    def _bound(self) -> None:
        covered = 0 if self._cover is None else self._cover.held
        if covered + len(self._gap) + sum(map(len, self._open)) >= HELD_CHARACTERS:
            self._let_go()

    def _close(self) -> None:
        """The innermost citation has ended: keep what it points to, or go on as if it had not been there."""
        found = self._open.pop()
        numbers = [] if _MARKER.fullmatch(found) is None else numbers_of(found, self._known)
        if not numbers:
            self._open.append(found + "]")
            self._let_go()
            return
        kept = [number for number in numbers if 1 <= number <= self._known]
        self.removed += len(numbers) - len(kept)
        if kept:
            self._let_go()
            for number in kept:
                self._mark(number)
        elif not self._open:
            self._gap = ""

    def _mark(self, number: int) -> None:
        """Say a citation; those beyond the bound are as true as the others, but are no marks."""
        marker = f"[{number}]"
        self._say(marker)
        self._settle()  # nothing that ends so is held back, so it ends where the text does
        if len(self.marks) < CITATIONS_MOST:
            self.marks.append(Mark(number, self._units - len(marker), self._units))

    def _let_go(self) -> None:
        """What was held back is text like any other."""
        held, self._gap, self._open = self._gap + "".join(self._open), "", []
        if held:
            self._say(held)

    def _say(self, text: str) -> None:
        self._said.append(text)
        self._recent = (self._recent + text)[-HELD_CHARACTERS:]

    def _settle(self) -> None:
        """Have what was said masked; next comes the space that is held, or a citation that may take it along."""
        text = "".join(self._said)
        self._said.clear()
        if self._cover is not None:
            text = self._cover.feed(text) + (self._cover.pause() if self._gap else "")
        self._give(text)

    def _give(self, text: str) -> None:
        text = text if self._units else text.lstrip()
        self._ready.append(text)
        self._units += len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def numbers_of(marker: str, known: int) -> list[int]:
    """What a citation names, of what a range has beyond those known its end alone; empty where a range is none, as in `[0-9]`."""
    numbers: list[int] = []
    for first, last in ((int(first), int(last or first)) for first, last in _ITEM.findall(marker)):
        if first > last or (first == 0 and last > 0):
            return []
        numbers += range(first, min(last, known) + 1)
        if last > known:
            numbers.append(last)
    return numbers


class _Code:
    """Whether a character belongs to code, decided as it comes: backticks open it until their like or the end of the line."""

    def __init__(self) -> None:
        self._fence = ""
        self._inline = 0
        self._run = ""
        self._run_begins_line = False
        self._line = ""  # what the line has so far, while that may still begin a fence

    @property
    def is_open(self) -> bool:
        """Whether code, or a run that may begin or end it, has begun."""
        return bool(self._fence or self._inline or self._run)

    def pass_by(self, text: str) -> None:
        """Take text without a backtick or a tilde, outside code."""
        _, is_broken, line = text.rpartition("\n")
        self._line = (line if is_broken else self._line + text)[: _FENCE + 1]

    def takes(self, character: str) -> bool:
        """Take the next character; true when nothing in it is a citation."""
        may_begin = not self._line.strip(" ") and len(self._line) <= _FENCE
        is_fence = character == "~" and (may_begin or self._run.startswith("~"))
        if character == "`" or is_fence:
            if not self._run.startswith(character):
                self._end_run()
                self._run_begins_line = may_begin
            self._run += character
            self._line += character if len(self._line) <= _FENCE else ""
            return True
        self._end_run()
        if character == "\n":
            self._inline, self._line = 0, ""
        elif len(self._line) <= _FENCE:
            self._line += character
        return bool(self._fence or self._inline)

    def _end_run(self) -> None:
        run, self._run = self._run, ""
        if not run:
            return
        if self._fence:
            if self._run_begins_line and run[0] == self._fence[0] and len(run) >= len(self._fence):
                self._fence = ""
        elif self._inline:
            self._inline = 0 if run[0] == "`" and len(run) == self._inline else self._inline
        elif self._run_begins_line and len(run) >= _FENCE:
            self._fence = run
        elif run[0] == "`":
            self._inline = len(run)
