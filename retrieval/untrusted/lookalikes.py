"""Reads a text as an eye does: full-width and mathematical letters as plain ones, foreign letters inside a word as its own."""

from __future__ import annotations

import re
import unicodedata

SUSPECT = (
    r"[A-Za-z][\p{Cyrillic}\p{Greek}]|[\p{Cyrillic}\p{Greek}][A-Za-z]"
    r"|[\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{1D400}-\x{1D7CB}\x{2100}-\x{214F}]"
)
"""In the syntax of RE2: what a text without look-alikes never matches."""

_LATIN = "abcehiijkmoopptsxyysv" + "ABCEHIIJKMNOOPPTSXYZ"
_OTHER = "аьсеһіιјкмоοрρтѕхуүѕν" + "АВСЕНІΙЈКМΝОΟРΡТЅХУΖ"
_TO_LATIN = str.maketrans(_OTHER, _LATIN)
_TO_CYRILLIC = str.maketrans("aceopxykmtABCEHKMOPTXY", "асеорхукмтАВСЕНКМОРТХУ")
_PLAIN = re.compile("[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7cb\u2100-\u214f]")
_WORD = re.compile(r"[^\W\d_]+")


def folded(text: str) -> str:
    """The text with look-alikes as what they look like, letter for letter, so that places stay.

    >>> folded("іgnоrе ｔｈｉｓ")
    'ignore this'
    """
    return _WORD.sub(_one_script, _PLAIN.sub(_plain, text))


def _plain(found: re.Match[str]) -> str:
    plain = unicodedata.normalize("NFKC", found[0])
    return plain if len(plain) == 1 else found[0]


def _one_script(found: re.Match[str]) -> str:
    word = found[0]
    if word.isascii():
        return word
    latin = sum("a" <= letter <= "z" or "A" <= letter <= "Z" for letter in word)
    if latin == 0:
        return word
    return word.translate(_TO_LATIN if latin * 2 >= len(word) or "і" in word else _TO_CYRILLIC)
