"""The form of a text that words are made from; it keeps every offset, so that highlights fit the text itself."""

from __future__ import annotations

import re

# Joined by these, words would be host names, paths and tags to the parser of PostgreSQL, and not be found by their parts.
_JOINTS = re.compile(r"(?<=\w)[._/\\:@](?=\w)|[<>\x01\x02]")
_DECIMAL = re.compile(r"(?<=\d)[.,](?=\d)")
_DECIMAL_MARK = "\uf8ff"


def lexical_text(text: str) -> str:
    """The text with code and paths taken apart and decimal commas as points, letter for letter as long as before.

    >>> lexical_text("app/main.py costs 155,34")
    'app main py costs 155.34'
    """
    marked = _DECIMAL.sub(_DECIMAL_MARK, text)
    return _JOINTS.sub(" ", marked).replace(_DECIMAL_MARK, ".")


def indexed_text(title: str, heading: str, text: str) -> str:
    """What is searched and embedded of a fragment: the one function that words, identifiers and vectors are made from."""
    return "\n".join(part for part in (title, heading, text) if part)
