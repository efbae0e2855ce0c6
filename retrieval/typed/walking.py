"""The walk of a typed context: step by step over facts of one predicate each, bounded, always in the same order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from retrieval.primitives.graph import Node
from retrieval.reader import Reader
from retrieval.typed.question import StepOrigin, TypedStep


@dataclass(frozen=True, slots=True, order=True)
class Passage:
    """A fact (row id) that a step passed, from one entity to another."""

    near: Node
    far: Node
    row_id: int

    @property
    def back(self) -> Passage:
        """The way straight back."""
        return Passage(self.far, self.near, self.row_id)


@dataclass(frozen=True, slots=True)
class Reached:
    """What one step reached: new entities, all that it came to, and the facts that it passed."""

    fresh: tuple[Node, ...]
    nodes: tuple[Node, ...]
    passages: frozenset[Passage]
    truncated: bool


@dataclass(frozen=True, slots=True)
class Place:
    """An entity of a typed walk: how many facts it is from the nearest anchor, and over which of them (row ids)."""

    node: Node
    distance: int
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Walk:
    """A whole walk: its entities, anchors among them, the recorded facts that it passed (namespace and row id)."""

    places: tuple[Place, ...]
    facts: tuple[tuple[int, int], ...]
    truncated: bool


async def typed_walk(reader: Reader, anchors: Iterable[Node], steps: Sequence[TypedStep], at: datetime) -> Walk:
    """Walk all steps in their order; what a step reaches is new when no anchor and no step before it had it.

    Each step is one statement a namespace. Of each entity at most `edges_of_node` facts that the caller may see are looked at
    each way, in the order of the index: what is hidden neither costs nor cuts anything.
    """
    start = sorted(set(anchors))
    known, before = set(start), start
    passages, truncated = set[Passage](), False
    for step in steps:
        reached = await one_step(reader, step, start if step.origin is StepOrigin.ANCHORS else before, known, at)
        known.update(reached.fresh)
        passages |= reached.passages
        truncated = truncated or reached.truncated
        before = list(reached.nodes)
    facts = sorted({(one.near[0], one.row_id) for one in passages})
    return Walk(placed(start, passages), tuple(facts), truncated)


async def one_step(reader: Reader, step: TypedStep, start: Sequence[Node], known: set[Node], at: datetime) -> Reached:
    """One step from `start`; the limit counts over all namespaces."""
    ways: dict[Node, list[Passage]] = {}
    cut, edges = False, reader.store.tuning.edges_of_node
    for ns in dict.fromkeys(ns for ns, _ in start):
        nodes, old = ([id for space, id in sorted(some) if space == ns] for some in (start, known))
        # One new entity more than the limit tells that it cut something.
        bounds = (step.depth, edges, step.limit + 1)
        for row in await reader.rows("typed_step", ns, nodes, old, at, step.relation, step.direction.ways, *bounds):
            cut = cut or row["cut"]
            for near, far, row_id in zip(row["nears"], row["fars"], row["facts"], strict=True):
                ways.setdefault((ns, near), []).append(Passage((ns, near), (ns, far), row_id))
    reached = within_limit(start, ways, known, step)
    return Reached(reached.fresh, reached.nodes, reached.passages, cut or reached.truncated)


def within_limit(start: Sequence[Node], ways: Mapping[Node, Sequence[Passage]], known: set[Node], step: TypedStep) -> Reached:
    """The step over what its statements passed, nearest first, then by id; entities beyond the limit are left out.

    It comes also to where it began when a fact leads there, though not by going straight back over a fact.
    """
    front, seen, fresh, come_to = set(start), set(start), list[Node](), set[Node]()
    passages, truncated = set[Passage](), False
    for _ in range(step.depth):
        passed = [one for node in front for one in ways.get(node, ())]
        unseen = {one.far for one in passed} - seen
        new = sorted(unseen - known)
        kept = new[: step.limit - len(fresh)]
        truncated = truncated or len(kept) < len(new)
        fresh += kept
        front = (unseen & known) | set(kept)
        seen |= front
        led = [one for one in passed if one.far in seen]
        come_to.update(one.far for one in led if one.back not in passages)
        passages.update(led)
    return Reached(tuple(fresh), tuple(sorted(come_to)), frozenset(passages), truncated)


def placed(start: Sequence[Node], passages: Iterable[Passage]) -> tuple[Place, ...]:
    """Each entity with its distance over the passed facts, and those that lead to it from the entities one nearer."""
    ways: dict[Node, list[Passage]] = {}
    for one in sorted(passages):
        ways.setdefault(one.near, []).append(one)
    distances, front = dict.fromkeys(start, 0), list(start)
    via: dict[Node, set[int]] = {node: set() for node in start}
    while front:
        further: list[Node] = []
        for one in (one for node in front for one in ways.get(node, ())):
            if one.far not in distances:
                distances[one.far] = distances[one.near] + 1
                further.append(one.far)
            if distances[one.far] == distances[one.near] + 1:
                via.setdefault(one.far, set()).add(one.row_id)
        front = further
    return tuple(Place(node, distance, tuple(sorted(via[node]))) for node, distance in sorted(distances.items()))
