"""The five channels of a pack, ranked in one snapshot: what each found, and what else that snapshot tells of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval.compilation.item import CHANNELS, ChannelList, Item
from retrieval.compilation.moment import Moment
from retrieval.compilation.question import TEXT, PackQuestion
from retrieval.model import QuestionVector
from retrieval.primitives.graph import Neighbour
from retrieval.question import FragmentFilter, ScopeRule
from retrieval.ranking import Channel
from retrieval.reader import Reader
from retrieval.records import Fact
from retrieval.stage import both, stage
from retrieval.text_lists import Degradation, TextLists, pool_size

if TYPE_CHECKING:
    from retrieval.session import Session


@dataclass(frozen=True, slots=True)
class Ranked:
    """What the channels found, as of one moment."""

    lists: Mapping[Channel, ChannelList]
    """The list of each channel that ran, in channel order; the first `k` of each are admitted."""
    facts: Mapping[Item, Fact]
    """The recorded row of every fact item: those of the list of facts, and the members of conflicts."""
    conflicts: tuple[tuple[Item, ...], ...]
    """The groups of facts that contradict each other, each with at least one admitted fact; members by fact id."""
    neighbours: Mapping[Item, Neighbour]
    """Every entity that the walk of GRAPH reached, also those that the scope rule took out of its list."""
    degraded: tuple[Degradation, ...]


class Channels(TextLists):
    """The channels of one pack inside one session; `reader` reads the namespaces that are asked."""

    def __init__(self, session: Session, asked: PackQuestion, reader: Reader) -> None:
        rule = ScopeRule(asked.scopes or None, asked.allowed_scopes)
        self.asked = asked
        self.rule = None if rule.is_open else rule
        size = pool_size(session.store.tuning, asked.k, asked.namespaces)
        super().__init__(session, reader, asked.text, size, FragmentFilter(scope_rule=self.rule))

    @stage
    async def ranked(self) -> Ranked:
        """What the channels of the strategy that have something to start from found."""
        started, at = self.asked.started, self.asked.as_of or await self.session.now()
        if started >= TEXT:
            await both(self.words, self.embedding)
        if Channel.VECTOR not in started:
            return await self._at_once(None, at)
        return await self.by_meaning(lambda embedding: self._at_once(embedding, at))

    async def _at_once(self, embedding: QuestionVector | Degradation | None, at: datetime) -> Ranked:
        if self.asked.started <= TEXT:  # one statement, so one snapshot
            return await self._ranked(self.reader, embedding, at)
        if Channel.LEXICAL in self.asked.started:  # looked up before the snapshot holds a connection
            await self.words
        async with self.reader.one_moment() as reader:
            return await self._ranked(reader, embedding, at)

    async def _ranked(self, reader: Reader, embedding: QuestionVector | Degradation | None, at: datetime) -> Ranked:
        words = await self.words if Channel.LEXICAL in self.asked.started else None
        begun = perf_counter()
        texts = await self.fragments(reader, embedding, words)
        moment = Moment(reader, self.asked, at, self.size, self.rule)
        await moment.rank(texts, perf_counter() - begun)
        return Ranked(
            lists={channel: moment.lists[channel] for channel in CHANNELS if channel in moment.lists},
            facts=moment.facts,
            conflicts=moment.conflicts,
            neighbours=moment.neighbours,
            degraded=(embedding,) if isinstance(embedding, Degradation) else (),
        )
