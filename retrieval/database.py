"""The pool of connections: acquires with a time limit, turns driver errors into domain errors, gives connections back whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from struct import Struct
from time import monotonic
from types import TracebackType
from typing import Any, NoReturn, TypeAlias

import asyncpg
import numpy as np
import orjson
from pgvector import HalfVector

from retrieval.errors import BadInput, Conflict, ContextQLError, DatabaseUnavailable, DeadlineExceeded, Overloaded, ReadOnly
from retrieval.spending import CountedConnection, uncounted

Record: TypeAlias = asyncpg.Record
Connection: TypeAlias = "asyncpg.Connection[asyncpg.Record] | asyncpg.pool.PoolConnectionProxy[asyncpg.Record]"

AWAY = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.ConnectionDoesNotExistError,
)
"""What asyncpg raises when the database is not there or went away."""
CUT = ("clos", "not connected", "cannot switch to state")
"""What it says, in other errors, of a connection that was cut: closed already, or at the moment when its end is read."""
HALFVEC_SCHEMA = "public"
HALFVEC_HEAD = Struct(">HH")
"""How many numbers follow, and a place that is not used."""
AT_HAND_MOST = 4
AT_HAND_USES = 1_000
"""How often a connection is handed on before the pool looks at it again, so that it is replaced when it is old."""


class Database:
    """One PostgreSQL, through a pool; `reading` and `writing` differ so that reads can move to a standby."""

    def __init__(
        self, pool: asyncpg.Pool[asyncpg.Record], url: str, direct_url: str, acquire_seconds: float, idle_seconds: float
    ) -> None:
        self.pool = pool
        self.url = url
        self.direct_url = direct_url
        self._acquire_seconds = acquire_seconds
        self._idle_seconds = idle_seconds
        self._at_hand: list[tuple[Connection, float]] = []
        """Connections left whole, and since when: handing one on costs a fraction of a way through the pool."""
        self._waiting = 0
        self._handed_on = 0
        self._closing = False

    @classmethod
    async def open(
        cls,
        url: str,
        *,
        direct_url: str | None = None,
        size: int = 10,
        statement_cache: int = 100,
        acquire_seconds: float = 2.0,
        connect_seconds: float = 5.0,
        idle_seconds: float = 300.0,
    ) -> Database:
        """Connect; raises `DatabaseUnavailable` with one clear line when that fails."""
        with translated():
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=size,
                statement_cache_size=statement_cache,
                connection_class=CountedConnection,
                init=prepare_connection,
                reset=leave_as_is,
                timeout=connect_seconds,
                command_timeout=None,
                max_inactive_connection_lifetime=idle_seconds,
            )
        return cls(pool, url, direct_url or url, acquire_seconds, idle_seconds)

    async def close(self) -> None:
        """Give back every connection; those still in use after two seconds are cut."""
        self._closing = True
        try:
            while self._at_hand:
                await self.pool.release(self._at_hand.pop()[0])
            await asyncio.wait_for(self.pool.close(), 2)
        except (TimeoutError, *AWAY):
            self.pool.terminate()

    def reading(self, seconds: float | None = None) -> Acquired:
        """A connection for statements that write nothing."""
        return Acquired(self, self._limit(seconds))

    @asynccontextmanager
    async def snapshot(self, seconds: float | None = None) -> AsyncIterator[Connection]:
        """A connection inside one read-only snapshot: all its statements see the same moment."""
        async with (
            Acquired(self, self._limit(seconds)) as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield connection

    @asynccontextmanager
    async def writing(self, seconds: float | None = None) -> AsyncIterator[Connection]:
        """A connection inside a transaction that commits when the block ends well."""
        async with Acquired(self, self._limit(seconds)) as connection, connection.transaction():
            yield connection

    def in_use(self) -> int:
        """Connections that somebody works with."""
        taken: int = self.pool.get_size() - self.pool.get_idle_size()
        return taken - len(self._at_hand)

    async def acquire(self, seconds: float) -> Connection:
        """A connection that nobody else has; raises `Overloaded` when none comes free in time."""
        while self._at_hand:
            connection, since = self._at_hand.pop()
            if not is_gone(connection):
                if monotonic() - since < self._idle_seconds:
                    return connection
                connection.terminate()  # what lies between may have forgotten it, and would let the reader wait
            await self.pool.release(connection)
        self._waiting += 1
        try:
            async with asyncio.timeout(seconds):  # asyncpg's own limit starts a task each time
                return await self.pool.acquire()
        except TimeoutError:
            raise Overloaded("All database connections are busy; try again in a moment.") from None
        finally:
            self._waiting -= 1

    async def release(self, connection: Connection, whole: bool) -> None:
        """Give a connection back; one that a statement may have left in a bad state is seen to by the pool."""
        self._handed_on += 1
        wanted = not self._waiting and not self._closing and len(self._at_hand) < AT_HAND_MOST
        if whole and wanted and self._handed_on % AT_HAND_USES and not is_gone(connection):
            self._at_hand.append((connection, monotonic()))
        else:
            await self.pool.release(connection)

    def _limit(self, seconds: float | None) -> float:
        return self._acquire_seconds if seconds is None else max(0.01, min(seconds, self._acquire_seconds))


class Acquired:
    """A connection for one block; what the driver raises inside comes out as a domain error."""

    __slots__ = ("_connection", "_database", "_limit")

    def __init__(self, database: Database, limit: float) -> None:
        self._database = database
        self._limit = limit
        self._connection: Connection

    async def __aenter__(self) -> Connection:
        try:
            self._connection = await self._database.acquire(self._limit)
        except Exception as error:
            raise_translated(error)
        return self._connection

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            await self._database.release(self._connection, whole=error is None)
        except Exception as trouble:
            raise_translated(trouble)
        ours = None if error is None else domain_error(error)
        if ours is not None:
            raise ours from error


def is_gone(connection: Connection) -> bool:
    """Whether a connection was cut; the pool takes such a one back by itself, and then it does not even say that it is closed."""
    try:
        closed: bool = connection.is_closed()
    except asyncpg.InterfaceError:
        return True
    return closed


async def prepare_connection(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Teach a new connection vectors (once the extension is there), JSON, and the type that says whether a plan is kept."""
    with uncounted():  # whoever comes when none is free does not pay for it
        there = await connection.fetchval(
            "select array(select name from unnest(array['halfvec', 'planned_once']) name where to_regtype(name) is not null)"
        )
        if "halfvec" in there:
            await connection.set_type_codec(
                "halfvec", encoder=halfvec_bytes, decoder=HalfVector.from_binary, schema=HALFVEC_SCHEMA, format="binary"
            )
        if "planned_once" in there:  # the driver would find out by itself, in five times the time
            await connection.set_builtin_type_codec("planned_once", codec_name="bool")
        await connection.set_type_codec("jsonb", encoder=str, decoder=orjson.loads, schema="pg_catalog")


def halfvec_bytes(vector: HalfVector | np.ndarray[Any, np.dtype[np.floating[Any]]]) -> bytes:
    """A vector as PostgreSQL reads it; one of a question is written straight from its numbers, in half the time."""
    if isinstance(vector, HalfVector):
        return vector.to_binary()
    return HALFVEC_HEAD.pack(len(vector), 0) + np.asarray(vector).astype(">f2").tobytes()


async def leave_as_is(connection: Connection) -> None:
    """Connections carry no state of their own, so nothing is reset when one is given back."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn driver errors into domain errors, the cause kept."""
    try:
        yield
    except Exception as error:
        raise_translated(error)


def raise_translated(error: Exception) -> NoReturn:
    """Raise the domain error that a driver error stands for, the cause kept; any other as it is."""
    ours = domain_error(error)
    if ours is None:
        raise error
    raise ours from error


MEANINGS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], type[ContextQLError], str], ...] = (
    (
        asyncpg.InvalidAuthorizationSpecificationError,
        DatabaseUnavailable,
        "The database refuses the user or the password of CB_DATABASE_URL.",
    ),
    (asyncpg.InvalidCatalogNameError, DatabaseUnavailable, "The database named in CB_DATABASE_URL does not exist."),
    (asyncpg.TooManyConnectionsError, Overloaded, "The database has no free connection; try again in a moment."),
    (asyncpg.ReadOnlySQLTransactionError, ReadOnly, "The database takes no writes now; try again later."),
    (
        (asyncpg.QueryCanceledError, TimeoutError),
        DeadlineExceeded,
        "The database needed longer than the time that was left; ask for less or try again.",
    ),
    (
        (asyncpg.SerializationError, asyncpg.DeadlockDetectedError),
        Conflict,
        "Another write came first; send this one again.",
    ),
    (asyncpg.CharacterNotInRepertoireError, BadInput, "A text holds a character that cannot be stored."),
    (AWAY, DatabaseUnavailable, "The database does not answer; try again in a moment."),
)
"""What each error of the driver means to a caller; the first that fits counts."""


def domain_error(error: BaseException) -> ContextQLError | None:
    """The domain error that a driver error stands for; None for any other exception."""
    for kinds, meaning, message in MEANINGS:
        if isinstance(error, kinds):
            return meaning(message)
    if isinstance(error, asyncpg.InterfaceError | asyncpg.InternalClientError) and any(sign in str(error) for sign in CUT):
        return DatabaseUnavailable("The database does not answer; try again in a moment.")
    return None


def json_text(value: Any) -> str:
    """JSON text for a jsonb parameter."""
    return orjson.dumps(value).decode()
