"""What an item of a pack is worth: its places in the lists of the channels, and what is added to them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from retrieval.compilation.item import CHANNELS, ChannelList, Item
from retrieval.ranking import Channel, Signal, SignalKind
from retrieval.records import Entity, Fact, Fragment
from retrieval.tuning import Tuning

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Traits:
    """What of an item counts besides its places."""

    own_time: datetime
    scopes: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    is_open: bool = False
    """Of a fact: it has no end."""
    evidence: int | None = None
    """Of a fact: its rank, 1 to 3."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the question adds for: its identifiers, the requested scopes, and the instant that ages are counted to."""

    identifiers: frozenset[str]
    scopes: frozenset[str]
    at: datetime


def traits_of_fragment(fragment: Fragment) -> Traits:
    """Those of a fragment are its entity's, with identifiers of its own."""
    return Traits(own_time(fragment.entity), fragment.entity.relevance_scopes, fragment.identifiers)


def traits_of_entity(entity: Entity) -> Traits:
    """Those of an entity."""
    return Traits(own_time(entity), entity.relevance_scopes)


def traits_of_fact(fact: Fact) -> Traits:
    """Those of a fact."""
    return Traits(fact.valid_from or fact.recorded_at, fact.relevance_scopes, (), fact.valid_to is None, fact.evidence)


def own_time(entity: Entity) -> datetime:
    """When an entity happened, else when it was changed."""
    return entity.occurred_at or entity.updated_at


def weight_of(tuning: Tuning, channel: Channel) -> float:
    """What the list of a channel counts in a pack."""
    return tuning.context_weights[CHANNELS.index(channel)]


def rank_signals(tuning: Tuning, lists: Mapping[Channel, ChannelList], k: int) -> dict[Item, tuple[Signal, ...]]:
    """The places that count: the first `k` of each list, in the order of the channels."""
    found: dict[Item, tuple[Signal, ...]] = {}
    for channel in CHANNELS:
        if channel in lists:
            weight = weight_of(tuning, channel)
            for rank, hit in enumerate(lists[channel].hits[:k]):
                contribution = weight / (tuning.rank_constant + rank + 1)
                signal = Signal(SignalKind.RANK, channel, rank, hit.raw_score, weight, contribution)
                found[hit.item] = (*found.get(hit.item, ()), signal)
    return found


def bonuses(tuning: Tuning, wanted: Wanted, traits: Traits) -> tuple[Signal, ...]:
    """What is added to the places of an item, each term only where it applies."""
    terms: list[Signal] = []
    if meet(traits.identifiers, wanted.identifiers):
        terms.append(bonus(SignalKind.IDENTIFIER, tuning.context_identifier))
    if meet(traits.scopes, wanted.scopes):
        terms.append(bonus(SignalKind.RELEVANCE_SCOPE, tuning.context_scope))
    if traits.is_open:
        terms.append(bonus(SignalKind.IN_FORCE, tuning.context_in_force))
    if traits.evidence is not None:
        terms.append(bonus(SignalKind.EVIDENCE, tuning.context_evidence, traits.evidence, times=traits.evidence))
    hours = age_in_hours(traits.own_time, wanted.at)
    halved = 0.5 ** (hours / tuning.context_freshness_hours)
    terms.append(bonus(SignalKind.FRESHNESS, tuning.context_freshness, hours, times=halved))
    return tuple(terms)


def bonus(kind: SignalKind, weight: float, raw: float | None = None, *, times: float = 1) -> Signal:
    """A term that comes from no channel."""
    return Signal(kind, None, None, None if raw is None else float(raw), weight, weight * times)


def meet(some: Collection[str], others: frozenset[str]) -> bool:
    """Whether two sets have anything in common."""
    return not others.isdisjoint(some)


def age_in_hours(since: datetime, at: datetime) -> int:
    """Whole hours from one instant to another, never negative."""
    return max(0, (at - since) // HOUR)


def whole_hour(instant: datetime) -> datetime:
    """The instant cut to its hour, so that a score holds for an hour."""
    return instant.replace(minute=0, second=0, microsecond=0)


def total(signals: Iterable[Signal]) -> float:
    """The score: the contributions added from left to right, as a client adds them."""
    score = 0.0
    for signal in signals:
        score += signal.contribution
    return score
