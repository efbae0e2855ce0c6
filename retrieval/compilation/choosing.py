"""Chooses what goes into a pack: tried one by one in the order of their scores, under a budget of tokens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from retrieval.compilation.item import Item, ItemKind
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
    neutralized: bool = False
    """Whether the text differs from what was given in more than where it ends."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not in the pack, and why."""

    candidate: Candidate
    reason: DropReason

    @property
    def item_id(self) -> str:
        """The public id."""
        return self.candidate.item.item_id

    @property
    def kind(self) -> ItemKind:
        """What it is."""
        return self.candidate.item.kind

    @property
    def title(self) -> str:
        """Its title, safe."""
        return self.candidate.title

    @property
    def score(self) -> float:
        """The sum of its signals."""
        return self.candidate.score

    @property
    def token_estimate(self) -> int:
        """What it would have cost."""
        return self.candidate.price


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


ORDER = {kind: place for place, kind in enumerate((ItemKind.FRAGMENT, ItemKind.FACT, ItemKind.ENTITY))}


def place_of(candidate: Candidate) -> tuple[float, int, int, int]:
    """What candidates are ordered by: the best score first, then fragments before facts before entities, then their numbers."""
    return (-candidate.score, ORDER[candidate.item.kind], candidate.item.ns, candidate.item.id)


def choose(candidates: Sequence[Candidate], max_tokens: int, current: Current | None = None) -> Decided:
    """Decide about candidates that are in their order; the facts of one conflict enter together or not at all."""
    groups: defaultdict[int, list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        if candidate.group is not None:
            groups[candidate.group].append(candidate)
    pack = _Pack(max_tokens, current)
    for candidate in candidates:
        if candidate.group is None:
            pack.try_one(candidate)
        else:
            pack.try_together(groups.pop(candidate.group, ()))
    return Decided(current, tuple(pack.entered.values()), tuple(pack.dropped), max_tokens, pack.used)


class _Pack:
    """A pack that is being filled."""

    def __init__(self, max_tokens: int, current: Current | None) -> None:
        self.max_tokens = max_tokens
        self.used = 0 if current is None else current.price
        self.entered: dict[Item, Candidate] = {}
        self.dropped: list[Dropped] = []
        self._texts = Counter[str]() if current is None else Counter([current.text])
        self._nodes_with_text: set[Node] = set()

    def try_one(self, candidate: Candidate) -> None:
        """An item that is in no conflict."""
        kind = candidate.item.kind
        if self._texts[candidate.text] or (kind is ItemKind.ENTITY and candidate.node in self._nodes_with_text):
            self._drop(candidate, DropReason.DUPLICATE)
            return
        stands_for = self.entered.get(Item(ItemKind.ENTITY, *candidate.node)) if kind is ItemKind.FRAGMENT else None
        if self.used - (stands_for.price if stands_for else 0) + candidate.price > self.max_tokens:
            self._drop(candidate, DropReason.OVER_BUDGET)
            return
        if stands_for is not None:  # its text says more of the same entity
            self._leave(stands_for)
        self._enter(candidate)

    def try_together(self, members: Sequence[Candidate]) -> None:
        """The facts of one conflict, in their order."""
        fits = self.used + sum(member.price for member in members) <= self.max_tokens
        for member in members:
            if fits:
                self._enter(member)
            else:
                self._drop(member, DropReason.OVER_BUDGET)

    def _enter(self, candidate: Candidate) -> None:
        self.entered[candidate.item] = candidate
        self.used += candidate.price
        self._texts[candidate.text] += 1
        if candidate.item.kind is ItemKind.FRAGMENT:
            self._nodes_with_text.add(candidate.node)

    def _leave(self, candidate: Candidate) -> None:
        del self.entered[candidate.item]
        self.used -= candidate.price
        self._texts[candidate.text] -= 1
        self._drop(candidate, DropReason.DUPLICATE)

    def _drop(self, candidate: Candidate, reason: DropReason) -> None:
        self.dropped.append(Dropped(candidate, reason))
