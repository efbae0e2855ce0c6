"""Neighbours over facts: a walk from start entities, inside each namespace by itself, nearest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from retrieval.reader import Reader


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An entity that the walk reached: in how many steps, over which recorded facts (row ids)."""

    ns: int
    entity_id: int
    hops: int
    facts: tuple[int, ...]


async def neighbours(reader: Reader, start: Sequence[tuple[int, int]], hops: int, at: datetime) -> list[Neighbour]:
    """Up to 40 entities around the start, nearest first, then more facts walked, then id; never the start itself."""
    tuning = reader.store.tuning
    found: list[Neighbour] = []
    for ns in dict.fromkeys(ns for ns, _ in start):
        found += await walk(reader, ns, [entity_id for space, entity_id in start if space == ns], hops, at)
    found.sort(key=lambda neighbour: (neighbour.hops, -len(neighbour.facts), neighbour.ns, neighbour.entity_id))
    return found[: tuning.neighbours_most]


async def walk(reader: Reader, ns: int, start: list[int], hops: int, at: datetime) -> list[Neighbour]:
    """One namespace: a statement a step, until enough nodes are there."""
    tuning = reader.store.tuning
    seen, front, found = list(dict.fromkeys(start)), list(dict.fromkeys(start)), list[Neighbour]()
    for hop in range(1, hops + 1):
        most = tuning.neighbours_most - len(found)
        if not front or most <= 0:
            break
        rows = await reader.rows("graph_hop", ns, front, seen, at, tuning.edges_of_node, most)
        step = [Neighbour(ns, row["neighbour"], hop, tuple(row["facts"])) for row in rows]
        found += step
        front = [neighbour.entity_id for neighbour in step]
        seen += front
    return found
