"""Why something was found, and why it was not: what a trace says of one item, in one sentence too."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from retrieval.compilation.choosing import ORDER
from retrieval.compilation.item import Item, ItemKind
from retrieval.lists import TEXT
from retrieval.prompt import Language
from retrieval.ranking import Channel, Signal, SignalKind
from retrieval.tracing.record import CandidateTrace, ChannelTrace, Operation, Outcome, TraceRecord
from retrieval.tracing.sentences import sentence


@dataclass(frozen=True, slots=True)
class ChannelDecision:
    """Where a channel ranked an item, if it did, and the last rank that it admitted, if any; both from 0."""

    channel: Channel
    rank: int | None
    worst_admitted_rank: int | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of an item; score and signals only where it was a candidate."""

    outcome: Outcome
    explanation: str
    score: float | None
    signals: tuple[Signal, ...]
    channels: tuple[ChannelDecision, ...]


def nothing_found(language: Language) -> Decision:
    """The decision about what is not there for the reader."""
    return Decision(Outcome.NOT_FOUND, sentence(language, "not_found"), None, (), ())


def decision_on(record: TraceRecord, item: Item) -> Decision:
    """What became of an item that the reader may see; `record` has only what the reader may see."""
    candidate = next((one for one in record.candidates if one.item == item), None)
    channels = tuple(channel_decision(record, channel, item) for channel in record.channels)
    if candidate is not None:
        outcome = candidate.outcome
    elif item.kind is ItemKind.CURRENT and record.budget is not None and record.budget.current is not None:
        return Decision(Outcome.INCLUDED, sentence(record.language, "current"), 0.0, (), ())
    elif any(one.rank is not None for one in channels):
        outcome = Outcome.OUTRANKED
    else:
        outcome = Outcome.NOT_A_CANDIDATE
    score, signals = (None, ()) if candidate is None else (candidate.score, candidate.signals)
    return Decision(outcome, explained(record, outcome, candidate, channels), score, signals, channels)


def best_decision(record: TraceRecord, items: Iterable[Item]) -> Decision:
    """The best of the decisions about several items, such as an entity and its fragments.

    That is the earlier outcome, then the higher score, then the nearer rank, then fragments first and the lower number.
    """
    order, decisions = list(Outcome), [(item, decision_on(record, item)) for item in items]

    def place(one: tuple[Item, Decision]) -> tuple[int, float, float, int, int, int]:
        item, decision = one
        ranks = [channel.rank for channel in decision.channels if channel.rank is not None]
        nearest = min(ranks, default=math.inf)
        return order.index(decision.outcome), -(decision.score or 0.0), nearest, ORDER[item.kind], item.ns, item.id

    return min(decisions, key=place)[1] if decisions else nothing_found(record.language)


def channel_decision(record: TraceRecord, channel: ChannelTrace, item: Item) -> ChannelDecision:
    """What a channel did with an item."""
    if record.operation is Operation.SEARCH:
        return ChannelDecision(channel.channel, *in_search(record, channel.channel, item))
    rank = next((place.rank for place in channel.places if place.item == item), None)
    admitted = [place.rank for place in channel.places if place.rank < (record.k or 0)]
    return ChannelDecision(channel.channel, rank, max(admitted, default=None))


def in_search(record: TraceRecord, channel: Channel, item: Item) -> tuple[int | None, int | None]:
    """The rank of an item among those of its kind, and the last rank of those that are in the answer: of hits, or of entities."""
    if item.kind is ItemKind.FRAGMENT and channel not in TEXT:
        return None, None
    same = [one for one in record.candidates if one.item.kind is item.kind]
    ranks = {one.item: rank_in(one, channel) for one in same}
    kept = [rank for one in same if one.outcome is Outcome.INCLUDED and (rank := ranks[one.item]) is not None]
    return ranks.get(item), max(kept, default=None)


def rank_in(candidate: CandidateTrace, channel: Channel) -> int | None:
    """The rank that a channel gave a candidate."""
    return next((signal.rank for signal in candidate.signals if signal.channel is channel), None)


def explained(
    record: TraceRecord, outcome: Outcome, candidate: CandidateTrace | None, channels: Iterable[ChannelDecision]
) -> str:
    """One sentence about a decision."""
    language, ranked = record.language, [one for one in channels if outcome is not Outcome.OUTRANKED or one.rank is not None]
    values = {
        "score": 0.0 if candidate is None else candidate.score,
        "tokens": 0 if candidate is None else candidate.tokens or 0,
        "budget": 0 if record.budget is None else record.budget.max_tokens,
        "k": record.k or 0,
        "ranks": ", ".join(ranks_of(language, one) for one in ranked),
        "worst": ", ".join(f"{one.channel.value} {worst_of(language, one)}" for one in ranked),
    }
    if outcome is Outcome.OUTRANKED and candidate is not None and candidate.item.kind is ItemKind.FRAGMENT and was_judged(record):
        return sentence(language, "outranked_reranked", **values)
    return sentence(language, f"{outcome.value.lower()}_{record.operation.value}", **values)


def was_judged(record: TraceRecord) -> bool:
    """Whether a chat model ordered the hits of a search."""
    return any(signal.kind is SignalKind.RERANK for one in record.candidates for signal in one.signals)


def ranks_of(language: Language, one: ChannelDecision) -> str:
    """Both ranks of a channel."""
    return sentence(language, "ranks", channel=one.channel.value, rank=one.rank, worst=worst_of(language, one))


def worst_of(language: Language, one: ChannelDecision) -> str:
    """The last rank that a channel admitted."""
    return sentence(language, "none") if one.worst_admitted_rank is None else str(one.worst_admitted_rank)
