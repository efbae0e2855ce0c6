"""One count as a run: what a caller asked to be counted, in groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from retrieval.access import Space
from retrieval.aggregation import Aggregation, Bucket
from retrieval.primitives.aggregate import aggregate
from retrieval.stage import Work, stage

if TYPE_CHECKING:
    from retrieval.session import Session


class Counting:
    """One count inside one session."""

    def __init__(self, session: Session, asked: Aggregation, spaces: Sequence[Space]) -> None:
        self.session = session
        self.asked = asked
        self.spaces = tuple(spaces)
        self.work: Work = session.work
        self.reader = session.reader(spaces)

    @stage
    async def buckets(self) -> list[Bucket]:
        """The groups, ordered; raises `BadInput` when there are too many."""
        return await aggregate(self.reader, self.asked, await self.session.now())
