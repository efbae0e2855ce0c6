"""What fields of a list of entities do beyond naming a stage."""

from __future__ import annotations

from resolvers.entity import Edge, PageInfo, page_info
from retrieval.listing import Listing
from retrieval.records import Entity


async def edges(root: Listing) -> list[Edge[Entity]]:
    """The entities of the page with their cursors."""
    return [Edge(root.cursor(entity), entity) for entity in await nodes(root)]


async def nodes(root: Listing) -> list[Entity]:
    """The entities of the page."""
    return (await root.page)[: root.question.first]


async def info(root: Listing) -> PageInfo:
    """Where the page stands."""
    has_next_page = len(await root.page) > root.question.first
    return page_info(await edges(root), has_next_page, root.question.after)


async def total_count(root: Listing) -> int:
    """How many there are in all, counted only when it is asked."""
    return await root.total
