"""Opens the session of one operation from what its request brought to prove who asks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from typing import Any, Protocol

from app.credentials import Credentials
from app.fair_use import FairUse, Place
from retrieval.administration.tokens import token_digest
from retrieval.errors import Forbidden, Unauthenticated
from retrieval.identity import Identity as Identity
from retrieval.session import Session
from retrieval.store import Store
from schema.limits import operation_note

LONGEST = 16_384
"""Characters of a bearer token."""


class SignedTokens(Protocol):
    """What checks signed tokens."""

    async def identity(self, token: str) -> Identity:
        """Who the token speaks of; raises `Unauthenticated`, and `ProviderUnavailable` when it cannot be told."""


async def identity_of(credentials: Credentials, local_admin: bool, signed: SignedTokens | None = None) -> Identity:
    """Read `Authorization: Bearer …`; without a token only a local caller of a local server is let in."""
    return replace(await bearer_of(credentials, local_admin, signed), acts_for=credentials.acts_for)


async def bearer_of(credentials: Credentials, local_admin: bool, signed: SignedTokens | None) -> Identity:
    """Who brought the request."""
    if credentials.authorization is None:
        if local_admin and credentials.local:
            return Identity(None, True)
        raise Unauthenticated("Send `Authorization: Bearer <token>`.")
    scheme, _, secret = credentials.authorization.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise Unauthenticated("The Authorization header must read `Bearer <token>`.")
    return await identity_of_token(secret.strip(), signed)


async def identity_of_token(token: str, signed: SignedTokens | None) -> Identity:
    """Who brings a token: one with two dots is a signed one where these are taken; raises `Unauthenticated`."""
    if len(token) > LONGEST:
        raise Unauthenticated(f"The token is longer than {LONGEST:,} characters.")
    if signed is not None and token.count(".") == 2:
        return await signed.identity(token)
    return Identity(token_digest(token), False)


class Sessions:
    """Makes sessions over a store; each lives for one operation."""

    def __init__(
        self, store: Store, *, local_admin: bool, seconds: float, signed: SignedTokens | None = None, fair: FairUse | None = None
    ) -> None:
        self._store = store
        self._fair = fair
        self._local_admin = local_admin
        self._seconds = seconds
        self._signed = signed

    def open(self, credentials: Credentials) -> AbstractAsyncContextManager[Session]:
        """A session that ends with its operation."""
        return self._opened(credentials)

    async def hold_socket(self, session: Session) -> Callable[[], None]:
        """Count a socket of the session's caller, until what is given is called; raises a refusal."""
        return (lambda: None) if self._fair is None else self._fair.hold_socket(await session.caller)

    @asynccontextmanager
    async def _opened(self, credentials: Credentials) -> AsyncIterator[Session]:
        identity = await identity_of(credentials, self._local_admin, self._signed)
        deadline = asyncio.get_running_loop().time() + self._seconds
        note = operation_note.get()  # none for a look whether a socket's credentials hold
        place = None if self._fair is None or note is None else await self._fair.enter(identity, note)
        try:
            session = Session(self._store, identity, deadline=deadline, request_id=credentials.request_id)
            session.begin()
            try:
                if place is None or self._fair is None:
                    await session.caller  # no field may run for a caller who is not known
                else:
                    await settle(self._fair, place, session, identity)
                yield session
            finally:
                await session.close()
                session.let_go()
        finally:  # also when the wait for what still runs is cut off
            if place is not None:
                place.leave()


async def settle(fair: FairUse, place: Place, session: Session, identity: Identity) -> None:
    """Have the place in the shares of the caller; raises a refusal, and what a caller is refused with who is not known."""
    try:
        caller = await session.caller
    except (Unauthenticated, Forbidden):
        fair.forget(identity)
        raise
    await place.belongs_to(caller)
    session.spent.gives_way = place.give_way


def describe(session: Session) -> Mapping[str, Any]:
    """What the access line says of a session: who asked, over which namespaces, how many stages ran."""
    return session.description()
