"""What a pack is made of: items, and the lists in which channels found them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from retrieval.keys import Kind, public_id
from retrieval.ranking import Channel

CHANNELS = (Channel.LEXICAL, Channel.VECTOR, Channel.FACTS, Channel.GRAPH, Channel.RECENT)
"""The channels of a pack, in the order in which they are listed everywhere."""


class ItemKind(StrEnum):
    """What an item is; the order breaks ties of scores."""

    CURRENT = "CURRENT"
    FRAGMENT = "FRAGMENT"
    FACT = "FACT"
    ENTITY = "ENTITY"


STORED: dict[ItemKind, Kind] = {ItemKind.FRAGMENT: "fragment", ItemKind.FACT: "fact", ItemKind.ENTITY: "entity"}


class Item(NamedTuple):
    """The identity by which channels meet: a fragment, a fact (by fact id) or an entity."""

    kind: ItemKind
    ns: int
    id: int

    @property
    def item_id(self) -> str:
        """The public id; of the caller's own state, of which there is one, its name."""
        return "current" if self.kind is ItemKind.CURRENT else public_id(STORED[self.kind], self.ns, self.id)


class PackHit(NamedTuple):
    """One place of a channel's list."""

    item: Item
    entity_id: int
    """The entity of a fragment, the entity itself, or the subject of a fact."""
    raw_score: float


@dataclass(frozen=True, slots=True)
class ChannelList:
    """What a channel found, best first; the position is the rank, from 0."""

    channel: Channel
    hits: tuple[PackHit, ...]
    asked: int
    exact: bool | None = None
    """True when every visible item was compared, False when an index chose, None where the word does not apply."""
    seconds: float = 0.0
