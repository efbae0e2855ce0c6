"""What the channels of a pack find in one snapshot beside its lists of texts: the walk, facts, contradictions, what is recent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from time import perf_counter

from retrieval.catalogue import split
from retrieval.compilation.item import ChannelList, Item, ItemKind, PackHit
from retrieval.compilation.question import PackQuestion, places_of
from retrieval.fusion import fuse
from retrieval.keys import key_digest
from retrieval.primitives.facts import FactView, contradictions, facts_around
from retrieval.primitives.graph import Neighbour, Node, Steps, walk
from retrieval.primitives.recent import recent
from retrieval.question import ScopeRule
from retrieval.ranking import Channel, Ranking
from retrieval.reader import Reader
from retrieval.records import Fact


class Moment:
    """The channels of one pack in the snapshot of one reader: lists of `pool` places over what passes a rule of scopes."""

    def __init__(self, reader: Reader, asked: PackQuestion, at: datetime, pool: int, rule: ScopeRule | None) -> None:
        self.reader = reader
        self.asked = asked
        self.tuning = reader.store.tuning
        self.pool = pool
        self.rule = rule
        self.view = FactView(at, asked.known_at, rule)
        self.lists: dict[Channel, ChannelList] = {}
        self.facts: dict[Item, Fact] = {}
        self.conflicts: tuple[tuple[Item, ...], ...] = ()
        self.neighbours: dict[Item, Neighbour] = {}

    async def rank(self, texts: Mapping[Channel, Ranking], seconds: float) -> None:
        """Rank what starts, where the lists of texts are there already and took so many seconds."""
        for ranking in texts.values():
            self._keep(ranking.channel, fragment_hits(ranking), ranking.asked, seconds, ranking.exact)
        if Channel.GRAPH in self.asked.started:
            await self._around(text_entities(texts, self.asked.k, self.tuning.rank_constant))
        if Channel.RECENT in self.asked.started and self.rule is not None:
            begun = perf_counter()
            ranking = await recent(self.reader, self.rule, self.pool)
            self._keep(Channel.RECENT, fragment_hits(ranking), ranking.asked, perf_counter() - begun)

    def _keep(self, channel: Channel, hits: Iterable[PackHit], asked: int, seconds: float, exact: bool | None = None) -> None:
        self.lists[channel] = ChannelList(channel, tuple(hits), asked, exact, seconds)

    async def _around(self, hits: Sequence[Node]) -> None:
        """The entities around anchors and hits, and the facts around the anchors alone."""
        begun = perf_counter()
        anchors = await self._anchors()
        start = list(dict.fromkeys((*anchors, *hits)))
        found = await self._walked(start, self.tuning.context_max_depth)
        self.neighbours = {Item(ItemKind.ENTITY, one.ns, one.entity_id): one for one in found}
        listed = await self._passing(found)
        hops = ((one, PackHit(Item(ItemKind.ENTITY, one.ns, one.entity_id), one.entity_id, 1 / one.hops)) for one in found)
        kept = (hit for one, hit in hops if (one.ns, one.entity_id) in listed)
        self._keep(Channel.GRAPH, kept, self.tuning.context_max_nodes, perf_counter() - begun)
        if Channel.FACTS in self.asked.started:
            begun = perf_counter()
            nearer = self.tuning.context_max_depth - 1
            # A walk of more steps from the same start begins with the same steps.
            around = found if set(start) == set(anchors) or nearer == 0 else await self._walked(anchors, nearer)
            distances = dict.fromkeys(anchors, 0) | {(one.ns, one.entity_id): one.hops for one in around if one.hops <= nearer}
            await self._facts(distances, begun)

    async def _anchors(self) -> list[Node]:
        """The anchors that are there and may be seen."""
        wanted = {(space.ns, key_digest(key)) for space, key in places_of(self.asked, self.reader.spaces)}
        rows = await self.reader.rows("entities_by_key", *split(sorted(wanted))) if wanted else []
        return sorted((row["ns"], row["entity_id"]) for row in rows)

    async def _walked(self, start: Sequence[Node], hops: int) -> tuple[Neighbour, ...]:
        tuning, view = self.tuning, self.view
        steps = Steps(hops, view.at, tuning.context_max_nodes, known=view.known, edges=tuning.context_max_edges)
        return (await walk(self.reader, start, steps)).neighbours

    async def _passing(self, found: Sequence[Neighbour]) -> set[Node]:
        """Those that pass the rule of scopes."""
        nodes = {(one.ns, one.entity_id) for one in found}
        if self.rule is None or not nodes:
            return nodes
        rows = await self.reader.rows("entities_by_id", *split(sorted(nodes)))
        return {(row["ns"], row["entity_id"]) for row in rows if self.rule.passes(row["relevance_scopes"])}

    async def _facts(self, distances: Mapping[Node, int], begun: float) -> None:
        """The list of facts around entities, and what contradicts the admitted ones."""
        most = min(self.pool, self.tuning.context_max_edges)
        near = await facts_around(self.reader, distances, self.view, most)
        hits = (PackHit(fact_item(one.fact), one.fact.subject_id, 1 / one.distance) for one in near)
        self._keep(Channel.FACTS, hits, most, perf_counter() - begun)
        groups = await contradictions(self.reader, near[: self.asked.k], self.view, self.tuning.context_max_edges)
        self.conflicts = tuple(tuple(map(fact_item, group)) for group in groups)
        self.facts = {
            fact_item(fact): fact for fact in (*(one.fact for one in near), *(one for group in groups for one in group))
        }


def fragment_hits(ranking: Ranking) -> Iterable[PackHit]:
    """The places of a list of fragments."""
    return (PackHit(Item(ItemKind.FRAGMENT, hit.ns, hit.item_id), hit.entity_id, hit.raw_score) for hit in ranking.hits)


def text_entities(texts: Mapping[Channel, Ranking], k: int, constant: int) -> list[Node]:
    """The entities of the first k fragments of the admitted ones, both lists as one where each counts alike."""
    admitted = [replace(ranking, hits=ranking.hits[:k]) for ranking in texts.values()]
    return [(one.hit.ns, one.hit.entity_id) for one in fuse(admitted, lambda _: 1.0, constant)[:k]]


def fact_item(fact: Fact) -> Item:
    """The item that a recorded row of a fact stands for."""
    return Item(ItemKind.FACT, fact.ns, fact.fact_id)
