"""Records the statements that one request runs, with their parameters, so that they can be run again without it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from app.sessions import Identity
from retrieval.database import Acquired, Connection, Database
from retrieval.primitives.lexical import LEXICAL
from retrieval.primitives.vector import EXACT, NEAR, TWICE
from retrieval.question import Question
from retrieval.session import Session
from retrieval.sql import FOLDER, guarded, guarded_pair, statement
from retrieval.store import Store


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement as it ran."""

    name: str
    text: str
    values: tuple[Any, ...]


class RecordingDatabase(Database):
    """A database whose reads are written down."""

    statements: list[Statement]

    def reading(self, seconds: float | None = None) -> Acquired:
        """A connection that notes what it fetches."""
        return NotingAcquired(self, self._limit(seconds), self.statements)


class NotingAcquired(Acquired):
    """A connection of the pool that notes what it fetches."""

    def __init__(self, database: Database, limit: float, statements: list[Statement]) -> None:
        super().__init__(database, limit)
        self.statements = statements

    async def __aenter__(self) -> Connection:
        return cast("Connection", Noting(await super().__aenter__(), self.statements))


class Noting:
    """Stands before a connection."""

    def __init__(self, connection: Connection, statements: list[Statement]) -> None:
        self._connection = connection
        self._statements = statements

    async def fetch(self, text: str, *values: Any, timeout: float | None = None) -> Any:
        """Fetch and note."""
        self._statements.append(Statement(names()[text], text, values))
        return await self._connection.fetch(text, *values, timeout=timeout)


def names() -> dict[str, str]:
    """The names of read statements by their texts: bare, guarded, and the pair that ranks fragments."""
    known = [file.stem for file in FOLDER.glob("*.sql")]
    alone = {form(name): name for form in (statement, guarded) for name in known}
    return alone | {guarded_pair(first, LEXICAL): f"{first}+{LEXICAL}" for first in (NEAR, TWICE, EXACT)}


async def statements_of_hits(store: Store, question: Question) -> list[Statement]:
    """What `search { hits }` runs for a question."""
    assert isinstance(store.database, RecordingDatabase)
    store.database.statements = []
    deadline = asyncio.get_running_loop().time() + 60
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        await (await session.search(question)).hits
    return store.database.statements


@asynccontextmanager
async def recording_database(url: str) -> AsyncIterator[RecordingDatabase]:
    """A recording database that is closed at the end."""
    database = cast("RecordingDatabase", await RecordingDatabase.open(url, size=4))
    database.statements = []
    try:
        yield database
    finally:
        await database.close()
