"""Computes in plain Python what a typed walk must give; shares neither code nor SQL with the product."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.contract.oracle import View
from tests.contract.over_time import holds, instant
from tests.fixtures.company import CLOCK, Entity, Fact

NOT_FOUND = "There is nothing of this type with this key, name or identifier that you may see."


@dataclass(frozen=True)
class Anchor:
    kind: str
    value: str
    entity: Entity | None = None
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Item:
    entity: Entity
    distance: int
    via: list[Fact]
    at: datetime

    @property
    def version(self) -> tuple[datetime, dict[str, Any]] | None:
        return max((one for one in self.entity.versions if one[0] <= self.at), key=lambda one: one[0], default=None)

    @property
    def ends(self) -> datetime | None:
        return min((begin for begin, _ in self.entity.versions if begin > self.at), default=None)


@dataclass
class Typed:
    """What a typed walk found."""

    anchors: list[Anchor]
    unresolved: list[Anchor]
    at: datetime
    start: list[Entity] = field(default_factory=list)
    reached: set[Entity] = field(default_factory=set)
    passed: set[tuple[Entity, Entity, Fact]] = field(default_factory=set)
    truncated: bool = False

    @property
    def facts(self) -> list[Fact]:
        facts = {fact for _, _, fact in self.passed}
        return sorted(facts, key=lambda fact: (fact.subject.space.name, fact.predicate, fact.fact))

    @property
    def items(self) -> list[Item]:
        """All entities, with the length of the shortest way over what was passed."""
        distances, front = dict.fromkeys(self.start, 0), set(self.start)
        while front:
            far = {to for near, to, _ in self.passed if near in front and to not in distances}
            distances |= {one: distances[next(iter(front))] + 1 for one in far}
            front = far
        assert set(distances) == self.reached
        via = {one: {f for n, to, f in self.passed if to is one and distances[n] == distances[one] - 1} for one in distances}
        made = [Item(one, far, sorted(via[one], key=lambda fact: fact.row), self.at) for one, far in distances.items()]
        return sorted(made, key=lambda one: (one.entity.type, one.distance, one.entity.key, one.entity.space.name))

    @property
    def sections(self) -> list[tuple[str, list[Item]]]:
        items = self.items
        return [(kind, [one for one in items if one.entity.type == kind]) for kind in dict.fromkeys(o.entity.type for o in items)]

    def sources(self, view: View) -> list[Entity]:
        stated = [place for fact in self.facts for place in sorted(fact.places, key=lambda one: one.id) if view.sees(place)]
        return list(dict.fromkeys([*(one.entity for one in self.items), *stated]))


def walked(
    view: View, anchors: list[dict[str, Any]], traverse: list[dict[str, Any]], namespaces: list[str] | None = None,
    asOf: str | None = None, allowSemantic: bool = False,
) -> Typed:  # fmt: skip
    """Anchors by key and type, then one step after another; no world has domain packs, and no anchor is asked by meaning."""
    spaces = view.named(namespaces)
    view.named([one["namespace"] for one in anchors if one.get("namespace")])
    found = Typed([], [], instant(asOf) or CLOCK)
    for kind, value, name in dict.fromkeys((one["kind"], one["value"], one.get("namespace")) for one in anchors):
        here = [one for one in view.entities(spaces) if one.key == value and name in (None, one.space.name)]
        meant = sorted((one for one in here if one.type == kind), key=lambda one: one.space.name)
        found.anchors += [Anchor(kind, value, one) for one in meant]
        if not meant:
            others = sorted(one.type for one in here)
            reason = f"The key belongs to something of type {others[0]!r}; give that as `kind`." if others else NOT_FOUND
            found.unresolved.append(Anchor(kind, value, reason=reason))
    found.start = list(dict.fromkeys(one.entity for one in found.anchors if one.entity))
    found.reached = set(found.start)
    usable = [f for f in view.facts(spaces) if f.object is not None and f.retracted is None and holds(f, found.at)]
    before = set(found.start)
    for step in traverse:
        begin = before if step.get("from") == "PREVIOUS" else set(found.start)
        before = one_step(found, [fact for fact in usable if fact.predicate == step["relation"]], begin, step)
    return found


def one_step(found: Typed, facts: list[Fact], begin: set[Entity], step: dict[str, Any]) -> set[Entity]:
    """Adds what one step finds; gives all that it came to."""
    way, left = step.get("direction", "OUT"), int(step.get("limit", 50))
    moves = [(f.subject, f.object, f) for f in facts if way != "IN" and f.object]
    moves += [(f.object, f.subject, f) for f in facts if way != "OUT" and f.object]
    front, seen, old, met = set(begin), set(begin), set(found.reached), set[Entity]()
    earlier: set[tuple[Entity, Entity, Fact]] = set()
    for _ in range(int(step.get("depth", 1))):
        passed = [move for move in moves if move[0] in front]
        unseen = {move[1] for move in passed} - seen
        new = sorted(unseen - old, key=lambda one: (one.space.ns, one.id))
        found.truncated = found.truncated or len(new) > left
        kept = new[:left]
        left -= len(kept)
        front = set(kept) | (unseen & old)
        seen |= front
        taken = {move for move in passed if move[1] in seen}
        met |= {far for near, far, fact in taken if (far, near, fact) not in earlier}
        earlier |= taken
    found.passed |= earlier
    found.reached |= seen
    return met
