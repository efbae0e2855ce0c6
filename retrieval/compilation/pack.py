"""What a pack gives: sections of items, and how its budget was spent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from retrieval.compilation.choosing import Decided, Dropped
from retrieval.compilation.item import Item, ItemKind
from retrieval.compilation.texts import ItemText
from retrieval.ranking import Signal
from retrieval.records import Entity, Fact, Fragment

if TYPE_CHECKING:
    from retrieval.compilation.compilation import Compilation


class SectionKind(StrEnum):
    """A part of a pack, in the order of the sections."""

    CURRENT = "CURRENT"
    RELEVANT_FACTS = "RELEVANT_FACTS"
    EPISODES = "EPISODES"
    DOCUMENTS = "DOCUMENTS"
    RELATED_ENTITIES = "RELATED_ENTITIES"
    RECENT_OBSERVATIONS = "RECENT_OBSERVATIONS"


FRAGMENTS_OF = {"EPISODE": SectionKind.EPISODES, "OBSERVATION": SectionKind.RECENT_OBSERVATIONS}
"""Where fragments go by the kind of their entity; those of any other go to the documents."""


@dataclass(frozen=True, slots=True, eq=False)
class PackItem:
    """An item of a pack: the fragment, fact or entity that it is, or the caller's own state."""

    run: Compilation
    item: Item
    said: ItemText
    score: float
    signals: tuple[Signal, ...]
    token_estimate: int
    conflict: bool = False
    fragment: Fragment | None = None
    fact: Fact | None = None
    entity: Entity | None = None

    @property
    def item_id(self) -> str:
        """The public id."""
        return self.item.item_id

    @property
    def kind(self) -> ItemKind:
        """What it is."""
        return self.item.kind

    @property
    def title(self) -> str:
        """Its title, safe."""
        return self.said.title

    @property
    def text(self) -> str:
        """Its text, safe."""
        return self.said.text

    @property
    def namespace(self) -> str | None:
        """Its namespace; the caller's own state has none."""
        return self.said.namespace

    @property
    def source_path(self) -> str | None:
        """Where people find it."""
        return self.said.source_path

    @property
    def neutralized(self) -> bool:
        """Whether text or title differs from what is stored."""
        return self.said.neutralized

    @property
    def section(self) -> SectionKind:
        """The section that it belongs to."""
        if self.fragment is not None:
            return FRAGMENTS_OF.get(self.fragment.entity.kind, SectionKind.DOCUMENTS)
        if self.fact is not None:
            return SectionKind.RELEVANT_FACTS
        return SectionKind.CURRENT if self.entity is None else SectionKind.RELATED_ENTITIES


@dataclass(frozen=True, slots=True)
class Section:
    """The items of one part of a pack, in the order in which they entered it."""

    kind: SectionKind
    items: tuple[PackItem, ...]

    @property
    def token_estimate(self) -> int:
        """The sum of its items."""
        return sum(item.token_estimate for item in self.items)


@dataclass(frozen=True, slots=True)
class Budget:
    """How the budget of a pack was spent."""

    max_tokens: int
    used_tokens: int
    truncated: bool
    dropped: tuple[Dropped, ...]


def budget_of(decided: Decided) -> Budget:
    """The budget of what was decided."""
    return Budget(decided.max_tokens, decided.used, decided.truncated, decided.dropped)


def sections_of(items: Iterable[PackItem]) -> tuple[Section, ...]:
    """Items by section, in the order of the sections; empty ones are left out."""
    listed: dict[SectionKind, list[PackItem]] = {kind: [] for kind in SectionKind}
    for item in items:
        listed[item.section].append(item)
    return tuple(Section(kind, tuple(some)) for kind, some in listed.items() if some)
