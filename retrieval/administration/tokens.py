"""Creates, revokes and lists bearer tokens; only a digest of the secret is stored."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

from retrieval.access import Caller
from retrieval.administration.names import check_principal, check_title
from retrieval.administration.rights import bump_rights_epoch, require_administrator
from retrieval.administration.sql import statement
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Database
from retrieval.errors import BadInput
from retrieval.outcomes import NOTHING_DELETED, Deletion
from retrieval.question import check_instant

PREFIX = "ctxql_"
"""Begins every token, so that one in a log or a repository is recognised."""


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token at the one moment when its secret is known."""

    token: str
    token_id: int

    def __repr__(self) -> str:
        return f"NewToken(token_id={self.token_id})"


@dataclass(frozen=True, slots=True)
class Token:
    """A token as administrators see it."""

    token_id: int
    principal: str
    label: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


def token_digest(token: str) -> bytes:
    """What a token is stored and found by: its SHA-256, which is enough for 32 random bytes."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


async def create_token(
    database: Database, caller: Caller, principal: str, expires_at: datetime | None = None, label: str | None = None
) -> NewToken:
    """Make a token of a user or service; raises `Forbidden` for anyone but an administrator, and `BadInput`."""
    if expires_at is not None and (expires_at := check_instant("expiresAt", expires_at)) <= datetime.now(UTC):
        raise BadInput("`expiresAt` has passed already.")
    name, label = check_principal(principal), check_title(label, "The label")
    secret = PREFIX + secrets.token_urlsafe(32)
    async with database.writing() as connection:
        await require_administrator(connection, caller)
        row = await connection.fetchrow(statement("lock_principal"), name)
        if row is None:
            raise BadInput(f"There is no principal {name!r}; create it first.")
        if row["kind"] == "GROUP":
            raise BadInput(f"{name!r} is a group; tokens belong to users and services.")
        values = token_digest(secret), row["principal_id"], label, expires_at
        token_id = await connection.fetchval(statement("create_token"), *values)
        await note_write(connection, caller, Action.CREATE_TOKEN, what={"principal": name, "token": token_id})
    return NewToken(secret, token_id)


async def revoke_token(database: Database, caller: Caller, token_id: int) -> Deletion:
    """Let a token hold no longer, from the next request on; false when there is none or it was revoked before."""
    if not 0 < token_id < 2**31:
        return NOTHING_DELETED
    async with database.writing() as connection:
        await require_administrator(connection, caller)
        if await connection.fetchval(statement("revoke_token"), token_id) is None:
            return NOTHING_DELETED
        await note_write(connection, caller, Action.REVOKE_TOKEN, what={"token": token_id})
        await bump_rights_epoch(connection)
        return Deletion(True, {"tokens": 1})


async def list_tokens(database: Database, caller: Caller, principal: str | None = None) -> tuple[Token, ...]:
    """Tokens of one principal or of all, newest first, without their secrets; raises `Forbidden`, `BadInput`."""
    name = None if principal is None else check_principal(principal)
    async with database.snapshot() as connection:
        await require_administrator(connection, caller)
        rows = await connection.fetch(statement("list_tokens"), name)
    if name is not None and not rows:
        raise BadInput(f"There is no principal {name!r}; create it first.")
    return tuple(Token(**dict(row)) for row in rows if row["token_id"] is not None)


async def digest_that_holds(database: Database, caller: Caller, principal_id: int) -> bytes | None:
    """The digest of a token that lets a principal in now, for doing again what it did; None when it has none.

    Raises `Forbidden` for anyone but an administrator.
    """
    async with database.snapshot() as connection:
        await require_administrator(connection, caller)
        digest: bytes | None = await connection.fetchval(statement("digest_that_holds"), principal_id)
    return digest
