"""The public keys of an issuer of signed tokens: kept for a bounded time, and fetched anew for a key that is unknown."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import httpx2
import orjson
import structlog
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from app.identity_settings import is_on_this_machine, is_safe_address
from retrieval.errors import ProviderUnavailable, Unauthenticated

SECONDS = 5.0  # for one fetch, however slowly it drips
PAUSE_SECONDS = 10.0  # between two fetches, whoever asks: tokens with invented keys make no flood
LARGEST_BYTES = 512 * 1024
MOST_KEYS = 100
DISCOVERY = "/.well-known/openid-configuration"
PUBLIC_KINDS = frozenset({"RSA", "EC", "OKP"})
log = structlog.stdlib.get_logger("contextql.identity")
Key = Mapping[str, Any]
Keys = Mapping[str | None, Sequence[Key]]


class IssuerKeys:
    """Keys by id from a JWKS address, without one from that which the issuer's own discovery document names.

    `fresh` seconds go by before it is asked again, `kept` seconds are keys good without it.
    """

    def __init__(
        self, issuer: str, url: str | None = None, *, fresh: float, kept: float, seconds: float = SECONDS,
        pause: float = PAUSE_SECONDS, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self._issuer = issuer
        self._url = url
        self._fresh = fresh
        self._kept = max(fresh, kept)
        self._seconds = seconds
        self._pause = pause
        self._clock = clock
        self._keys: Keys = {}
        self._fetched = -math.inf
        self._tried = -math.inf
        self._failing = False
        self._fetching: asyncio.Task[None] | None = None

    async def keys(self, key_id: str | None, algorithm: str) -> Sequence[PyJWK]:
        """The keys that a signature may be by: one, but for an issuer that gives several the same id.

        Raises `Unauthenticated` when the issuer has none, `ProviderUnavailable` when it is down.
        """
        age = self._clock() - self._fetched
        if age >= self._kept:
            self._keys = {}
        elif age >= self._fresh:
            self._fetch()  # and go on with the keys that are here
        found = self._found(key_id)
        if not found and (fetching := self._fetch()) is not None:
            await asyncio.shield(fetching)
            found = self._found(key_id)
        if not found and self._failing:
            raise ProviderUnavailable("The keys of the issuer of tokens cannot be read; try again in a moment.")
        if not found:
            raise Unauthenticated("The token is signed with a key that its issuer does not have; get a new one.")
        fitting = [key for one in found if (key := fitted(one, algorithm)) is not None]
        if not fitting:
            raise Unauthenticated("The algorithm of the token does not fit its key.")
        return fitting

    async def close(self) -> None:
        """End a fetch that is under way."""
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.wait({self._fetching})

    def _found(self, key_id: str | None) -> Sequence[Key]:
        """The keys of that id; a token that names none fits a set of one key."""
        if key_id is not None:
            return self._keys.get(key_id, ())
        every = [one for same in self._keys.values() for one in same]
        return every if len(every) == 1 else ()

    def _fetch(self) -> asyncio.Task[None] | None:
        """The fetch that is under way or is begun now; None when the last one is too short a while ago."""
        if self._fetching is not None and not self._fetching.done():
            return self._fetching
        if self._clock() - self._tried < self._pause:
            return None
        self._tried = self._clock()
        self._fetching = asyncio.create_task(self._fetch_once())
        return self._fetching

    async def _fetch_once(self) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                self._keys = keys_in(await self._read(self._url or await self._discovered()))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError, ValueError) as error:
            self._failing = True
            log.warning("issuer_keys_not_read", url=self._url or self._issuer, reason=str(error)[:200] or type(error).__name__)
        else:
            self._failing = False
            self._fetched = self._clock()

    async def _discovered(self) -> str:
        """The address of the keys, as the issuer names it."""
        return address_in(await self._read(self._issuer.rstrip("/") + DISCOVERY), self._issuer)

    async def _read(self, url: str) -> bytes:
        body = bytearray()
        async with (
            httpx2.AsyncClient(timeout=self._seconds) as client,
            client.stream("GET", url, headers={"Accept": "application/json"}) as answer,
        ):
            if answer.status_code != 200:
                raise ValueError(f"it answers {answer.status_code}")
            async for part in answer.aiter_bytes():
                body += part
                if len(body) > LARGEST_BYTES:
                    raise ValueError(f"it is larger than {LARGEST_BYTES:,} bytes")
        return bytes(body)


def address_in(body: bytes, issuer: str) -> str:
    """Where the keys of an issuer are by its discovery document; raises `ValueError` when it is none or leads elsewhere.

    Only an issuer on this machine may lead to this machine: another could have any port of it asked.
    """
    document = orjson.loads(body)
    address = document.get("jwks_uri") if isinstance(document, dict) else None
    if not isinstance(address, str) or document.get("issuer") != issuer:
        raise ValueError("its discovery document is none, or that of another issuer")
    if not is_safe_address(address) or (issuer.startswith("https:") and not address.startswith("https:")):
        raise ValueError("its discovery document names an address that does not begin with https://")
    if is_on_this_machine(address) and not is_on_this_machine(issuer):
        raise ValueError("its discovery document names an address of this machine, though the issuer is not on it")
    return address


def keys_in(body: bytes) -> Keys:
    """The public keys for signatures in a JWKS document, by id; raises `ValueError` when it is none."""
    document = orjson.loads(body)
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise ValueError("it is no JWKS document")
    if len(listed) > MOST_KEYS:
        raise ValueError(f"it holds more than {MOST_KEYS} keys")
    found: dict[str | None, list[Key]] = {}
    for one in listed:
        if not isinstance(one, dict) or not isinstance(one.get("kty"), str):
            continue
        if one["kty"] in PUBLIC_KINDS and one.get("use", "sig") == "sig":
            found.setdefault(one["kid"] if isinstance(one.get("kid"), str) else None, []).append(one)
    return found


def fitted(key: Key, algorithm: str) -> PyJWK | None:
    """A key for signatures by an algorithm; None when it is for another one, or is broken."""
    if key.get("alg", algorithm) != algorithm:
        return None
    try:
        return PyJWK(dict(key), algorithm)
    except PyJWTError:
        return None
