"""Computes in plain Python the lists of entities of a search; shares neither code nor SQL with the product."""

from __future__ import annotations

from dataclasses import dataclass

from tests.contract import lists, walks
from tests.contract.searching import RANK_CONSTANT, Run, Signal
from tests.fixtures.company import CLOCK, Entity, Fragment

Places = list[tuple[float, Entity, Fragment | None]]
"""A list, best first: raw score, entity, and the fragment whose place it took."""


@dataclass(frozen=True)
class EntityHit:
    """An entity that was found."""

    entity: Entity
    evidence: Fragment | None
    score: float
    signals: list[Signal]


def sql(run: Run) -> Places:
    """What meets the filter, newest change first."""
    if lists.EntityFilter(**(run.entity_filter or {})).is_open:
        return []
    found = lists.chosen(run.view, [space.name for space in run.spaces], run.entity_filter, run.at)
    found.sort(key=lambda entity: (CLOCK - entity.updated, entity.space.ns, entity.id))
    return [(1.0, entity, None) for entity in found[: run.pool]]


def graph(run: Run) -> Places:
    """What lies around the fragments found and the entities chosen."""
    start = {hit.fragment.entity for hit in run.fused} | {entity for _, entity, _ in sql(run)[: run.k]}
    facts = [fact for fact in run.view.facts(run.spaces) if fact.object is not None and run.holds(fact)]
    return [(1 / one.hops, one.entity, None) for one in walks.around(start, facts, run.hops, "BOTH", run.pool).entities]


def text(run: Run, channel: str) -> Places:
    """A list of fragments by entity: all but the first of an entity are passed over."""
    found: dict[Entity, tuple[float, Entity, Fragment | None]] = {}
    for raw, fragment in run.vector if channel == "VECTOR" else run.lexical:
        if fragment.entity not in found:
            found[fragment.entity] = (raw, fragment.entity, fragment)
    return list(found.values())


def own(run: Run, channel: str) -> list[EntityHit]:
    """The list of one channel as it is answered."""
    found = enumerate((sql if channel == "SQL" else graph)(run)[: run.k])
    return [EntityHit(entity, None, raw, [Signal(channel, rank, raw, 1.0, raw)]) for rank, (raw, entity, _) in found]


def fused(run: Run) -> list[EntityHit]:
    """All four lists as one."""
    ways = {"VECTOR": lambda: text(run, "VECTOR"), "LEXICAL": lambda: text(run, "LEXICAL"), "GRAPH": lambda: graph(run),
            "SQL": lambda: sql(run)}  # fmt: skip
    signals: dict[Entity, list[Signal]] = {}
    speakers: dict[Entity, list[tuple[int, Fragment]]] = {}
    for channel, listed in ways.items():
        for rank, (raw, entity, fragment) in enumerate(listed() if channel in run.channels else []):
            weight = run.weights.get(channel, 1.0)
            signals.setdefault(entity, []).append(Signal(channel, rank, raw, weight, weight / (RANK_CONSTANT + rank + 1)))
            speakers.setdefault(entity, []).extend([(rank, fragment)] if fragment else [])
    hits = []
    for entity, terms in signals.items():
        score = 0.0
        for term in terms:
            score += term.contribution
        best = min(speakers[entity], key=lambda one: one[0], default=(0, None))  # the first of equals, which is vector's
        hits.append(EntityHit(entity, best[1], score, terms))
    return sorted(hits, key=lambda hit: (-hit.score, hit.entity.space.ns, hit.entity.id))[: run.k]
