"""Takes out of a text what a reader cannot see: controls, direction marks, zero-width characters, tags and hidden selectors."""

from __future__ import annotations

import re

_RANGES = (
    "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff\U000f0000-\U0010ffff"
)
_LINE_ENDS = "\r\x0b\x0c\x85\u2028\u2029"
_SELECTORS = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
_JOINERS = "\u200c\u200d"

SUSPECT = f"[{_RANGES}{_LINE_ENDS}{_SELECTORS}{_JOINERS}]"
"""In the syntax of RE2 too: what a text without any hidden character never matches."""

_HIDDEN = re.compile(f"[{_RANGES}\ud800-\udfff]+")
# Whatever a model may read as a new line is one, so that what begins a line is found.
_LINE_END = re.compile(f"\r\n|[{_LINE_ENDS}]")
# Indic and Persian words and emoji need joiners and selectors, one at a time; Latin, Greek and Cyrillic never do.
_ATTACHED = re.compile(f"(?P<base>[^\x00-\xa8\xaa-\xad\xaf-\u052f\\s{_SELECTORS}{_JOINERS}])?(?P<run>[{_SELECTORS}{_JOINERS}]+)")
_NEEDED = re.compile(f"[{_SELECTORS}]\u200d?|[{_JOINERS}]")


def strip_invisible(text: str) -> str:
    """Without invisible characters and lone surrogates, line breaks as LF.

    >>> strip_invisible("a\\u200bb\\r\\nc")
    'ab\\nc'
    """
    text = _HIDDEN.sub("", text)
    text = _LINE_END.sub("\n", text)
    return _ATTACHED.sub(_attached, text)


def _attached(found: re.Match[str]) -> str:
    """One joiner or selector after a character that may carry it; of a keycap its selector."""
    base, run = found["base"], found["run"]
    if base is not None:
        return base + _NEEDED.match(run)[0]  # type: ignore[index]
    before, after = found.string[max(0, found.start() - 1) : found.start()], found.string[found.end() : found.end() + 1]
    return run if run == "\ufe0f" and after == "\u20e3" and before in "0123456789#*" else ""
