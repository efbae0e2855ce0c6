"""What root fields do beyond making a value of their arguments."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import cast

from resolvers.arguments import Info, page_size
from retrieval.aggregation import Aggregation, DateField, Dimension, Metric
from retrieval.counting import Counting
from retrieval.entity_filter import EntityFilter
from retrieval.errors import BadInput
from retrieval.keys import check_key, read_id
from retrieval.listing import EntityOrder, Listing, ListQuestion
from retrieval.primitives.graph import Direction
from retrieval.question import Locale, Primitive, check_namespaces
from retrieval.records import Entity, Fragment, Source
from retrieval.tuning import Tuning

Found = Entity | Fragment | Source | None


def channels(names: Iterable[str] | None) -> list[Primitive] | None:
    """The channels by name."""
    return None if names is None else [Primitive(name) for name in names]


def locale_named(name: str) -> Locale:
    """The locale by name."""
    return cast("Locale", name)


def direction_named(name: str) -> Direction:
    """The direction by name."""
    return Direction(name)


def recall_size(tuning: Tuning, budget: str) -> int:
    """How many fragments a budget brings back."""
    return {"LOW": tuning.recall_low, "MID": tuning.recall_mid, "HIGH": tuning.recall_high}[budget]


async def entities(
    info: Info, namespaces: list[str] | None, filter: EntityFilter | None, order: str, first: int, after: str | None
) -> Listing:
    """A list of entities; nothing is read before one of its fields is asked for."""
    names = check_namespaces(info.context.store.tuning, namespaces)
    asked = ListQuestion(names, filter or EntityFilter(), EntityOrder(order), page_size(info, first), after)
    return await info.context.listing(asked)


async def aggregate(
    info: Info, metric: str, dimensions: list[str], namespaces: list[str] | None, filter: EntityFilter | None, date_field: str
) -> Counting:
    """A count, made here, so that one that is refused is refused whatever is selected."""
    names = check_namespaces(info.context.store.tuning, namespaces)
    grouped = tuple(Dimension(name) for name in dimensions)
    asked = Aggregation(Metric(metric), grouped, names, filter or EntityFilter(), DateField(date_field))
    counting = await info.context.counting(asked)
    await counting.buckets
    return counting


async def entity(info: Info, namespace: str, key: str) -> Entity | None:
    """The entity with a key; None where there is none that the caller may see."""
    check_key(key, info.context.store.tuning.key_most)
    (space,) = await info.context.spaces([namespace])
    return await (await info.context.catalogue()).entities_by_key.one((space.ns, key))


async def source(info: Info, namespace: str, key: str) -> Source | None:
    """The source of the entity with a key."""
    found = await entity(info, namespace, key)
    if found is None:
        return None
    return await (await info.context.catalogue()).sources.one((found.ns, found.entity_id))


async def nodes(info: Info, ids: Sequence[str]) -> list[Found]:
    """What ids stand for, in their order; None for what the caller may not see and for what is no node."""
    most = info.context.store.tuning.page_most
    if not 1 <= len(ids) <= most:
        raise BadInput(f"`ids` has {len(ids):,} values; give 1 to {most}.")
    asked = [read_id(id) for id in ids]
    catalogue = await info.context.catalogue()

    async def find(kind: str, ns: int, number: int) -> Found:
        match kind:
            case "entity":
                return await catalogue.entities.one((ns, number))
            case "fragment":
                return await catalogue.fragments.one((ns, number))
            case "source":
                return await catalogue.sources.one((ns, number))
            case _:
                return None

    found = list(await asyncio.gather(*(find(*one) for one in asked)))
    entities = (one if isinstance(one, Entity) else one.entity for one in found if one is not None)
    info.context.touched.update(entity.namespace for entity in entities)
    return found
