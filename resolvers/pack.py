"""What fields of a pack do beyond naming a stage."""

from __future__ import annotations

from collections.abc import Collection

from resolvers.arguments import Info
from resolvers.provenance import Step, of_fact, of_fragment, of_reached
from retrieval.compilation.compilation import Compilation
from retrieval.compilation.pack import PackItem, Section
from retrieval.compilation.question import Strategy


def strategy_named(name: str) -> Strategy:
    """The strategy by name."""
    return Strategy(name)


def question(root: Compilation) -> str:
    """The text of the question."""
    return root.asked.text


async def sections(root: Compilation, kinds: Collection[str] | None) -> list[Section]:
    """The sections of these kinds; None is all."""
    return [section for section in await root.sections if kinds is None or section.kind.value in kinds]


async def provenance(root: PackItem, info: Info) -> list[Step]:
    """The chain of what the item is; an entity has those of the facts that led to it too."""
    catalogue = await info.context.catalogue()
    await root.run.grounds
    if root.fragment is not None:
        return await of_fragment(catalogue, root.fragment)
    if root.fact is not None:
        return await of_fact(catalogue, root.fact)
    if root.entity is None:
        return []
    ways = await root.run.ways((root.entity.ns, root.entity.entity_id))
    return await of_reached(catalogue, root.entity, ways)
