"""Cursors that only this base can make: signed, bound to the caller and to what was asked."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from collections.abc import Sequence
from typing import Any

import orjson

from retrieval.errors import BadCursor

SIGNATURE_BYTES = 16


def make_cursor(secret: bytes, scope: Sequence[Any], position: Sequence[Any]) -> str:
    """A cursor after `position`; `scope` is what it is good for (caller, field, arguments). URL-safe.

    >>> secret, scope = b"secret", ["reader", "fragments", 7]
    >>> read_cursor(secret, scope, make_cursor(secret, scope, [3]))
    [3]
    """
    payload = orjson.dumps(list(position))
    return base64.urlsafe_b64encode(signature(secret, scope, payload) + payload).decode().rstrip("=")


def read_cursor(secret: bytes, scope: Sequence[Any], cursor: str) -> list[Any]:
    """The position of a cursor; raises `BadCursor` when it was changed, or made for another caller or other arguments."""
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        raise refusal() from None
    signed, payload = raw[:SIGNATURE_BYTES], raw[SIGNATURE_BYTES:]
    if not hmac.compare_digest(signed, signature(secret, scope, payload)):
        raise refusal()
    position: list[Any] = orjson.loads(payload)
    return position


def signature(secret: bytes, scope: Sequence[Any], payload: bytes) -> bytes:
    """The first 16 bytes of HMAC-SHA-256 over scope and payload."""
    return hmac.digest(secret, orjson.dumps(list(scope)) + b"\0" + payload, hashlib.sha256)[:SIGNATURE_BYTES]


def refusal() -> BadCursor:
    """One message for every kind of bad cursor."""
    return BadCursor("The cursor was not made for you and these arguments; start from the first page.")
