"""Entities around given ones: a walk over facts, inside each namespace by itself, nearest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from retrieval.ranking import Channel, Hit, Ranking
from retrieval.reader import Reader

Node = tuple[int, int]
"""Namespace and id of an entity."""


class Direction(StrEnum):
    """Which way facts are followed."""

    OUT = "OUT"
    IN = "IN"
    BOTH = "BOTH"

    @property
    def ways(self) -> list[bool]:
        """Whether facts are followed to their object, for each way that is followed."""
        return {"OUT": [True], "IN": [False], "BOTH": [True, False]}[self.value]


@dataclass(frozen=True, slots=True)
class Steps:
    """How to walk: how many steps, over facts valid at which instant, to how many entities, over which facts.

    `known` is the instant at which the facts stood in the record (None: now), `edges` how many that the caller may see are looked
    at, of an entity and each way (None: as many as is usual).
    """

    hops: int
    at: datetime
    most: int
    predicates: tuple[str, ...] | None = None
    direction: Direction = Direction.BOTH
    known: datetime | None = None
    edges: int | None = None


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity that the walk reached: in how many steps, over which recorded facts (row ids)."""

    ns: int
    entity_id: int
    hops: int
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found.

    `facts` are the recorded facts (namespace and row id) that a step passed between the start and what was found, loops and
    ways between found entities too. `truncated` says that a bound left out something that the caller may see.
    """

    neighbours: tuple[Neighbour, ...]
    facts: tuple[tuple[int, int], ...]
    truncated: bool


async def graph(reader: Reader, start: Iterable[Node], steps: Steps) -> Ranking:
    """The walk as a ranked list of entities; raw score is 1 / steps away."""
    found = (await walk(reader, start, steps)).neighbours
    hits = tuple(Hit(one.ns, one.entity_id, one.entity_id, 1 / one.hops) for one in found)
    return Ranking(Channel.GRAPH, hits, steps.most)


async def walk(reader: Reader, start: Iterable[Node], steps: Steps) -> Walked:
    """Up to `steps.most` entities around the start, nearest first, then more facts walked, then id; never the start itself.

    A start that may not be seen is as one that is not there. Of each entity a number of facts that the caller may see
    is looked at each way, in the order of the index: what is hidden neither costs nor cuts anything, in the record of the past
    neither.
    """
    front = list(dict.fromkeys(start))
    seen, found = set(front), list[Neighbour]()
    facts, truncated = set[tuple[int, int]](), False
    for hop in range(1, steps.hops + 1):
        left = steps.most - len(found)
        step = await one_step(reader, front, seen, hop, left, steps)
        truncated = truncated or step.truncated
        facts.update(step.facts)
        found += step.neighbours
        front = [(one.ns, one.entity_id) for one in step.neighbours]
        seen.update(front)
        if not front or (len(step.neighbours) == left and truncated):
            break
    return Walked(tuple(found), tuple(sorted(facts)), truncated)


async def one_step(reader: Reader, front: Sequence[Node], seen: set[Node], hop: int, most: int, steps: Steps) -> Walked:
    """One step from all of `front`, in one statement; `most` new entities over all of them."""
    reached, passed, cut = list[Neighbour](), set[tuple[int, int]](), False
    edges = reader.store.tuning.edges_of_node if steps.edges is None else steps.edges
    predicates = None if steps.predicates is None else list(steps.predicates)
    statement, record = ("graph_hop", []) if steps.known is None else ("graph_hop_known", [steps.known])
    bounds = (steps.direction.ways, edges, most + 1)
    about = reader.within(ns for ns, _ in front)
    rows = await about.rows(statement, *columns(front), *columns(seen), steps.at, predicates, *bounds, *record)
    for row in rows:
        if row["neighbour"] is None:
            cut = True
        elif row["is_new"]:
            reached.append(Neighbour(row["ns"], row["neighbour"], hop, tuple(row["facts"])))
        else:
            passed.update((row["ns"], fact) for fact in row["facts"])
    kept = tuple(reached[:most])
    passed.update((one.ns, fact) for one in kept for fact in one.facts)
    return Walked(kept, tuple(passed), cut or len(reached) > most)


def columns(nodes: Iterable[Node]) -> tuple[list[int], list[int]]:
    """Nodes as two arrays of the same length: the namespace of each, and the id of each."""
    listed = list(nodes)
    return [ns for ns, _ in listed], [entity_id for _, entity_id in listed]
