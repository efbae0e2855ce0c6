"""What a primitive returns and what fusion makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from operator import itemgetter
from typing import NamedTuple

from retrieval.database import Record


class Channel(StrEnum):
    """Where a rank comes from."""

    VECTOR = "VECTOR"
    LEXICAL = "LEXICAL"
    GRAPH = "GRAPH"
    SQL = "SQL"
    FACTS = "FACTS"
    RECENT = "RECENT"


class SignalKind(StrEnum):
    """What a term of a score stands for."""

    RANK = "RANK"
    IDENTIFIER = "IDENTIFIER"
    RELEVANCE_SCOPE = "RELEVANCE_SCOPE"
    IN_FORCE = "IN_FORCE"
    EVIDENCE = "EVIDENCE"
    FRESHNESS = "FRESHNESS"
    RERANK = "RERANK"


# Tuples where one request makes dozens: they are made in a third of the time of a frozen dataclass.


class Hit(NamedTuple):
    """One place of a ranking: a fragment (or entity) and the channel's own score."""

    ns: int
    item_id: int
    entity_id: int
    raw_score: float
    evidence: int | None = None
    """In a list of entities that was made of a list of fragments: the fragment whose place the entity took."""


_RANKED = itemgetter("ns", "fragment_id", "entity_id", "raw")


def hit_of(row: Record) -> Hit:
    """A row of a statement that ranks fragments."""
    return Hit(*_RANKED(row))


@dataclass(frozen=True, slots=True)
class Ranking:
    """A channel's list, best first; the position is the rank, from 0."""

    channel: Channel
    hits: tuple[Hit, ...]
    asked: int
    exact: bool | None = None
    """True when every visible item was compared, False when an index chose, None where the word does not apply."""
    floor: float | None = None
    """In a list of entities that was made of a list of fragments: the lowest score of that list."""

    @property
    def lowest(self) -> float:
        """The score of the last hit, which what is not in the list has at most."""
        if self.floor is not None:
            return self.floor
        return self.hits[-1].raw_score if self.hits else 0.0


class Signal(NamedTuple):
    """One term of a score: where it comes from and what it adds."""

    kind: SignalKind
    channel: Channel | None
    rank: int | None
    raw_score: float | None
    weight: float | None
    contribution: float


class Candidate(NamedTuple):
    """An item with its score; `score` is the left-to-right sum of the contributions of `signals`."""

    hit: Hit
    score: float
    signals: tuple[Signal, ...]
