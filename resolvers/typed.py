"""What fields of a typed context do beyond naming an attribute."""

from __future__ import annotations

from resolvers.arguments import Info
from retrieval.keys import public_id
from retrieval.primitives.graph import Direction
from retrieval.records import Fact
from retrieval.typed.context import TypedItem, UsedSet
from retrieval.typed.question import Anchor, StepOrigin, TypedStep


def anchor_value(kind: str, value: str, namespace: str | None) -> Anchor:
    """The plain value of an anchor."""
    return Anchor(kind, value, namespace)


def step_value(relation: str, direction: str, depth: int, limit: int, origin: str) -> TypedStep:
    """The plain value of a step."""
    return TypedStep(relation, Direction(direction), depth, limit, StepOrigin(origin))


def version_id(root: TypedItem) -> str:
    """The public id of the version, or that of having none."""
    if root.version is None:
        return public_id("unversioned", root.entity.ns, root.entity.entity_id)
    return public_id("version", root.entity.ns, root.version)


async def via(root: TypedItem, info: Info) -> list[Fact]:
    """The facts that led to an item; one that is no longer visible is left out."""
    catalogue = await info.context.catalogue()
    facts = await catalogue.facts.many((root.entity.ns, row_id) for row_id in root.facts)
    return [fact for fact in facts if fact is not None]


def used_entities(root: UsedSet) -> list[str]:
    """The public ids of the entities."""
    return [public_id("entity", one.entity.ns, one.entity.entity_id) for one in root.items]


def used_facts(root: UsedSet) -> list[str]:
    """The public ids of the facts."""
    return [public_id("fact", fact.ns, fact.fact_id) for fact in root.facts]


def used_versions(root: UsedSet) -> list[str]:
    """The public ids of the versions."""
    return [version_id(one) for one in root.items]
