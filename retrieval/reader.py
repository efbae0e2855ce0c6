"""The one way to read: every statement is bound to the caller's access and checked to hold in its own snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from time import perf_counter
from typing import Any, Protocol

from retrieval.access import Access, Caller, Space
from retrieval.database import Connection, Record
from retrieval.errors import DeadlineExceeded, Unauthenticated
from retrieval.model import Model, model_of, models_of
from retrieval.sql import guarded, statement
from retrieval.store import Store

Rows = list[Record]


class Identity(Protocol):
    """What a request proves about its caller."""

    @property
    def token_digest(self) -> bytes | None:
        """SHA-256 of the bearer token."""

    @property
    def is_local_administrator(self) -> bool:
        """True for a caller without a token on a server that trusts its own machine."""


class Rights:
    """The caller's rights in one request, resolved once and resolved anew when the epoch moved on."""

    def __init__(self, store: Store, identity: Identity, deadline: float) -> None:
        self.store = store
        self.deadline = deadline
        self._identity = identity

    def seconds_left(self) -> float:
        """How long a statement may take; raises `DeadlineExceeded` when the request has no time left."""
        left = self.deadline - asyncio.get_running_loop().time()
        if left <= 0:
            raise DeadlineExceeded("The request ran out of time; ask for less or try again.")
        return min(left, self.store.tuning.statement_seconds)

    async def run(self, connection: Connection, name: str, text: str, *values: Any) -> Rows:
        """Run one statement within the time that is left, and count it."""
        started = perf_counter()
        try:
            rows: Rows = await connection.fetch(text, *values, timeout=self.seconds_left())
            return rows
        finally:
            self.store.observer.statement(name, perf_counter() - started)

    async def resolve_caller(self, connection: Connection) -> Caller:
        """Who asks, in the snapshot of this connection; raises `Unauthenticated`."""
        identity = self._identity
        rows = await self.run(connection, "caller", statement("caller"), identity.token_digest, identity.is_local_administrator)
        if not rows:
            raise Unauthenticated("The token is unknown, expired or revoked; send `Authorization: Bearer <token>`.")
        row = rows[0]
        return Caller(
            principal_id=row["principal_id"],
            name=row["name"],
            administrator=row["administrator"],
            stands_for=tuple(row["stands_for"]),
            groups=tuple(row["groups"]),
            spaces=tuple(Space(ns, name, title, frozenset(roles)) for ns, name, title, roles in row["spaces"]),
            epoch=row["epoch"],
            now=row["now"],
            model=model_of(row["model_number"], row["embedding_model"], row["embedding_size"]),
        )

    async def current_model(self) -> Model | None:
        """The model of vectors that the base holds now."""
        async with self.store.database.reading(self.seconds_left()) as connection:
            return (await models_of(connection)).current

    async def resolve_access(self, connection: Connection, caller: Caller) -> Access:
        """What the caller may see; its epoch tells whether it belongs to the same moment as the caller."""
        spaces = [space.ns for space in caller.spaces]
        whole = [space.ns for space in caller.spaces if space.is_whole]
        rows = await self.run(connection, "permitted", statement("permitted"), spaces, whole, list(caller.stands_for))
        row = rows[0]
        return Access(
            spaces=tuple(spaces),
            acls=tuple(row["acls"]),
            whole=tuple(whole),
            epoch=row["epoch"],
            fragments=tuple(zip(row["counted"], row["fragments"], strict=True)),
        )


class Reader:
    """Reads what the caller may see in some namespaces; nobody can forget or widen the access."""

    def __init__(self, rights: Rights, access: Callable[[], Coroutine[Any, Any, Access]], spaces: Iterable[Space]) -> None:
        self.rights = rights
        self.spaces = tuple(spaces)
        self.names = {space.ns: space.name for space in self.spaces}
        self._wide = access
        self._access: Access | None = None

    @property
    def store(self) -> Store:
        """What the process offers."""
        return self.rights.store

    async def access(self) -> Access:
        """The caller's access, narrowed to the namespaces of this reader."""
        if self._access is None:
            self._access = (await self._wide()).narrowed(space.ns for space in self.spaces)
        return self._access

    async def rows(self, name: str, *values: Any) -> Rows:
        """The rows of a statement; its first three parameters are the access, its snapshot has the epoch they hold for."""
        access = await self.access()
        if not access.spaces:
            return []
        async with self.store.database.reading(self.rights.seconds_left()) as connection:
            rows = await self._bound(connection, name, access, values)
        if rows[0]["epoch"] != access.epoch:
            return await self._rows_anew(name, values)
        return present(rows)

    async def _bound(self, connection: Connection, name: str, access: Access, values: tuple[Any, ...]) -> Rows:
        return await self.rights.run(
            connection, name, guarded(name), list(access.spaces), list(access.acls), list(access.whole), *values
        )

    async def _rows_anew(self, name: str, values: tuple[Any, ...]) -> Rows:
        """Rights changed since they were resolved: resolve them in the snapshot that is read."""
        async with self.store.database.snapshot(self.rights.seconds_left()) as connection:
            caller = await self.rights.resolve_caller(connection)
            access = await self.rights.resolve_access(connection, caller)
            self._access = access.narrowed(space.ns for space in self.spaces)
            return present(await self._bound(connection, name, self._access, values)) if self._access.spaces else []


def present(rows: Rows) -> Rows:
    """Only the rows that the statement gave, without the one that carries the epoch of an empty answer."""
    return [] if rows[0]["present"] is None else rows
