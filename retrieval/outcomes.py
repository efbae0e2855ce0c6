"""What a write says about itself: an outcome for each item, and what a deletion took away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

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
class Deletion:
    """Whether there was something to delete, and how many rows of each kind went with it."""

    deleted: bool
    counts: Mapping[str, int]


NOTHING_DELETED = Deletion(False, {})
