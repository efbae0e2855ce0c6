"""The pool of connections: acquires with a time limit, turns driver errors into domain errors, gives connections back whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeAlias

import asyncpg
import orjson
from pgvector.asyncpg import register_vector

from retrieval.errors import BadInput, Conflict, DatabaseUnavailable, DeadlineExceeded, Overloaded, ReadOnly

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


class Database:
    """One PostgreSQL, through a pool; `reading` and `writing` differ so that reads can move to a standby."""

    def __init__(self, pool: asyncpg.Pool[asyncpg.Record], url: str, direct_url: str, acquire_seconds: float) -> None:
        self.pool = pool
        self.url = url
        self.direct_url = direct_url
        self._acquire_seconds = acquire_seconds

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
    ) -> Database:
        """Connect; raises `DatabaseUnavailable` with one clear line when that fails."""
        with translated():
            pool = await asyncpg.create_pool(
                url,
                min_size=1,
                max_size=size,
                statement_cache_size=statement_cache,
                init=prepare_connection,
                reset=leave_as_is,
                timeout=connect_seconds,
                command_timeout=None,
            )
        return cls(pool, url, direct_url or url, acquire_seconds)

    async def close(self) -> None:
        """Give back every connection; those still in use after two seconds are cut."""
        try:
            await asyncio.wait_for(self.pool.close(), 2)
        except (TimeoutError, *AWAY):
            self.pool.terminate()

    @asynccontextmanager
    async def reading(self, seconds: float | None = None) -> AsyncIterator[Connection]:
        """A connection for statements that write nothing."""
        async with self._acquired(seconds) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self, seconds: float | None = None) -> AsyncIterator[Connection]:
        """A connection inside one read-only snapshot: all its statements see the same moment."""
        async with (
            self._acquired(seconds) as connection,
            connection.transaction(isolation="repeatable_read", readonly=True),
        ):
            yield connection

    @asynccontextmanager
    async def writing(self, seconds: float | None = None) -> AsyncIterator[Connection]:
        """A connection inside a transaction that commits when the block ends well."""
        async with self._acquired(seconds) as connection, connection.transaction():
            yield connection

    @asynccontextmanager
    async def _acquired(self, seconds: float | None) -> AsyncIterator[Connection]:
        limit = self._acquire_seconds if seconds is None else max(0.01, min(seconds, self._acquire_seconds))
        with translated():
            try:
                async with asyncio.timeout(limit):  # asyncpg's own limit starts a task each time
                    connection = await self.pool.acquire()
            except TimeoutError:
                raise Overloaded("All database connections are busy; try again in a moment.") from None
            try:
                yield connection
            finally:
                await self.pool.release(connection)


async def prepare_connection(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Teach a new connection vectors (once the extension is there) and JSON."""
    if await connection.fetchval("select to_regtype('halfvec') is not null"):
        await register_vector(connection)
    await connection.set_type_codec("jsonb", encoder=str, decoder=orjson.loads, schema="pg_catalog")


async def leave_as_is(connection: Connection) -> None:
    """Connections carry no state of their own, so nothing is reset when one is given back."""


@contextmanager
def translated() -> Iterator[None]:
    """Turn driver errors into domain errors, the cause kept."""
    try:
        yield
    except asyncpg.InvalidAuthorizationSpecificationError as error:
        raise DatabaseUnavailable("The database refuses the user or the password of CB_DATABASE_URL.") from error
    except asyncpg.InvalidCatalogNameError as error:
        raise DatabaseUnavailable("The database named in CB_DATABASE_URL does not exist.") from error
    except asyncpg.TooManyConnectionsError as error:
        raise Overloaded("The database has no free connection; try again in a moment.") from error
    except asyncpg.ReadOnlySQLTransactionError as error:
        raise ReadOnly("The database takes no writes now; try again later.") from error
    except (asyncpg.QueryCanceledError, TimeoutError) as error:
        raise DeadlineExceeded("The database needed longer than the time that was left; ask for less or try again.") from error
    except (asyncpg.SerializationError, asyncpg.DeadlockDetectedError) as error:
        raise Conflict("Another write came first; send this one again.") from error
    except asyncpg.CharacterNotInRepertoireError as error:
        raise BadInput("A text holds a character that cannot be stored.") from error
    except AWAY as error:
        raise DatabaseUnavailable("The database does not answer; try again in a moment.") from error
    except asyncpg.InterfaceError as error:
        if "clos" in str(error):
            raise DatabaseUnavailable("The database does not answer; try again in a moment.") from error
        raise


def json_text(value: Any) -> str:
    """JSON text for a jsonb parameter."""
    return orjson.dumps(value).decode()
