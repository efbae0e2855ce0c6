"""The one way to read: every statement is bound to the caller's access and checked to hold in its own snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from operator import itemgetter
from time import perf_counter, time
from typing import Any, TypeVar

from retrieval.access import WHOLE, Access, Caller, Space
from retrieval.database import Connection, Record
from retrieval.errors import DeadlineExceeded, Forbidden, Unauthenticated
from retrieval.identity import Identity
from retrieval.model import Model, model_in_use, model_of
from retrieval.personal.filters import Filter, masked_filter
from retrieval.personal.masking import masked, masked_value
from retrieval.personal.parts import masked_parts
from retrieval.spending import uncounted
from retrieval.sql import PLANNED_ONCE, guarded, guarded_pair, statement
from retrieval.store import Store

Rows = list[Record]
Text = TypeVar("Text", str, str | None)
_LIST_AND_PLACE = itemgetter("list", "place")
NOT_FOR_THEM = "You may not act for that principal."


class Rights:
    """The caller's rights in one request, resolved once and resolved anew when the epoch moved on."""

    def __init__(self, store: Store, identity: Identity, deadline: float, request_id: str = "") -> None:
        self.store = store
        self.deadline = deadline
        self.request_id = request_id
        self.showing: frozenset[int] = frozenset()
        """The namespaces whose personal data the caller may read, as last resolved."""
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

    async def hold_since(self, epoch: int) -> bool:
        """Whether the token holds and no right changed since an epoch; when not, `resolve_caller` says what holds now."""
        if self._identity.ends_at is not None and time() >= self._identity.ends_at:
            return False
        return await self.store.holding.epoch(self._identity.token_digest) == epoch

    async def resolve_caller(self, connection: Connection) -> Caller:
        """Who asks and what that caller may see, in one snapshot of this connection.

        Raises `Unauthenticated`, and `Forbidden` when the caller may not act for whom it names, whoever that is.
        """
        identity = self._identity
        if identity.ends_at is not None and time() >= identity.ends_at:
            raise Unauthenticated("The token has expired; get a new one.")
        known = (identity.token_digest, identity.is_local_administrator, list(WHOLE), "caller" in PLANNED_ONCE)
        asked = (*known, identity.subject, list(identity.claimed), identity.acts_for)
        rows = await self.run(connection, "caller", statement("caller"), *asked)
        if (
            not rows
            and identity.acts_for is not None
            and await self.run(connection, "caller", statement("caller"), *asked[:-1], None)
        ):
            raise Forbidden(NOT_FOR_THEM)
        if not rows:
            raise Unauthenticated("The token is unknown, expired or revoked; send `Authorization: Bearer <token>`.")
        caller = _caller_of(rows[0], identity, self.request_id or None)
        self.showing = frozenset(space.ns for space in caller.spaces if space.shows_personal_data)
        return caller


def _caller_of(row: Record, identity: Identity, request_id: str | None) -> Caller:
    """The caller that the statement of that name found."""
    spaces = tuple(Space(ns, name, title, frozenset(roles)) for ns, name, title, roles in row["spaces"])
    return Caller(
        principal_id=row["principal_id"],
        name=row["name"],
        administrator=row["administrator"],
        stands_for=tuple(row["stands_for"]),
        claimed=() if row["service"] is not None else identity.claimed,
        service=row["service"],
        issuer=None if row["service"] is not None else identity.issuer,
        groups=tuple(row["groups"]),
        spaces=spaces,
        access=Access(
            spaces=tuple(sorted(space.ns for space in spaces)),
            acls=tuple(sorted(row["acls"])),
            whole=tuple(sorted(space.ns for space in spaces if space.is_whole)),
            epoch=row["epoch"],
            fragments=tuple(zip(row["counted"], row["fragments"], strict=True)),
        ),
        now=row["now"],
        model=model_of(row["model_number"], row["embedding_model"], row["embedding_size"]),
        request_id=request_id,
        snapshot=row["snapshot"],
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

    def shows(self, ns: int) -> bool:
        """Whether texts of a namespace are read as they are stored; without the right to personal data they are masked."""
        return ns in self.rights.showing

    def shown(self, ns: int, text: Text) -> Text:
        """A stored text as the caller may read it."""
        return text if text is None or self.shows(ns) else masked(text)

    def shown_parts(self, ns: int, *parts: str) -> tuple[str, ...]:
        """Stored texts that are read one after another, such as heading and text, as the caller may read them."""
        return parts if self.shows(ns) else masked_parts(*parts)

    def shown_value(self, ns: int, value: Any, name: str = "") -> Any:
        """A stored JSON value as the caller may read it; `name` is what it is called."""
        return value if self.shows(ns) else masked_value(value, name)

    def shown_to_all(self, text: Text) -> Text:
        """A text of any of the namespaces, masked unless all of them show it."""
        return text if text is None or all(map(self.shows, self.names)) else masked(text)

    def asked(self, filter: Filter) -> Filter:
        """A filter as the caller may ask it: personal data match nothing unless they may be read wherever it asks."""
        return filter if all(map(self.shows, self.names)) else masked_filter(filter)

    def within(self, spaces: Iterable[int]) -> Reader:
        """The same over those of its namespaces that are named: of hundreds, a statement about a few need not carry the rest."""
        named = set(spaces)
        return self._over([space for space in self.spaces if space.ns in named])

    def _over(self, spaces: Sequence[Space]) -> Reader:
        return Reader(self.rights, self.access, spaces)

    async def rows(self, name: str, *values: Any) -> Rows:
        """The rows of a statement; its first three parameters are the access, its snapshot has the epoch they hold for."""
        return await self._answer(name, guarded(name), values)

    async def pair(self, first: str, second: str, *values: Any) -> tuple[Rows, Rows]:
        """The rows of two ranking statements, out of one snapshot; the values of the second follow those of the first."""
        rows = await self._answer(f"{first}+{second}", guarded_pair(first, second), values)
        rows.sort(key=_LIST_AND_PLACE)
        cut = next((at for at, row in enumerate(rows) if row["list"] == 1), len(rows))
        return rows[:cut], rows[cut:]

    async def _answer(self, name: str, text: str, values: tuple[Any, ...]) -> Rows:
        access = await self.access()
        if not access.spaces:
            return []
        async with self._reading() as connection:
            rows = await self._bound(connection, name, text, access, values)
        if rows[0]["epoch"] != access.epoch:
            return await self._answer_anew(name, text, values)
        return present(rows)

    async def current_model(self) -> Model | None:
        """The model of the vectors that this reader reads; None in a snapshot from before a switch, which reads none."""
        async with self._reading() as connection:
            return await model_in_use(connection)

    @asynccontextmanager
    async def one_moment(self) -> AsyncIterator[Reader]:
        """A reader whose statements all see one snapshot; it holds a connection, so await nothing inside that needs one."""
        access = await self.access()
        async with self._snapshot() as connection:
            yield MomentReader(self, access, connection)

    def _reading(self) -> AbstractAsyncContextManager[Connection]:
        return self.store.database.reading(self.rights.seconds_left())

    def _snapshot(self) -> AbstractAsyncContextManager[Connection]:
        return self.store.database.snapshot(self.rights.seconds_left())

    async def _bound(self, connection: Connection, name: str, text: str, access: Access, values: tuple[Any, ...]) -> Rows:
        bound = (list(access.spaces), list(access.acls), list(access.whole), *values, name in PLANNED_ONCE)
        return await self.rights.run(connection, name, text, *bound)

    async def _answer_anew(self, name: str, text: str, values: tuple[Any, ...]) -> Rows:
        """Rights changed since they were resolved: resolve them in the snapshot that is read, uncounted, since others did it."""
        with uncounted():
            return await self._answered_anew(name, text, values)

    async def _answered_anew(self, name: str, text: str, values: tuple[Any, ...]) -> Rows:
        async with self._snapshot() as connection:
            caller = await self.rights.resolve_caller(connection)
            self._access = caller.access.narrowed(space.ns for space in self.spaces)
            return present(await self._bound(connection, name, text, self._access, values)) if self._access.spaces else []


class MomentReader(Reader):
    """A reader of one snapshot, in which rights are resolved anew too when they changed before it was taken."""

    def __init__(self, wide: Reader, access: Access, connection: Connection) -> None:
        super().__init__(wide.rights, wide.access, wide.spaces)
        self._access = access
        self._connection = connection

    def _over(self, spaces: Sequence[Space]) -> Reader:
        assert self._access is not None
        return MomentReader(
            Reader(self.rights, self.access, spaces), self._access.narrowed(s.ns for s in spaces), self._connection
        )

    def _reading(self) -> AbstractAsyncContextManager[Connection]:
        return nullcontext(self._connection)

    def _snapshot(self) -> AbstractAsyncContextManager[Connection]:
        return nullcontext(self._connection)


def present(rows: Rows) -> Rows:
    """Only the rows that the statement gave, without the one that carries the epoch of an empty answer."""
    return [] if rows[0]["present"] is None else rows
