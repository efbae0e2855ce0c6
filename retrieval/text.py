"""How text is cleaned, folded and measured, in one place for the write side and the read side.

Folding (`fold`) is what "the same letters" means everywhere: composed form (NFC), lower case one letter for one letter,
ё as е, İ and ı as i, final ς as σ. The database never folds by rules of its own: it is given folded text.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable

from retrieval.errors import BadInput

_SURROGATE = re.compile("[\ud800-\udfff]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_INVISIBLE = frozenset({"Cc", "Cf", "Cn", "Co", "Zl", "Zp", "Zs"})


def stored(text: str, what: str = "The text") -> str:
    """The text as it is kept: every letter as it came, NUL removed because PostgreSQL has no place for it.

    Raises `BadInput`, beginning with `what`, for a lone surrogate: it is no character and cannot be encoded.
    """
    found = _SURROGATE.search(text)
    if found is not None:
        code = f"U+{ord(found[0]):04X}"
        raise BadInput(f"{what} holds a lone surrogate ({code}) at position {found.start()}; send whole characters.")
    return text.replace("\x00", "")


def clean(text: str, what: str = "The text") -> str:
    """The text as it is indexed and compared: `stored`, in composed form (NFC)."""
    return unicodedata.normalize("NFC", stored(text, what))


def strict(text: str, what: str = "The text") -> str:
    """The text in composed form, where nothing may be removed (questions, keys, names): `BadInput` for NUL too."""
    if "\x00" in text:
        raise BadInput(f"{what} holds a NUL character at position {text.index(chr(0))}; remove it.")
    return clean(text, what)


def fold(text: str) -> str:
    """The text without differences of writing, see the module; a composed text keeps its length, so offsets stay.

    >>> fold("Ёлочная ISTANBUL İstanbul")
    'елочная istanbul istanbul'
    """
    composed = unicodedata.normalize("NFC", text)
    lowered = composed.replace("İ", "i").lower()  # the only letter whose lower case is two code points
    return lowered.replace("ё", "е").replace("ı", "i").replace("ς", "σ")


def blank(text: str) -> bool:
    """True when nothing of the text can be seen: spaces, controls and invisible characters only."""
    return all(character.isspace() or unicodedata.category(character) in _INVISIBLE for character in text)


def utf16_offsets(text: str, offsets: Iterable[int]) -> list[int]:
    """Turn offsets in code points into offsets in UTF-16 code units, in time linear in the text.

    >>> utf16_offsets("😀 да", [0, 1, 2])
    [0, 2, 3]
    """
    astral = [found.start() for found in _ASTRAL.finditer(text)]
    return [offset + bisect_left(astral, offset) for offset in offsets]
