"""A search as a run of lazy stages: each field awaits its stage, and only what was asked for runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from retrieval.access import Space
from retrieval.adaptive import adaptive_weights
from retrieval.errors import DeadlineExceeded, ProviderUnavailable
from retrieval.fusion import evidence_of, fold, fuse
from retrieval.highlights import Highlight, highlights_of
from retrieval.identifiers import find_identifiers
from retrieval.loader import Loader
from retrieval.model import Model, ModelChanged, QuestionVector
from retrieval.primitives.graph import Steps, walk
from retrieval.primitives.graph import graph as graph_primitive
from retrieval.primitives.lexical import Words, matched_identifiers, words_of
from retrieval.primitives.lexical import lexical as lexical_primitive
from retrieval.primitives.sql import sql as sql_primitive
from retrieval.primitives.vector import vector as vector_primitive
from retrieval.prompt import context_text, language_of
from retrieval.question import FusionMethod, Primitive, Question
from retrieval.ranking import Candidate, Channel, Ranking, Signal, SignalKind
from retrieval.records import Entity, Fragment
from retrieval.stage import Work, stage
from retrieval.subgraph import FoundNeighbour, found_neighbours

if TYPE_CHECKING:
    from retrieval.session import Session


@dataclass(frozen=True, slots=True)
class Degradation:
    """A helper that did not help: `part`, a stable `code` and a sentence."""

    part: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, eq=False)
class FragmentHit:
    """A fragment that was found, with the terms of its score."""

    run: Search
    fragment: Fragment
    score: float
    signals: tuple[Signal, ...]
    matched_identifiers: tuple[str, ...]

    @property
    def entity(self) -> Entity:
        """The entity that the fragment belongs to."""
        return self.fragment.entity

    @property
    def card(self) -> Entity:
        """What an interface shows as the source."""
        return self.fragment.entity

    async def highlights(self) -> list[Highlight]:
        """Where the words of the question stand in title, heading and text."""
        return await self.run.marks.one((self.fragment.ns, self.fragment.fragment_id)) or []


@dataclass(frozen=True, slots=True)
class EntityHit:
    """An entity that was found, with the terms of its score, and the id of the fragment that speaks for it, if one was ranked."""

    entity: Entity
    evidence_id: int | None
    score: float
    signals: tuple[Signal, ...]


class Search:
    """One question inside one session."""

    def __init__(self, session: Session, question: Question, spaces: Sequence[Space]) -> None:
        self.session = session
        self.question = question
        self.spaces = tuple(spaces)
        self.work: Work = session.work
        self.reader = session.reader(spaces)
        self.marks: Loader[tuple[int, int], list[Highlight]] = Loader(session.work, self._marks)
        tuning = session.store.tuning
        self._lost: Degradation | None = None
        self.pool = min(tuning.pool_most, max(tuning.pool_least, question.k * max(2, len(question.namespaces or ()))))

    @stage
    async def embedding(self) -> QuestionVector | Degradation:
        """The vector of the question, or why there is none: the search goes on without it."""
        return await self._embedded()

    @stage
    async def vector_pool(self) -> Ranking:
        """Fragments by meaning; empty without a vector of the question."""
        embedding = await self.embedding
        if isinstance(embedding, Degradation):
            return Ranking(Channel.VECTOR, (), self.pool)
        try:
            return await vector_primitive(self.reader, embedding, self.pool, self.question.filter)
        except ModelChanged as changed:  # between the first statement of the request and this one
            anew = await self._embedded(changed.current)
        if isinstance(anew, Degradation):
            self._lost = anew
            return Ranking(Channel.VECTOR, (), self.pool)
        return await vector_primitive(self.reader, anew, self.pool, self.question.filter)

    @stage
    async def words(self) -> Words:
        """The words and identifiers of the question."""
        return await words_of(self.reader, self.question.text)

    @stage
    async def lexical_pool(self) -> Ranking:
        """Fragments by words and identifiers."""
        return await lexical_primitive(self.reader, await self.words, self.pool, self.question.filter)

    @stage
    async def fused(self) -> list[Candidate]:
        """The fragments of both text channels as one list."""
        rankings = await asyncio.gather(*self._text_pools())
        weights = await self._weights()
        return fuse(rankings, weights.__getitem__, self.session.store.tuning.rank_constant)

    def _text_pools(self) -> list[Awaitable[Ranking]]:
        """The lists of fragments that the question wants, started."""
        pools: list[Awaitable[Ranking]] = []
        if Primitive.VECTOR in self.question.channels:
            pools.append(self.vector_pool)
        if Primitive.LEXICAL in self.question.channels:
            pools.append(self.lexical_pool)
        return pools

    def _entity_pools(self) -> list[Awaitable[Ranking]]:
        """The lists of entities that the question wants, started."""
        pools: list[Awaitable[Ranking]] = []
        if Primitive.GRAPH in self.question.channels:
            pools.append(self.graph_pool)
        if Primitive.SQL in self.question.channels:
            pools.append(self.sql_pool)
        return pools

    async def _weights(self) -> Mapping[Channel, float]:
        """What each channel's list counts, by the method of the question."""
        if self.question.fusion is FusionMethod.ADAPTIVE and Primitive.LEXICAL in self.question.channels:
            return adaptive_weights(self.session.store.tuning, (await self.words).script_shares)
        return {channel: self.question.weight(Primitive[channel.name]) for channel in Channel}

    @stage
    async def hits(self) -> list[FragmentHit]:
        """The best k fragments."""
        return await self._loaded((await self.fused)[: self.question.k])

    @stage
    async def vector(self) -> list[FragmentHit]:
        """The best k of the vector list; the score is the raw score."""
        return await self._loaded(own_list(await self.vector_pool, self.question.k))

    @stage
    async def lexical(self) -> list[FragmentHit]:
        """The best k of the lexical list; the score is the raw score."""
        return await self._loaded(own_list(await self.lexical_pool, self.question.k))

    @stage
    async def sql_pool(self) -> Ranking:
        """Entities by exact filters; empty without one."""
        return await sql_primitive(self.reader, self.question.entity_filter, await self._at(), self.pool)

    @stage
    async def sql(self) -> list[EntityHit]:
        """The best k of the sql list; the score is the raw score."""
        return await self._entity_hits(own_list(await self.sql_pool, self.question.k), {})

    @stage
    async def graph_pool(self) -> Ranking:
        """Entities around those of the first k fused fragments, then around the first k of sql."""
        fused, chosen = await asyncio.gather(self.fused, self.sql_pool)
        k = self.question.k
        start = [(hit.ns, hit.entity_id) for hit in (*(candidate.hit for candidate in fused[:k]), *chosen.hits[:k])]
        return await graph_primitive(self.reader, start, Steps(self.question.hops, await self._at(), self.pool))

    @stage
    async def graph(self) -> list[EntityHit]:
        """The best k of the graph list; the score is the raw score."""
        return await self._entity_hits(own_list(await self.graph_pool, self.question.k), {})

    @stage
    async def entities(self) -> list[EntityHit]:
        """The best k entities of all four channels as one list."""
        text, other = self._text_pools(), self._entity_pools()
        rankings = await asyncio.gather(*text, *other)
        folded = [fold(ranking) for ranking in rankings[: len(text)]]
        weights = await self._weights()
        fused = fuse([*folded, *rankings[len(text) :]], weights.__getitem__, self.session.store.tuning.rank_constant)
        return await self._entity_hits(fused[: self.question.k], evidence_of(folded))

    @stage
    async def neighbors(self) -> list[FoundNeighbour]:
        """Entities around those of the first k fused fragments, before any rerank."""
        start = [(c.hit.ns, c.hit.entity_id) for c in (await self.fused)[: self.question.k]]
        most = self.session.store.tuning.neighbours_most
        walked = await walk(self.reader, start, Steps(self.question.hops, await self._at(), most))
        return await found_neighbours(await self.session.catalogue(), walked.neighbours)

    @stage
    async def sources(self) -> list[Entity]:
        """The entities of the hits, then of the neighbours, each key once."""
        hits, around = await asyncio.gather(self.hits, self.neighbors)
        entities = [hit.entity for hit in hits] + [neighbour.entity for neighbour in around]
        return list({(entity.ns, entity.entity_id): entity for entity in entities}.values())

    @stage
    async def context(self) -> str:
        """Hits and neighbours as text for a prompt."""
        hits, around = await asyncio.gather(self.hits, self.neighbors)
        language = language_of(self.question.text, self.question.locale, self.session.store.tuning)
        return context_text([hit.fragment for hit in hits], [neighbour.entity for neighbour in around], language)

    @stage
    async def degraded(self) -> list[Degradation]:
        """The helpers that did not help."""
        if Primitive.VECTOR not in self.question.channels:
            return []
        embedding = await self.embedding
        if "vector_pool" in self.__dict__:  # it is under way anyway, and may have met another model than the request began with
            with suppress(Exception):  # what breaks the list is told by the list
                await self.vector_pool
        lost = embedding if isinstance(embedding, Degradation) else self._lost
        return [] if lost is None else [lost]

    async def _embedded(self, model: Model | None = None) -> QuestionVector | Degradation:
        try:
            return await self.session.question_vector(self.question.text, model)
        except (ProviderUnavailable, DeadlineExceeded) as error:
            return Degradation("embedding", error.code, error.message)

    async def _at(self) -> datetime:
        """The instant that facts and attributes are taken at."""
        return self.question.as_of or await self.session.now()

    async def _marks(self, keys: list[tuple[int, int]]) -> Mapping[tuple[int, int], list[Highlight]]:
        catalogue = await self.session.catalogue()
        fragments = await catalogue.fragments.many(keys)
        return await highlights_of(self.reader, await self.words, [f for f in fragments if f is not None])

    async def _loaded(self, candidates: Sequence[Candidate]) -> list[FragmentHit]:
        """The candidates with their texts; one that is no longer visible is left out."""
        catalogue = await self.session.catalogue()
        fragments = await catalogue.fragments.many((c.hit.ns, c.hit.item_id) for c in candidates)
        asked, tuning = find_identifiers(self.question.text), self.session.store.tuning
        return [
            FragmentHit(self, fragment, c.score, c.signals, matched_identifiers(tuning, asked, fragment.identifiers))
            for c, fragment in zip(candidates, fragments, strict=True)
            if fragment is not None
        ]

    async def _entity_hits(self, candidates: Sequence[Candidate], evidence: Mapping[tuple[int, int], int]) -> list[EntityHit]:
        """The candidates as entities; one that is no longer visible is left out."""
        catalogue = await self.session.catalogue()
        entities = await catalogue.entities.many((c.hit.ns, c.hit.entity_id) for c in candidates)
        return [
            EntityHit(entity, evidence.get((c.hit.ns, c.hit.entity_id)), c.score, c.signals)
            for c, entity in zip(candidates, entities, strict=True)
            if entity is not None
        ]


def own_list(ranking: Ranking, k: int) -> list[Candidate]:
    """The first k of one channel's own list; the score there is the raw score."""
    return [
        Candidate(hit, hit.raw_score, (Signal(SignalKind.RANK, ranking.channel, rank, hit.raw_score, 1.0, hit.raw_score),))
        for rank, hit in enumerate(ranking.hits[:k])
    ]
