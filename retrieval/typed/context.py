"""A typed walk as a run of lazy stages: anchors, what was walked, items by type, and all that was used."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from retrieval.access import Space
from retrieval.catalogue import split
from retrieval.domain.reading import nearest
from retrieval.domain.rules import BUILT_IN, Domain
from retrieval.domain.stored import domain_of_bodies
from retrieval.errors import BadInput, DeadlineExceeded, ProviderUnavailable
from retrieval.model import ModelChanged, QuestionVector
from retrieval.personal.masking import masked
from retrieval.primitives.vector import vector
from retrieval.question import FragmentFilter
from retrieval.ranking import Ranking
from retrieval.records import Entity, Fact
from retrieval.stage import Work, both, stage
from retrieval.typed.anchors import Resolution, ResolvedAnchor, UnresolvedAnchor, keys_of, reason_of, resolve
from retrieval.typed.question import Anchor, TypedQuestion
from retrieval.typed.walking import Walk, typed_walk

if TYPE_CHECKING:
    from retrieval.session import Session


@dataclass(frozen=True, slots=True)
class TypedItem:
    """An entity of a typed walk with the version of its attributes that holds at the instant; None where none does."""

    entity: Entity
    attributes: dict[str, Any]
    version: int | None
    valid_from: datetime | None
    valid_to: datetime | None
    distance: int
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TypedSection:
    """The items of one type."""

    type: str
    items: tuple[TypedItem, ...]


@dataclass(frozen=True, slots=True)
class UsedSet:
    """All that an answer rests on, in the order in which it is shown."""

    items: tuple[TypedItem, ...]
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Found:
    """What became of the anchors."""

    resolved: tuple[ResolvedAnchor, ...]
    unresolved: tuple[UnresolvedAnchor, ...]


class TypedContext:
    """One typed walk inside one session."""

    def __init__(
        self, session: Session, asked: TypedQuestion, spaces: Sequence[Space], places: Mapping[Anchor, tuple[Space, ...]]
    ) -> None:
        self.session = session
        self.asked = asked
        self.places = places
        self.spaces = tuple(spaces)
        self.work: Work = session.work
        self.reader = session.reader(spaces)

    @stage
    async def domains(self) -> dict[int, Domain]:
        """What the packs of each namespace declare."""
        bodies: dict[int, list[str]] = {space.ns: [] for space in self.spaces}
        for row in await self.reader.rows("domain_packs"):
            bodies[row["ns"]].append(row["body"])
        return {ns: domain_of_bodies(tuple(some)) for ns, some in bodies.items()}

    @stage
    async def checked(self) -> None:
        """Refuse a step over a predicate that the packs of no namespace declare; awaited before any field."""
        domains = list((await self.domains).values())
        if not all(domain.packs for domain in domains):
            return
        declared = BUILT_IN.union(*(domain.predicates for domain in domains))
        for place, step in enumerate(self.asked.steps):
            if step.relation not in declared and domains:
                near = nearest(step.relation, declared)
                raise BadInput(f"`traverse[{place}].relation`: the domain packs declare no predicate {step.relation!r}{near}")

    @stage
    async def found(self) -> Found:
        """Every anchor, resolved or not, in the order given; by namespace, then in the order of the text."""
        domains, tuning = await self.domains, self.session.store.tuning
        ways = {
            anchor: {space.ns: keys_of(domains[space.ns], anchor, tuning.typed_identifiers) for space in spaces}
            for anchor, spaces in self.places.items()
        }
        keys = {(ns, key) for some in ways.values() for ns, listed in some.items() for _, way in listed for key in way}
        known = await self._by_key(sorted(keys))
        resolved = {one: resolve(one, spaces, ways[one], known) for one, spaces in self.places.items()}
        left = [one for one in self.asked.anchors if not resolved[one]]
        reasons = {one: reason_of(one, self.places[one], domains, known) for one in left}
        if self.asked.allow_semantic:
            for one, near in zip(left, await asyncio.gather(*(self._near(one) for one in left)), strict=True):
                if isinstance(near, str):
                    reasons[one] += f" {near}"
                else:
                    resolved[one] = near
        return Found(
            tuple(one for anchor in self.asked.anchors for one in resolved[anchor]),
            tuple(UnresolvedAnchor(one, reasons[one]) for one in left if not resolved[one]),
        )

    @stage
    async def anchors(self) -> tuple[ResolvedAnchor, ...]:
        """The anchors that stand for something."""
        return (await self.found).resolved

    @stage
    async def unresolved(self) -> tuple[UnresolvedAnchor, ...]:
        """The anchors that stand for nothing."""
        return (await self.found).unresolved

    @stage
    async def walked(self) -> Walk:
        """What the steps found, as ids."""
        start = [(one.entity.ns, one.entity.entity_id) for one in await self.anchors]
        return await typed_walk(self.reader, start, self.asked.steps, await self._at())

    @stage
    async def items(self) -> tuple[TypedItem, ...]:
        """Anchors and what was found, by type, then nearest first, then by key and namespace."""
        places = {place.node: place for place in (await self.walked).places}
        entities, versions = await asyncio.gather(self._entities(list(places)), self._versions(list(places)))
        found = []
        for node, entity in entities.items():
            row = versions.get(node)
            if row is not None:
                attributes = self.reader.shown_value(entity.ns, row["attributes"] or {})
                version = (attributes, row["version_id"], row["valid_from"], row["valid_to"])
                found.append(TypedItem(entity, *version, places[node].distance, places[node].facts))
        return tuple(sorted(found, key=lambda one: (one.entity.type, one.distance, one.entity.key, one.entity.namespace)))

    @stage
    async def sections(self) -> tuple[TypedSection, ...]:
        """The items, a section for each type."""
        listed: dict[str, list[TypedItem]] = {}
        for one in await self.items:
            listed.setdefault(one.entity.type, []).append(one)
        return tuple(TypedSection(type_, tuple(items)) for type_, items in listed.items())

    @stage
    async def facts(self) -> tuple[Fact, ...]:
        """The facts that were walked, by namespace, predicate and number."""
        found = await (await self.session.catalogue()).facts.many((await self.walked).facts)
        facts = [fact for fact in found if fact is not None]
        return tuple(sorted(facts, key=lambda fact: (fact.namespace, fact.predicate, fact.fact_id)))

    @stage
    async def used(self) -> UsedSet:
        """All that was used."""
        return UsedSet(*await both(self.items, self.facts))

    @stage
    async def sources(self) -> list[Entity]:
        """The entities of the items, then those that stated the facts, each once."""
        items, facts = await both(self.items, self.facts)
        catalogue = await self.session.catalogue()
        stated = await catalogue.places.many((fact.ns, fact.fact_id) for fact in facts)
        places = [(fact.ns, id) for fact, ids in zip(facts, stated, strict=True) for id in sorted(ids or ())]
        entities = [one.entity for one in items] + [one for one in await catalogue.entities.many(places) if one is not None]
        return list({(entity.ns, entity.entity_id): entity for entity in entities}.values())

    @stage
    async def truncated(self) -> bool:
        """Whether a bound left out something that the caller may see."""
        return (await self.walked).truncated

    async def _at(self) -> datetime:
        return self.asked.as_of or await self.session.now()

    async def _by_key(self, keys: Sequence[tuple[int, str]]) -> dict[tuple[int, str], Entity]:
        found = await (await self.session.catalogue()).entities_by_key.many(keys)
        return {key: entity for key, entity in zip(keys, found, strict=True) if entity is not None}

    async def _entities(self, nodes: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Entity]:
        found = await (await self.session.catalogue()).entities.many(nodes)
        return {node: entity for node, entity in zip(nodes, found, strict=True) if entity is not None}

    async def _versions(self, nodes: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Any]:
        if not nodes:
            return {}
        rows = await self.reader.rows("versions", *split(nodes), await self._at())
        return {(row["ns"], row["entity_id"]): row for row in rows}

    async def _near(self, anchor: Anchor) -> list[ResolvedAnchor] | str:
        """The entity of the type whose text is nearest in meaning, or why there is none."""
        try:
            ranking = await self._ranked(anchor, await self.session.question_vector(masked(anchor.value)))
        except (ProviderUnavailable, DeadlineExceeded) as error:
            return f"Meaning could not be asked: {error.message}"
        if not ranking.hits:
            return "No text of this type is near in meaning."
        (hit,) = ranking.hits
        entity = await (await self.session.catalogue()).entities.one((hit.ns, hit.entity_id))
        return [] if entity is None else [ResolvedAnchor(anchor, entity, Resolution.SEMANTIC)]

    async def _ranked(self, anchor: Anchor, asked: QuestionVector) -> Ranking:
        reader, chosen = self.session.reader(self.places[anchor]), FragmentFilter(types=(anchor.kind,))
        try:
            return await vector(reader, asked, 1, chosen)
        except ModelChanged as changed:  # between the first statement of the request and this one
            model = changed.current or await reader.current_model()
            return await vector(reader, await self.session.question_vector(masked(anchor.value), model), 1, chosen)
