"""A search as a run of lazy stages: each field awaits its stage, and only what was asked for runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.access import Space
from retrieval.answering.answer import Answer, answer_of
from retrieval.fusion import evidence_of, fold
from retrieval.highlights import Highlight, highlights_of
from retrieval.lists import SEARCHED, TEXT, Lists
from retrieval.loader import Loader
from retrieval.primitives.graph import Steps, walk
from retrieval.primitives.lexical import matched_identifiers
from retrieval.prompt import context_text, language_of
from retrieval.question import Question
from retrieval.ranking import Candidate, Ranking, Signal, SignalKind
from retrieval.records import Entity, Fragment
from retrieval.reranking.pool import Placed
from retrieval.reranking.rerank import Rerank
from retrieval.stage import Work, both, ended, stage
from retrieval.subgraph import FoundNeighbour, found_neighbours
from retrieval.text_lists import Degradation

if TYPE_CHECKING:
    from retrieval.session import Session


@dataclass(frozen=True, slots=True, eq=False)
class FragmentHit:
    """A fragment that was found, or an entity that a rerank lifted, with the terms of its score."""

    run: Search
    entity: Entity
    fragment: Fragment | None
    """None for an entity without text that a rerank lifted by its title."""
    score: float
    signals: tuple[Signal, ...]
    matched_identifiers: tuple[str, ...]
    rerank_score: float | None = None

    @property
    def card(self) -> Entity:
        """What an interface shows as the source."""
        return self.entity

    async def highlights(self) -> list[Highlight]:
        """Where the words of the question stand in title, heading and text."""
        if self.fragment is None:
            return []
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
        self.lists = Lists(session, question, self.reader)
        self.reranking = Rerank(self)

    @stage
    async def hits(self) -> list[FragmentHit]:
        """The best k fragments, in the order of the rerank if there is one."""
        await self.lists.fused
        return await self._loaded(await self.reranking.placed(self.question.k))

    @stage
    async def vector(self) -> list[FragmentHit]:
        """The best k of the vector list; the score is the raw score."""
        return await self._loaded([Placed(one) for one in own_list(await self.lists.vector_pool, self.question.k)])

    @stage
    async def lexical(self) -> list[FragmentHit]:
        """The best k of the lexical list; the score is the raw score."""
        return await self._loaded([Placed(one) for one in own_list(await self.lists.lexical_pool, self.question.k)])

    @stage
    async def sql(self) -> list[EntityHit]:
        """The best k of the sql list; the score is the raw score."""
        return await self._entity_hits(own_list(await self.lists.sql_pool, self.question.k), {})

    @stage
    async def graph(self) -> list[EntityHit]:
        """The best k of the graph list; the score is the raw score."""
        return await self._entity_hits(own_list(await self.lists.graph_pool, self.question.k), {})

    @stage
    async def entities(self) -> list[EntityHit]:
        """The best k entities of all four channels as one list."""
        fused, folded = await self.fused_entities()
        return await self._entity_hits(fused[: self.question.k], evidence_of(folded))

    async def fused_entities(self) -> tuple[list[Candidate], list[Ranking]]:
        """Entities of all channels as one list, and the lists of fragments as lists of entities."""
        rankings = await self.lists.to_fuse(*SEARCHED)
        folded = [fold(ranking) for channel, ranking in rankings.items() if channel in TEXT]
        others = [ranking for channel, ranking in rankings.items() if channel not in TEXT]
        return self.lists.fuse([*folded, *others], await self.lists.weights()), folded

    @stage
    async def neighbors(self) -> list[FoundNeighbour]:
        """Entities around those of the first k fused fragments, before any rerank."""
        start = [(c.hit.ns, c.hit.entity_id) for c in (await self.lists.fused)[: self.question.k]]
        most = self.session.store.tuning.neighbours_most
        walked = await walk(self.reader, start, Steps(self.question.hops, await self.lists.at(), most))
        return await found_neighbours(await self.session.catalogue(), walked.neighbours)

    @stage
    async def sources(self) -> list[Entity]:
        """The entities of the hits, then of the neighbours, each key once."""
        hits, around = await both(self.hits, self.neighbors)
        entities = [hit.entity for hit in hits] + [neighbour.entity for neighbour in around]
        return list({(entity.ns, entity.entity_id): entity for entity in entities}.values())

    @stage
    async def context(self) -> str:
        """Hits and neighbours as text for a prompt."""
        hits, around = await both(self.hits, self.neighbors)
        language = language_of(self.question.text, self.question.locale, self.session.store.tuning)
        fragments = [hit.fragment for hit in hits if hit.fragment is not None]  # the others are among the neighbours
        return context_text(fragments, [neighbour.entity for neighbour in around], language)

    @stage
    async def answer(self) -> Answer:
        """What a chat model makes of hits and neighbours; the only part of a search that always calls one."""
        return await answer_of(self)

    @stage
    async def degraded(self) -> list[Degradation]:
        """The helpers that did not help: the embedding of the question, the rerank."""
        verdict: object = None
        if self.question.rerank:
            await ended(self.lists.fused)
            verdict = await ended(self.reranking.scores)
        lost = await self.lists.degraded()
        return [*lost, verdict] if isinstance(verdict, Degradation) else lost

    async def _marks(self, keys: list[tuple[int, int]]) -> Mapping[tuple[int, int], list[Highlight]]:
        catalogue = await self.session.catalogue()
        fragments = await catalogue.fragments.many(keys)
        return await highlights_of(self.reader, await self.lists.words, [f for f in fragments if f is not None])

    async def _loaded(self, listed: Sequence[Placed]) -> list[FragmentHit]:
        """The candidates with their texts; one that is no longer visible is left out."""
        catalogue = await self.session.catalogue()
        hits = (one.candidate.hit for one in listed if one.judged is None)
        loaded = iter(await catalogue.fragments.many((hit.ns, hit.item_id) for hit in hits))
        asked, tuning = self.lists.identifiers, self.session.store.tuning
        found = []
        for one in listed:
            fragment = next(loaded) if one.judged is None else one.judged.fragment
            entity = fragment.entity if fragment is not None else one.judged.entity if one.judged is not None else None
            if entity is not None:
                matched = () if fragment is None else matched_identifiers(tuning, asked, fragment.identifiers)
                scored = one.candidate
                found.append(FragmentHit(self, entity, fragment, scored.score, scored.signals, matched, one.score))
        return found

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
