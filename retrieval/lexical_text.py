"""The form of a text that words are made from; it keeps every offset, so that highlights fit the text itself."""

from __future__ import annotations

import re
import unicodedata

# Joined by these, words would be host names, paths and tags to the parser of PostgreSQL, and not be found by their parts.
_JOINTS = re.compile(r"(?<=\w)[._/\\:@](?=\w)|[<>\x01\x02]")
_DECIMAL = re.compile(r"(?<=\d)[.,](?=\d)")
_DECIMAL_MARK = "\uf8ff"
# Where the database folds by C.UTF-8, its parser takes whatever is not ASCII for a letter: «слово» — with a no-break space too.
_SIGNS = re.compile(rf"[^\w\x00-\x7f{_DECIMAL_MARK}]+")
_HYPHENS = "\u2010\u2011"


def lexical_text(text: str) -> str:
    """The text with code, paths and signs taken apart and decimal commas as points, letter for letter as long as before.

    >>> lexical_text("app/main.py costs «155,34»")
    'app main py costs  155.34 '
    """
    marked = _SIGNS.sub(_apart, _DECIMAL.sub(_DECIMAL_MARK, text))
    return _JOINTS.sub(" ", marked).replace(_DECIMAL_MARK, ".")


def indexed_text(title: str, heading: str, text: str) -> str:
    """What is searched and embedded of a fragment: the one function that words, identifiers and vectors are made from."""
    return "\n".join(part for part in (title, heading, text) if part)


def _apart(signs: re.Match[str]) -> str:
    return "".join("-" if sign in _HYPHENS else sign if _belongs_to_a_word(sign) else " " for sign in signs[0])


def _belongs_to_a_word(sign: str) -> bool:
    """Whether it is a mark of a letter, such as the vowel signs of Indic scripts, and no selector of an emoji's form."""
    return unicodedata.category(sign) in ("Mn", "Mc") and not "\ufe00" <= sign <= "\ufe0f"
