"""What a caller's knowledge bases hold: whether anything at all, how much, and what still waits for its vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.access import Space
from retrieval.stage import Work, stage

if TYPE_CHECKING:
    from retrieval.session import Session


class Knowledge:
    """The state of some namespaces, derived from the data and under access."""

    def __init__(self, session: Session, spaces: Sequence[Space], is_named: bool) -> None:
        self.work: Work = session.work
        self.is_named = is_named
        """Whether the namespaces were asked for by name; otherwise they are all that the caller may read."""
        self.tool_names_most = session.store.tuning.tool_names_most
        self.reader = session.reader(spaces)
        self.namespaces = [NamespaceSummary(self, space) for space in spaces]

    @stage
    async def is_empty(self) -> bool:
        """True while there is no fragment to search."""
        rows = await self.reader.rows("is_empty")
        return rows[0]["is_empty"] if rows else True

    @stage
    async def pending_embeddings(self) -> int:
        """Fragments that can be found by words and wait for their vector."""
        rows = await self.reader.rows("pending_embeddings")
        return rows[0]["pending"] if rows else 0

    @stage
    async def entity_counts(self) -> dict[int, int]:
        """Visible entities of each namespace."""
        return await self._counts("count_entities")

    @stage
    async def fragment_counts(self) -> dict[int, int]:
        """Visible fragments of each namespace."""
        return await self._counts("count_fragments")

    @stage
    async def fact_counts(self) -> dict[int, int]:
        """Visible facts of each namespace that are not retracted."""
        return await self._counts("count_facts")

    async def _counts(self, statement: str) -> dict[int, int]:
        return {row["ns"]: row["n"] for row in await self.reader.rows(statement)}


@dataclass(frozen=True, slots=True, eq=False)
class NamespaceSummary:
    """One namespace; each count is made only when it is asked for."""

    knowledge: Knowledge
    space: Space

    @property
    def name(self) -> str:
        """The namespace's name."""
        return self.space.name

    @property
    def title(self) -> str | None:
        """The title for people."""
        return self.space.title

    async def entity_count(self) -> int:
        """Visible entities."""
        return (await self.knowledge.entity_counts).get(self.space.ns, 0)

    async def fragment_count(self) -> int:
        """Visible fragments."""
        return (await self.knowledge.fragment_counts).get(self.space.ns, 0)

    async def fact_count(self) -> int:
        """Visible facts that are not retracted."""
        return (await self.knowledge.fact_counts).get(self.space.ns, 0)
