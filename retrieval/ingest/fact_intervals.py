"""Finds the facts that hold at some instant among many, without looking at each of them."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass, field
from datetime import datetime

At = tuple[datetime, int]
"""An instant and the fact that begins or ends there."""
LAST = 2**63
"""More than the number of any fact."""


@dataclass(slots=True)
class Intervals:
    """The intervals [begins, ends) of facts by their numbers."""

    starts: list[At] = field(default_factory=list)
    ends: list[At] = field(default_factory=list)

    def add(self, fact_id: int, begins: datetime, ends: datetime) -> None:
        """Have the interval of a fact."""
        insort(self.starts, (begins, fact_id))
        insort(self.ends, (ends, fact_id))

    def remove(self, fact_id: int, begins: datetime, ends: datetime) -> None:
        """Have the interval of a fact no more; it must be there as it is given."""
        del self.starts[bisect_left(self.starts, (begins, fact_id))]
        del self.ends[bisect_left(self.ends, (ends, fact_id))]

    def near(self, since: datetime, until: datetime) -> list[int]:
        """Facts, oldest first, among which are all that begin before `until` and end after `since`; mostly few others.

        What is put in the order of time has few that end later, what is put against it few that begin earlier.
        """
        begun = bisect_left(self.starts, (until, 0))
        over = bisect_left(self.ends, (since, LAST))
        some = self.starts[:begun] if begun < len(self.ends) - over else self.ends[over:]
        return sorted(fact_id for _, fact_id in some)
