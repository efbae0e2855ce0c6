"""What fields of a search do beyond naming a stage."""

from __future__ import annotations

from resolvers.arguments import Info
from retrieval.highlights import Highlight
from retrieval.records import Fact, Fragment
from retrieval.search import EntityHit, FragmentHit, Search
from retrieval.subgraph import FoundNeighbour


def question(root: Search) -> str:
    """The text of the question."""
    return root.question.text


def namespaces(root: Search) -> list[str]:
    """The names of the namespaces that are searched."""
    return [space.name for space in root.spaces]


async def highlights(root: FragmentHit) -> list[Highlight]:
    """The places of the question's words."""
    return await root.highlights()


async def evidence(root: EntityHit, info: Info) -> Fragment | None:
    """The fragment that speaks for an entity; none where no fragment was ranked or it is no longer visible."""
    if root.evidence_id is None:
        return None
    return await (await info.context.catalogue()).fragments.one((root.entity.ns, root.evidence_id))


async def via(root: FoundNeighbour, info: Info) -> list[Fact]:
    """The facts that led to a neighbour; one that is no longer visible is left out."""
    catalogue = await info.context.catalogue()
    facts = await catalogue.facts.many((root.entity.ns, row_id) for row_id in root.facts)
    return [fact for fact in facts if fact is not None]


async def memories(root: Search) -> list[FragmentHit]:
    """The hits of a recall."""
    return await root.hits


async def count(root: Search) -> int:
    """How many hits there are."""
    return len(await root.hits)
