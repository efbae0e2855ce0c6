"""The ranked lists of one question, a channel each; those that are fused come out of one snapshot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from retrieval.adaptive import adaptive_weights, standing
from retrieval.errors import DatabaseUnavailable, Overloaded
from retrieval.fusion import fuse
from retrieval.model import QuestionVector
from retrieval.primitives.graph import Steps
from retrieval.primitives.graph import graph as graph_primitive
from retrieval.primitives.sql import sql as sql_primitive
from retrieval.question import FusionMethod, Primitive, Question
from retrieval.ranking import Candidate, Channel, Ranking
from retrieval.reader import Reader
from retrieval.stage import both, stage
from retrieval.text_lists import Degradation, TextLists, pool_size

if TYPE_CHECKING:
    from retrieval.session import Session

TEXT = frozenset({Channel.VECTOR, Channel.LEXICAL})
SEARCHED = (Channel.VECTOR, Channel.LEXICAL, Channel.GRAPH, Channel.SQL)
"""The channels of a search, one for each primitive."""
TURNS = 3
"""How many turns of the event loop it takes until the last field of a selection has started its stage."""


class Lists(TextLists):
    """The lists of one question, ranked when they are asked for.

    A list that nobody fuses is one statement of its own and waits for nothing that it does not need. Lists that are fused are
    ranked in one snapshot, which is opened when the vector of the question is there.
    """

    def __init__(self, session: Session, question: Question, reader: Reader) -> None:
        size = pool_size(session.store.tuning, question.k, question.namespaces)
        super().__init__(session, reader, question.text, size, question.filter)
        self.question = question
        self._wanted: set[Channel] = set()
        self._alone: set[Channel] = set()

    async def to_fuse(self, *channels: Channel) -> dict[Channel, Ranking]:
        """The lists of these channels that the question fuses."""
        chosen = [channel for channel in channels if Primitive[channel.name] in self.question.channels]
        if "together" not in self.__dict__:  # what comes later is ranked by itself
            self._wanted.update(channel for channel in chosen if channel not in self._alone)
        # What the lists are ranked by is needed in any case, and comes while the others say what they need.
        if Channel.LEXICAL in chosen:
            _ = self.words
        if Channel.VECTOR in chosen:
            _ = self.embedding
        await turns()
        found = await self._found_together() if any(map(self._is_shared, chosen)) else {}
        # Each is started by being named, and awaited after that.
        others = {channel: self._by_itself(channel) for channel in chosen if channel not in found}
        return {channel: found[channel] if channel in found else await others[channel] for channel in chosen}

    def _by_itself(self, channel: Channel) -> Awaitable[Ranking]:
        match channel:
            case Channel.VECTOR:
                return self.vector_pool
            case Channel.LEXICAL:
                return self.lexical_pool
            case Channel.GRAPH:
                return self.graph_pool
            case Channel.SQL:
                return self.sql_pool
            case _:
                raise ValueError(f"{channel} is no channel of a search")

    @stage
    async def vector_pool(self) -> Ranking:
        """Fragments by meaning; empty without a vector of the question."""
        if (shared := await self._shared(Channel.VECTOR)) is not None:
            return shared
        return await self.by_meaning(lambda embedding: self.nearest(self.reader, embedding))

    @stage
    async def lexical_pool(self) -> Ranking:
        """Fragments by words and identifiers."""
        if (shared := await self._shared(Channel.LEXICAL)) is not None:
            return shared
        return await self.worded(self.reader, await self.words)

    @stage
    async def sql_pool(self) -> Ranking:
        """Entities by exact filters; empty without one."""
        if (shared := await self._shared(Channel.SQL)) is not None:
            return shared
        return await self._sql(self.reader, await self.at())

    @stage
    async def graph_pool(self) -> Ranking:
        """Entities around those of the first k fused fragments, then around the first k of sql."""
        if (shared := await self._shared(Channel.GRAPH)) is not None:
            return shared
        fused, chosen = await both(self.fused, self.sql_pool)
        return await self._graph(self.reader, fused, chosen, await self.at())

    @stage
    async def fused(self) -> list[Candidate]:
        """The fragments of both text channels as one list."""
        rankings = await self.to_fuse(Channel.VECTOR, Channel.LEXICAL)
        return self.fuse(list(rankings.values()), await self.weights())

    @stage
    async def together(self) -> Mapping[Channel, Ranking]:
        """The lists that are fused, out of one snapshot."""
        wanted = frozenset(filter(self._is_shared, self._wanted))
        if Channel.LEXICAL in wanted and Channel.VECTOR in wanted:
            await both(self.words, self.embedding)
        weights, at = await self.weights(), await self.at()

        async def ranked(embedding: QuestionVector | Degradation | None) -> Mapping[Channel, Ranking]:
            words = await self.words if Channel.LEXICAL in wanted else None
            if wanted <= TEXT:  # one statement, so one snapshot
                return await self.fragments(self.reader, embedding, words)
            async with self.reader.one_moment() as reader:
                found = await self.fragments(reader, embedding, words)
                fused = self.fuse([found[channel] for channel in (Channel.VECTOR, Channel.LEXICAL) if channel in found], weights)
                found[Channel.SQL] = await self._sql(reader, at)
                if Channel.GRAPH in wanted:
                    found[Channel.GRAPH] = await self._graph(reader, fused, found[Channel.SQL], at)
                return found

        return await (self.by_meaning(ranked) if Channel.VECTOR in wanted else ranked(None))

    async def _shared(self, channel: Channel) -> Ranking | None:
        """A list that is fused with others; None for one that is not, and when another one broke the statement of all."""
        await turns()
        if self._is_shared(channel):
            return (await self._found_together()).get(channel)
        self._wanted.discard(channel)
        self._alone.add(channel)
        return None

    def _is_shared(self, channel: Channel) -> bool:
        # What the graph starts from must be there with it.
        needed = TEXT & {Channel(name) for name in self.question.channels} if channel is Channel.GRAPH else frozenset()
        return channel in self._wanted and len(self._wanted) > 1 and needed <= self._wanted

    async def _found_together(self) -> Mapping[Channel, Ranking]:
        try:
            return await self.together
        except (Overloaded, DatabaseUnavailable):
            raise
        except Exception:  # it comes again from the list that it belongs to
            return {}

    def fuse(self, rankings: Sequence[Ranking], weights: Mapping[Channel, float]) -> list[Candidate]:
        """Lists as one, by the method of the question."""
        tuning = self.session.store.tuning
        if self.question.fusion is FusionMethod.ADAPTIVE:
            return fuse(rankings, weights.__getitem__, tuning.rank_constant, partial(standing, tuning))
        return fuse(rankings, weights.__getitem__, tuning.rank_constant)

    async def weights(self) -> Mapping[Channel, float]:
        """What each channel's list counts, by the method of the question."""
        if self.question.fusion is FusionMethod.ADAPTIVE:
            words = await self.words if Primitive.LEXICAL in self.question.channels else None
            return adaptive_weights(self.session.store.tuning, words.script_shares if words else ())
        return {channel: self.question.weight(Primitive[channel.name]) for channel in SEARCHED}

    async def at(self) -> datetime:
        """The instant that facts and attributes are taken at."""
        return self.question.as_of or await self.session.now()

    async def degraded(self) -> list[Degradation]:
        """The helpers that did not help."""
        if Primitive.VECTOR not in self.question.channels:
            return []
        embedding = await self.embedding
        await turns()
        # What is under way anyway may have met another model than the request began with.
        if "graph_pool" in self.__dict__:
            with suppress(Exception):  # what breaks a list is told by the list
                await self.graph_pool
        if Channel.VECTOR in self._wanted or "vector_pool" in self.__dict__:
            with suppress(Exception):
                await self.vector_pool
        lost = embedding if isinstance(embedding, Degradation) else self.lost
        return [] if lost is None else [lost]

    async def _sql(self, reader: Reader, at: datetime) -> Ranking:
        return await sql_primitive(reader, self.question.entity_filter, at, self.size)

    async def _graph(self, reader: Reader, fused: Sequence[Candidate], chosen: Ranking, at: datetime) -> Ranking:
        k = self.question.k
        start = [(hit.ns, hit.entity_id) for hit in (*(candidate.hit for candidate in fused[:k]), *chosen.hits[:k])]
        return await graph_primitive(reader, start, Steps(self.question.hops, at, self.size))


async def turns() -> None:
    """Let all fields of one selection say which lists they need."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
