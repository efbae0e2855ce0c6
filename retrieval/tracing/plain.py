"""A trace as JSON has it, short enough to keep hundreds of thousands, and back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from retrieval.compilation.item import Item, ItemKind
from retrieval.ranking import Channel, Signal, SignalKind
from retrieval.tracing.record import (
    BudgetTrace,
    CandidateTrace,
    ChannelTrace,
    Operation,
    Outcome,
    Place,
    StageTrace,
    TraceRecord,
)

LETTERS = {ItemKind.CURRENT: "c", ItemKind.FRAGMENT: "f", ItemKind.FACT: "a", ItemKind.ENTITY: "e"}
KINDS = {letter: kind for kind, letter in LETTERS.items()}


def plain_of(record: TraceRecord) -> dict[str, Any]:
    """A trace as JSON values."""
    budget = record.budget
    return {
        "traceId": record.trace_id,
        "principal": record.principal_id,
        "madeBy": record.made_by,
        "issuer": record.issuer,
        "namespaces": list(record.namespaces),
        "createdAt": record.created_at.isoformat(),
        "operation": record.operation.value,
        "language": record.language,
        "k": record.k,
        "request": dict(record.request),
        "ephemeralSize": record.ephemeral_size,
        "channels": [plain_channel(one) for one in record.channels],
        "stages": [[one.name, list(one.needs), one.started_ms, one.milliseconds, one.note] for one in record.stages],
        "candidates": [plain_candidate(one) for one in record.candidates],
        "budget": None if budget is None else {
            "maxTokens": budget.max_tokens, "current": budget.current, "cut": budget.is_cut,
            "dropped": [plain_item(item) for item in budget.dropped],
        },
    }  # fmt: skip


def plain_item(item: Item) -> list[Any]:
    """An item as three values."""
    return [LETTERS[item.kind], item.ns, item.id]


def plain_channel(one: ChannelTrace) -> dict[str, Any]:
    """A channel as JSON values."""
    places = [[*plain_item(place.item), place.entity_id, place.rank] for place in one.places]
    head = {"channel": one.channel.value, "weight": one.weight, "asked": one.asked, "exact": one.exact}
    return {**head, "ms": one.milliseconds, "places": places}


def plain_candidate(one: CandidateTrace) -> list[Any]:
    """A candidate as its values."""
    signals = [list(signal) for signal in one.signals]
    return [*plain_item(one.item), one.entity_id, one.score, signals, one.outcome.value, one.tokens]


def item_of(letter: str, ns: int, id: int) -> Item:
    """An item out of three values."""
    return Item(KINDS[letter], ns, id)


def record_of(plain: dict[str, Any]) -> TraceRecord:
    """The trace that was stored. How many rows its stages gave is not in it: some may be hidden since."""
    budget = plain["budget"]
    return TraceRecord(
        trace_id=plain["traceId"],
        principal_id=plain["principal"],
        made_by=plain["madeBy"],
        issuer=plain.get("issuer"),
        namespaces=tuple(plain["namespaces"]),
        created_at=datetime.fromisoformat(plain["createdAt"]),
        operation=Operation(plain["operation"]),
        language=plain["language"],
        k=plain["k"],
        request=plain["request"],
        ephemeral_size=plain["ephemeralSize"],
        channels=tuple(
            ChannelTrace(
                Channel(one["channel"]), one["weight"], one["asked"], one["exact"], one["ms"],
                tuple(Place(item_of(*place[:3]), *place[3:]) for place in one["places"]),
            )
            for one in plain["channels"]
        ),
        stages=tuple(stage_of(*one) for one in plain["stages"]),
        candidates=tuple(candidate_of(*one) for one in plain["candidates"]),
        budget=None if budget is None else BudgetTrace(
            budget["maxTokens"], budget["current"], budget["cut"], tuple(item_of(*one) for one in budget["dropped"])
        ),
    )  # fmt: skip


def stage_of(name: str, needs: list[str], started_ms: float, milliseconds: float, note: str | None) -> StageTrace:
    """A stage out of its values."""
    return StageTrace(name, tuple(needs), started_ms, milliseconds, note=note)


def candidate_of(
    letter: str, ns: int, id: int, entity_id: int, score: float, signals: list[Any], outcome: str, tokens: int | None
) -> CandidateTrace:
    """A candidate out of its values."""
    terms = (Signal(SignalKind(kind), None if channel is None else Channel(channel), *rest) for kind, channel, *rest in signals)
    return CandidateTrace(item_of(letter, ns, id), entity_id, score, tuple(terms), Outcome(outcome), tokens)
