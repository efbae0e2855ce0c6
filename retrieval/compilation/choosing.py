"""Chooses what goes into a pack: tried one by one in the order of their scores, under a budget of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from retrieval.compilation.item import Item
from retrieval.ranking import Signal

Node = tuple[int, int]
"""Namespace and id of an entity."""


class DropReason(StrEnum):
    """Why an item is not in the pack."""

    OVER_BUDGET = "OVER_BUDGET"
    DUPLICATE = "DUPLICATE"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item with all that decides about it."""

    item: Item
    entity_id: int
    """The entity of a fragment, the entity itself, or the subject of a fact."""
    score: float
    signals: tuple[Signal, ...]
    title: str
    text: str
    """What would be returned: masked and neutralised."""
    price: int
    """Its tokens."""
    group: int | None = None
    """The number of the conflict that it belongs to."""

    @property
    def node(self) -> Node:
        """The entity that it belongs to, or is."""
        return (self.item.ns, self.entity_id)


@dataclass(frozen=True, slots=True)
class Current:
    """The caller's own state as an item: cut where it was longer than the whole budget."""

    text: str
    price: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not in the pack, and why."""

    candidate: Candidate
    reason: DropReason


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of every candidate: it is in `entered` or in `dropped`, each in the order in which it came there."""

    current: Current | None
    entered: tuple[Candidate, ...]
    dropped: tuple[Dropped, ...]
    max_tokens: int
    used: int
    """The sum of the prices of what is in the pack."""

    @property
    def truncated(self) -> bool:
        """Whether anything was dropped or cut."""
        return bool(self.dropped) or (self.current is not None and self.current.is_cut)
