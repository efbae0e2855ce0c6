"""The public keys of an issuer of signed tokens: kept for a bounded time, and fetched anew for a key that is unknown."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Mapping
from typing import Any

import httpx2
import orjson
import structlog
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from retrieval.errors import ProviderUnavailable, Unauthenticated

SECONDS = 5.0  # for one fetch, however slowly it drips
PAUSE_SECONDS = 10.0  # between two fetches, whoever asks: tokens with invented keys make no flood
LARGEST_BYTES = 512 * 1024
MOST_KEYS = 100
PUBLIC_KINDS = frozenset({"RSA", "EC", "OKP"})
log = structlog.stdlib.get_logger("contextql.identity")
Keys = Mapping[str | None, Mapping[str, Any]]


class IssuerKeys:
    """Keys by id from a JWKS address; `fresh` seconds go by before it is asked again, `kept` seconds are keys good without it."""

    def __init__(self, url: str, *, fresh: float, kept: float, seconds: float = SECONDS, pause: float = PAUSE_SECONDS) -> None:
        self._url = url
        self._fresh = fresh
        self._kept = max(fresh, kept)
        self._seconds = seconds
        self._pause = pause
        self._keys: Keys = {}
        self._fetched = -math.inf
        self._tried = -math.inf
        self._failing = False
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, key_id: str | None, algorithm: str) -> PyJWK:
        """The key of a signature; raises `Unauthenticated` when the issuer has none, `ProviderUnavailable` when it is down."""
        age = time.monotonic() - self._fetched
        if age >= self._kept:
            self._keys = {}
        elif age >= self._fresh:
            self._fetch()  # and go on with the keys that are here
        found = self._found(key_id)
        if found is None and (fetching := self._fetch()) is not None:
            await asyncio.shield(fetching)
            found = self._found(key_id)
        if found is None and self._failing:
            raise ProviderUnavailable("The keys of the issuer of tokens cannot be read; try again in a moment.")
        if found is None:
            raise Unauthenticated("The token is signed with a key that its issuer does not have; get a new one.")
        try:
            return PyJWK(dict(found), algorithm)
        except PyJWTError:
            raise Unauthenticated("The algorithm of the token does not fit its key.") from None

    async def close(self) -> None:
        """End a fetch that is under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait({self._fetching})

    def _found(self, key_id: str | None) -> Mapping[str, Any] | None:
        """The key of that id; a token that names none fits a set of one key."""
        if key_id is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(key_id) if key_id is not None else None

    def _fetch(self) -> asyncio.Task[None] | None:
        """The fetch that is under way or is begun now; None when the last one is too short a while ago."""
        if self._fetching is not None and not self._fetching.done():
            return self._fetching
        if time.monotonic() - self._tried < self._pause:
            return None
        self._tried = time.monotonic()
        self._fetching = asyncio.create_task(self._fetch_once())
        return self._fetching

    async def _fetch_once(self) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                self._keys = keys_in(await self._read())
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError, ValueError) as error:
            self._failing = True
            log.warning("issuer_keys_not_read", url=self._url, reason=str(error)[:200] or type(error).__name__)
        else:
            self._failing = False
            self._fetched = time.monotonic()

    async def _read(self) -> bytes:
        body = bytearray()
        async with (
            httpx2.AsyncClient(timeout=self._seconds) as client,
            client.stream("GET", self._url, headers={"Accept": "application/json"}) as answer,
        ):
            if answer.status_code != 200:
                raise ValueError(f"it answers {answer.status_code}")
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > LARGEST_BYTES:
                    raise ValueError(f"it is larger than {LARGEST_BYTES:,} bytes")
        return bytes(body)


def keys_in(body: bytes) -> Keys:
    """The public keys for signatures in a JWKS document, by id; raises `ValueError` when it is none."""
    document = orjson.loads(body)
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it is no JWKS document")
    if len(listed) > MOST_KEYS:
        raise ValueError(f"it holds more than {MOST_KEYS} keys")
    return {
        one["kid"] if isinstance(one.get("kid"), str) else None: one
        for one in listed
        if isinstance(one, dict) and one.get("kty") in PUBLIC_KINDS and one.get("use", "sig") == "sig"
    }
