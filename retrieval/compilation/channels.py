"""The five channels of a pack, ranked in one snapshot: what each found, and what else that snapshot tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.compilation.item import ChannelList, Item
from retrieval.primitives.graph import Neighbour
from retrieval.ranking import Channel
from retrieval.reader import Reader
from retrieval.records import Fact
from retrieval.stage import Work, stage
from retrieval.text_lists import Degradation

if TYPE_CHECKING:
    from retrieval.compilation.question import PackQuestion
    from retrieval.session import Session


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the channels found, as of one moment."""

    lists: Mapping[Channel, ChannelList]
    """The list of each channel that ran, in channel order; the first `k` of each are admitted."""
    facts: Mapping[Item, Fact]
    """The recorded row of every fact item: those of the list of facts, and the members of conflicts."""
    conflicts: tuple[tuple[Item, ...], ...]
    """The groups of facts that contradict each other, each with at least one admitted fact; members by namespace and fact id."""
    neighbours: Mapping[Item, Neighbour]
    """Every entity that the walk of GRAPH reached, also those that the scope rule took out of its list."""
    degraded: tuple[Degradation, ...]


class Channels:
    """The channels of one pack inside one session."""

    def __init__(self, session: Session, asked: PackQuestion, reader: Reader) -> None:
        self.session = session
        self.asked = asked
        self.reader = reader
        self.work: Work = session.work

    @stage
    async def ranked(self) -> Ranked:
        """What the channels of the strategy that have something to start from found."""
        return Ranked({}, {}, (), {}, ())
