"""Counts what one request has others do: statements that it sends to the database, calls to providers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import asyncpg

BOUNDARIES = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")
"""What the driver sends for transactions, in capitals; our own statements are written small."""


@dataclass(slots=True)
class Spent:
    """What a request has used so far."""

    statements: int = 0
    provider_calls: int = 0
    gives_way: Callable[[], None] = lambda: None
    """Told when the request begins to wait for a provider."""

    def call_provider(self) -> None:
        """One more call; others of the caller may run while the request waits for it."""
        self.provider_calls += 1
        self.gives_way()


spending: ContextVar[Spent | None] = ContextVar("what the running request has used", default=None)


@contextmanager
def uncounted(when: bool = True) -> Iterator[None]:
    """Count nothing in the block: how often is looked may be because of what others write, or of what the caller cannot see."""
    before = spending.set(None if when else spending.get())
    try:
        yield
    finally:
        spending.reset(before)


def count_statement() -> None:
    """One more statement of the request that runs."""
    spent = spending.get()
    if spent is not None:
        spent.statements += 1


class CountedConnection(asyncpg.Connection):  # type: ignore[misc]
    """A connection that counts each statement for the request that sends it; the driver's own go by other ways."""

    __slots__ = ()

    def fetch(self, *args: Any, **options: Any) -> Any:
        """Count, then fetch."""
        count_statement()
        return super().fetch(*args, **options)

    def fetchrow(self, *args: Any, **options: Any) -> Any:
        """Count, then fetch a row."""
        count_statement()
        return super().fetchrow(*args, **options)

    def fetchval(self, *args: Any, **options: Any) -> Any:
        """Count, then fetch a value."""
        count_statement()
        return super().fetchval(*args, **options)

    def execute(self, query: str, *args: Any, **options: Any) -> Any:
        """Count unless a transaction begins or ends, then execute."""
        if not query.startswith(BOUNDARIES):
            count_statement()
        return super().execute(query, *args, **options)

    def cursor(self, *args: Any, **options: Any) -> Any:
        """Count, then give a cursor."""
        count_statement()
        return super().cursor(*args, **options)
