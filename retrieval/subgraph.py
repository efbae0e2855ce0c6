"""A walk from given entities as a run of lazy stages: fields share the walk, and load only what they show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from retrieval.access import Space
from retrieval.catalogue import Catalogue, split
from retrieval.errors import BadInput
from retrieval.keys import check_key, key_digest
from retrieval.primitives.graph import Direction, Neighbour, Node, Steps, Walked, walk
from retrieval.question import check_instant, check_namespaces, check_values, within
from retrieval.records import Entity, Fact
from retrieval.stage import Work, stage
from retrieval.text import strict
from retrieval.tuning import Tuning

if TYPE_CHECKING:
    from retrieval.session import Session


@dataclass(frozen=True, slots=True)
class EntityRef:
    """A key, in one namespace or in all that are asked."""

    namespace: str | None
    key: str


@dataclass(frozen=True, slots=True)
class GraphQuestion:
    """One walk as a value: equal ones of a request share all their work."""

    start: tuple[EntityRef, ...]
    namespaces: tuple[str, ...] | None = None
    hops: int = 1
    predicates: tuple[str, ...] | None = None
    direction: Direction = Direction.BOTH
    limit: int = 40
    as_of: datetime | None = None


def make_graph_question(
    tuning: Tuning,
    start: Iterable[EntityRef],
    *,
    namespaces: Iterable[str] | None = None,
    hops: int = 1,
    predicates: Iterable[str] | None = None,
    direction: Direction = Direction.BOTH,
    limit: int = 40,
    as_of: datetime | None = None,
) -> GraphQuestion:
    """Check every argument of a walk; raises `BadInput` with what to change."""
    listed = list(start)
    if len(listed) > tuning.graph_starts:
        raise BadInput(f"`start` has {len(listed):,} entities; give at most {tuning.graph_starts}.")
    within("hops", hops, 1, tuning.graph_hops)
    within("limit", limit, 1, tuning.graph_most)
    return GraphQuestion(
        start=tuple(dict.fromkeys(checked(tuning, ref) for ref in listed)),
        namespaces=check_namespaces(tuning, namespaces),
        hops=hops,
        predicates=None if predicates is None else check_values("predicates", predicates, tuning.filter_values_most),
        direction=direction,
        limit=limit,
        as_of=None if as_of is None else check_instant("asOf", as_of),
    )


def checked(tuning: Tuning, ref: EntityRef, argument: str = "`start`") -> EntityRef:
    """A start whose names can be looked up."""
    namespace = None if ref.namespace is None else strict(ref.namespace, f"A namespace of {argument}")
    return EntityRef(namespace, check_key(ref.key, tuning.key_most, f"A key of {argument}"))


@dataclass(frozen=True, slots=True)
class FoundNeighbour:
    """An entity that a walk reached: in how many steps, over which facts (row ids)."""

    entity: Entity
    hops: int
    facts: tuple[int, ...]


class Subgraph:
    """One walk inside one session."""

    def __init__(self, session: Session, asked: GraphQuestion, starts: Sequence[tuple[Space, str]]) -> None:
        self.session = session
        self.asked = asked
        self.starts = tuple(starts)
        self.work: Work = session.work
        self.reader = session.reader(tuple(dict.fromkeys(space for space, _ in starts)))

    @stage
    async def start(self) -> list[Node]:
        """The start entities that are there and may be seen."""
        wanted = {(space.ns, key_digest(key)) for space, key in self.starts}
        rows = await self.reader.rows("entities_by_key", *split(sorted(wanted))) if wanted else []
        return sorted((row["ns"], row["entity_id"]) for row in rows)

    @stage
    async def walked(self) -> Walked:
        """What the walk found, as ids."""
        at = self.asked.as_of or await self.session.now()
        steps = Steps(self.asked.hops, at, self.asked.limit, self.asked.predicates, self.asked.direction)
        return await walk(self.reader, await self.start, steps)

    @stage
    async def entities(self) -> list[FoundNeighbour]:
        """The entities around the start, nearest first."""
        return await found_neighbours(await self.session.catalogue(), (await self.walked).neighbours)

    @stage
    async def facts(self) -> list[Fact]:
        """The facts that were walked, by namespace and when they were recorded."""
        rows = (await self.walked).facts
        facts = await (await self.session.catalogue()).facts.many(rows)
        return [fact for fact in facts if fact is not None]

    @stage
    async def truncated(self) -> bool:
        """Whether a bound left out something that the caller may see."""
        return (await self.walked).truncated


def starts_in(asked: GraphQuestion, spaces: Sequence[Space], named: Sequence[Space]) -> list[tuple[Space, str]]:
    """Where to look for each start: in its namespace, or in all of `spaces`; `named` are the namespaces that starts name.

    Raises `BadInput` for a start in a namespace that is not among those asked for.
    """
    known = {space.name: space for space in named}
    outside = sorted(known.keys() - {space.name for space in spaces})
    if outside:
        raise BadInput(f"`start` names namespace {outside[0]!r}, which is not among `namespaces`; add it there or leave it out.")
    return [(space, ref.key) for ref in asked.start for space in (spaces if ref.namespace is None else [known[ref.namespace]])]


async def found_neighbours(catalogue: Catalogue, found: Sequence[Neighbour]) -> list[FoundNeighbour]:
    """Neighbours with their entities; one that is no longer visible is left out."""
    entities = await catalogue.entities.many((one.ns, one.entity_id) for one in found)
    return [
        FoundNeighbour(entity, one.hops, one.facts) for one, entity in zip(found, entities, strict=True) if entity is not None
    ]
