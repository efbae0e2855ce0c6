"""Facts around given entities, nearest first; and what contradicts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retrieval.facts import told
from retrieval.primitives.filters import scope_values
from retrieval.primitives.graph import Node
from retrieval.question import ScopeRule
from retrieval.reader import Reader
from retrieval.records import Fact


@dataclass(frozen=True, slots=True)
class FactView:
    """Which facts count: those that hold at `at` as they were recorded at `known` (None: now), and that pass a rule of scopes."""

    at: datetime
    known: datetime | None = None
    rule: ScopeRule | None = None


@dataclass(frozen=True, slots=True)
class NearFact:
    """A fact that touches an entity, with one step more than that entity is away; and whether its predicate holds one value."""

    fact: Fact
    distance: int
    is_single: bool


async def facts_around(reader: Reader, nodes: Mapping[Node, int], view: FactView, most: int) -> list[NearFact]:
    """The first `most` visible facts around entities with their distances (from 0).

    Nearest first, then the best evidence, the latest start (an open one last), namespace and fact id. An entity that may not be
    seen is as one that is not there.
    """
    if not nodes:
        return []
    ends = ([ns for ns, _ in nodes], [entity_id for _, entity_id in nodes], list(nodes.values()))
    scopes = scope_values(view.rule)
    about = reader.within(ends[0])
    bounds = (most, max(nodes.values()), reader.store.tuning.facts_in_order_from)
    rows = await about.rows("facts_around", *ends, view.at, view.known, *scopes, *bounds)
    return [NearFact(fact, row["distance"], row["is_single"]) for row, fact in told(rows, reader)]


async def contradictions(reader: Reader, near: Sequence[NearFact], view: FactView, most: int) -> list[list[Fact]]:
    """For each subject and single-valued predicate of these facts of which more than one thing is said: all that is said.

    Nothing is asked when no predicate holds one value. At most `most` of a group, the given ones before others; by fact id.
    """
    single = [one.fact for one in near if one.is_single]
    groups = list(dict.fromkeys((fact.ns, fact.subject_id, fact.predicate) for fact in single))
    if not groups:
        return []
    columns = [list(column) for column in zip(*groups, strict=True)]
    given = [fact.fact_id for fact in single]
    about = reader.within(ns for ns, _, _ in groups)
    rows = await about.rows("facts_beside", *columns, view.at, view.known, *scope_values(view.rule), given, most)
    found: dict[int, list[Fact]] = {}
    for row, fact in told(rows, reader):
        found.setdefault(row["place"], []).append(fact)
    disputed = {row["place"] for row in rows if row["said"] > 1}
    return [facts for place, facts in found.items() if place in disputed]
