"""Computes in plain Python what a walk over facts must give; shares neither code nor SQL with the product."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tests.contract.oracle import View
from tests.fixtures.company import CLOCK, Entity, Fact


@dataclass(frozen=True, eq=False)
class Neighbour:
    entity: Entity
    hops: int
    via: list[Fact]


@dataclass(frozen=True)
class Subgraph:
    """What a walk found."""

    entities: list[Neighbour]
    facts: list[Fact]
    truncated: bool


def walked(
    view: View, start: list[dict[str, Any]], namespaces: list[str] | None = None, hops: int = 1,
    predicates: list[str] | None = None, direction: str = "BOTH", limit: int = 40, asOf: str | None = None,
) -> Subgraph:  # fmt: skip
    """The walk from entities by key, in all namespaces asked for or in the one that is given."""
    spaces = view.named(namespaces)
    wanted = [(one.get("namespace"), one["key"]) for one in start]
    view.named([name for name, _ in wanted if name is not None])
    begin = {e for e in view.entities(spaces) for name, key in wanted if e.key == key and name in (None, e.space.name)}
    at = datetime.fromisoformat(asOf) if asOf else CLOCK
    usable = [
        fact
        for fact in view.facts(spaces)
        if fact.object is not None and fact.retracted is None and (predicates is None or fact.predicate in predicates)
        and (fact.valid_from is None or fact.valid_from <= at) and (fact.valid_to is None or fact.valid_to > at)
    ]  # fmt: skip
    return around(begin, usable, hops, direction, limit)


def around(begin: set[Entity], facts: list[Fact], hops: int, direction: str, limit: int) -> Subgraph:
    """Breadth first, a whole step at a time; a step is cut where the limit is reached."""
    seen, front, found, passed, cut = set(begin), set(begin), list[Neighbour](), set[Fact](), False
    for hop in range(1, hops + 1):
        if not front or (cut and len(found) == limit):
            break
        reached: dict[Entity, set[Fact]] = {}
        for fact in facts:
            if direction != "IN" and fact.subject in front and fact.object is not None:
                reached.setdefault(fact.object, set()).add(fact)
            if direction != "OUT" and fact.object in front:
                reached.setdefault(fact.subject, set()).add(fact)
        new = [Neighbour(far, hop, sorted(via, key=lambda fact: fact.row)) for far, via in reached.items() if far not in seen]
        new.sort(key=lambda one: (-len(one.via), one.entity.space.ns, one.entity.id))
        kept = new[: limit - len(found)]
        cut = cut or len(kept) < len(new)
        shown = seen | {one.entity for one in kept}
        passed |= {fact for far, via in reached.items() if far in shown for fact in via}
        found, front, seen = found + kept, {one.entity for one in kept}, shown
    return Subgraph(found, sorted(passed, key=lambda fact: (fact.subject.space.ns, fact.row)), cut)
