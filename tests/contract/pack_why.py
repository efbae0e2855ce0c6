"""Says in plain Python why something is in a pack or is not; shares no code with the product."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tests.contract.packs import Pack, Thing, place_of
from tests.contract.searching import Signal
from tests.fixtures.company import Entity


@dataclass(frozen=True)
class Decision:
    """Why an item is in a pack, or is not."""

    outcome: str
    score: float | None
    signals: list[Signal]
    channels: list[tuple[str, int | None, int | None]]


OUTCOMES = ("INCLUDED", "OVER_BUDGET", "DUPLICATE", "OUTRANKED", "NOT_A_CANDIDATE")
NOT_FOUND = Decision("NOT_FOUND", None, [], [])


def why(pack: Pack, thing: Thing) -> Decision:
    """Why an item, which is visible, was or was not in a pack."""
    ranks, worst = pack.ranks_of(thing), {c: min(pack.k, len(listed)) - 1 for c, listed in pack.lists.items()}
    channels = [(c, ranks.get(c), worst[c] if worst[c] >= 0 else None) for c in pack.channels]
    decided = {one.thing: (one, reason) for one, reason in pack.choice.dropped}
    decided |= {one.thing: (one, "INCLUDED") for one in pack.choice.entered}
    if thing in decided:
        item, outcome = decided[thing]
        return Decision(outcome, item.score, item.signals, channels)
    return Decision("OUTRANKED" if ranks else "NOT_A_CANDIDATE", None, [], channels)


def why_entity(pack: Pack, entity: Entity) -> Decision:
    """Why an entity was or was not in a pack, by itself or by its fragments: the best that can be said."""

    def order(thing: Thing) -> tuple[Any, ...]:
        decision = why(pack, thing)
        nearest = min((rank for _, rank, _ in decision.channels if rank is not None), default=math.inf)
        return OUTCOMES.index(decision.outcome), -(decision.score or 0.0), nearest, place_of(thing)

    return why(pack, min([entity, *entity.fragments], key=order))
