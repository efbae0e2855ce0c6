"""What a write says about itself: an outcome for each item, and what a deletion took away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from retrieval.errors import ContextQLError


class Outcome(StrEnum):
    """What became of one item of a write."""

    CREATED = "CREATED"
    UPDATED = "UPDATED"
    UNCHANGED = "UNCHANGED"
    FAILED = "FAILED"


@dataclass(frozen=True, slots=True)
class ItemResult:
    """One item of a write by its key; a failed one has a stable code and a sentence."""

    key: str
    outcome: Outcome
    code: str | None = None
    message: str | None = None

    @classmethod
    def failed(cls, key: str, error: ContextQLError) -> ItemResult:
        """The result of an item that was refused."""
        return cls(key, Outcome.FAILED, error.code, error.message)


@dataclass(frozen=True, slots=True)
class FactResult:
    """One fact of a write by its public id, with those it is in conflict with; a failed one has a code and a sentence."""

    fact_id: str | None
    outcome: Outcome
    conflicts_with: tuple[str, ...] = ()
    code: str | None = None
    message: str | None = None

    @classmethod
    def failed(cls, error: ContextQLError) -> FactResult:
        """The result of a fact that was refused."""
        return cls(None, Outcome.FAILED, (), error.code, error.message)

    def as_json(self) -> list[Any]:
        """What is kept of it."""
        return [self.fact_id, self.outcome.value, list(self.conflicts_with), self.code, self.message]

    @classmethod
    def of_json(cls, kept: list[Any]) -> FactResult:
        """The result that was kept."""
        fact_id, outcome, others, code, message = kept
        return cls(fact_id, Outcome(outcome), tuple(others), code, message)


@dataclass(frozen=True, slots=True)
class Deletion:
    """Whether there was something to delete, and how many rows of each kind went with it."""

    deleted: bool
    counts: Mapping[str, int]


NOTHING_DELETED = Deletion(False, {})
