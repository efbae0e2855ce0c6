"""What is compared: something that answers questions, and the processor time it has taken with its PostgreSQL."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from app.bench.servers import cpu_of, cpu_of_postgres


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of processor time: of the product's own process, and of all of its PostgreSQL."""

    own: float
    database: float

    @property
    def whole(self) -> float:
        """Both together."""
        return self.own + self.database

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.own + other.own, self.database + other.database)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.own - other.own, self.database - other.database)


@dataclass(frozen=True, slots=True)
class Contestant:
    """A product that is loaded and warm. `ask` takes places of questions and gives the ids of the documents, best first."""

    name: str
    process: int
    postmaster: int
    ask: Callable[[Sequence[int]], Awaitable[list[list[str]]]]

    def spent(self) -> Spent:
        """Processor time since the start; each product has a PostgreSQL of its own, so that nothing is counted twice."""
        return Spent(cpu_of(self.process), cpu_of_postgres(self.postmaster))
