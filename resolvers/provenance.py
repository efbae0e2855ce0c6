"""Chains from something found down to the observation or document that it rests on, and to where that came from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from retrieval.catalogue import Catalogue
from retrieval.records import Entity, Fact, Fragment, Source


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a chain."""

    kind: str
    label: str
    namespace: str | None = None
    key: str | None = None
    at: datetime | None = None
    by: str | None = None
    uri: str | None = None
    sha256: str | None = None
    node: Any = None


async def of_fragment(catalogue: Catalogue, fragment: Fragment) -> list[Step]:
    """Fragment, entity, origin."""
    label = " — ".join(part for part in (fragment.title, fragment.heading) if part)
    entity = fragment.entity
    step = Step("FRAGMENT", label, entity.namespace, entity.key, entity.updated_at, node=fragment)
    return [step, *await of_entity(catalogue, entity)]


async def of_entity(catalogue: Catalogue, entity: Entity) -> list[Step]:
    """Entity, and the origin of its source if it has one."""
    source = await catalogue.sources.one((entity.ns, entity.entity_id))
    return [entity_step(entity), *([] if source is None else [origin_step(source)])]


async def of_fact(catalogue: Catalogue, fact: Fact) -> list[Step]:
    """Fact, then each visible place that stated it with its origin."""
    step = Step("FACT", fact.predicate, fact.namespace, at=fact.recorded_at)
    places = await catalogue.places.one((fact.ns, fact.fact_id)) or ()
    entities = await catalogue.entities.many((fact.ns, place) for place in places)
    chains = await asyncio.gather(*(of_entity(catalogue, entity) for entity in entities if entity is not None))
    return [step, *(step for chain in chains for step in chain)]


async def of_reached(catalogue: Catalogue, entity: Entity, ways: Sequence[Fact]) -> list[Step]:
    """Entity and origin, then the chains of the facts that a walk took to it."""
    chains = await asyncio.gather(of_entity(catalogue, entity), *(of_fact(catalogue, fact) for fact in ways))
    return [step for chain in chains for step in chain]


def entity_step(entity: Entity) -> Step:
    """The step of an entity, named by its kind."""
    kind = "ENTITY" if entity.kind == "THING" else entity.kind
    return Step(kind, entity.title, entity.namespace, entity.key, entity.occurred_at or entity.updated_at, node=entity)


def origin_step(source: Source) -> Step:
    """The step of where a source came from."""
    label = source.uri or source.connector or source.media_type
    by = source.author or source.connector
    return Step(
        "ORIGIN", label, source.entity.namespace, source.entity.key, source.fetched_at, by, source.uri, source.sha256, source
    )
