"""Keys of entities and the opaque public ids: what goes into a key comes back, and an id carries type, namespace and number."""

from __future__ import annotations

import base64
import binascii
import hashlib
import unicodedata
from typing import Literal

from retrieval.errors import BadInput
from retrieval.text import blank, strict

Kind = Literal["entity", "fragment", "source", "fact", "version", "unversioned"]
LETTERS: dict[Kind, str] = {
    "entity": "e",
    "fragment": "f",
    "source": "s",
    "fact": "a",
    "version": "v",
    "unversioned": "u",
}
KINDS = {letter: kind for kind, letter in LETTERS.items()}


def check_key(key: str, most: int, what: str = "The key") -> str:
    """The key as it came; raises `BadInput` when it is blank, too long, or cannot be stored."""
    strict(key, what)
    if blank(key):
        raise BadInput(f"{what} is empty.")
    if len(key) > most:
        raise BadInput(f"{what} has {len(key):,} characters; at most {most:,} are taken.")
    return key


def key_digest(key: str) -> bytes:
    """What keys are compared by: SHA-256 of the composed form, since 2,000 letters overflow an index entry."""
    return hashlib.sha256(unicodedata.normalize("NFC", key).encode("utf-8", "replace")).digest()


def public_id(kind: Kind, ns: int, number: int) -> str:
    """An opaque id, the same in every answer.

    >>> read_id(public_id("fragment", 3, 128))
    ('fragment', 3, 128)
    """
    return base64.urlsafe_b64encode(f"{LETTERS[kind]}:{ns}:{number}".encode()).decode().rstrip("=")


def read_id(text: str) -> tuple[Kind, int, int]:
    """What an id stands for; raises `BadInput` when it is not one of ours."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        letter, ns, number = raw.decode("ascii").split(":")
        kind, found = KINDS[letter], (int(ns), int(number))
    except (ValueError, KeyError, binascii.Error):
        raise BadInput("The id is not one that this server gave out.") from None
    if public_id(kind, *found) != text or not (0 < found[0] < 2**31 and 0 < found[1] < 2**63):
        raise BadInput("The id is not one that this server gave out.")
    return kind, *found
