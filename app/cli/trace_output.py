"""What the commands about traces print, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from app.cli.output import note, print_rows, printable, results, say
from retrieval.ranking import Signal
from retrieval.tracing.reading import ShownCandidate, ShownChannel, ShownTrace
from retrieval.tracing.record import StageTrace
from retrieval.tracing.replaying import Change, Replay, Replayed, State, TermChange
from retrieval.tracing.why import Decision

COLOURS = {Change.GONE: "red", Change.LEFT: "red", Change.ENTERED: "green", Change.SAME: "dim"}


async def whole(trace: ShownTrace, first: int) -> dict[str, Any]:
    """A trace as JSON has it, with the names of the GraphQL fields, and with what was asked."""
    record, budget = trace.record, await trace.budget
    return {
        "traceId": record.trace_id,
        "namespaces": await trace.namespaces,
        "createdAt": record.created_at,
        "madeBy": record.made_by,
        "operation": record.operation.value,
        "strategy": record.strategy,
        "request": await trace.request,
        "ephemeralSize": record.ephemeral_size,
        "channels": [plain_channel(one) for one in await trace.channels],
        "stages": [plain_stage(one) for one in record.stages],
        "candidates": [plain_candidate(one, await one.title()) for _, one in await trace.candidates(-1, first)],
        "budget": None if budget is None else {
            "maxTokens": budget.max_tokens, "usedTokens": budget.used_tokens, "truncated": budget.truncated,
            "dropped": [
                {"itemId": one.item_id, "title": one.title, "score": one.score, "tokenEstimate": one.token_estimate,
                 "reason": one.reason.value}
                for one in budget.dropped
            ],
        },
    }  # fmt: skip


def plain_stage(one: StageTrace) -> dict[str, Any]:
    """A stage as JSON."""
    times = {"startedMs": one.started_ms, "milliseconds": one.milliseconds}
    return {"name": one.name, "needs": one.needs, **times, "note": one.note}


def plain_channel(one: ShownChannel) -> dict[str, Any]:
    """A channel as JSON."""
    return {
        "channel": one.channel.value, "weight": one.weight, "asked": one.asked, "returned": one.returned,
        "exhausted": one.exhausted, "exact": one.exact, "milliseconds": one.milliseconds,
    }  # fmt: skip


def plain_candidate(one: ShownCandidate, title: str) -> dict[str, Any]:
    """A candidate as JSON."""
    return {
        "itemId": one.item.item_id, "kind": one.item.kind.value, "title": title, "score": one.score,
        "outcome": one.outcome.value, "signals": plain_signals(one.signals),
    }  # fmt: skip


def plain_signals(signals: Iterable[Signal]) -> list[dict[str, Any]]:
    """The terms of a score as JSON."""
    return [
        {"kind": one.kind.value, "channel": one.channel and one.channel.value, "rank": one.rank, "rawScore": one.raw_score,
         "weight": one.weight, "contribution": one.contribution}
        for one in signals
    ]  # fmt: skip


def plain_decision(found: Decision) -> dict[str, Any]:
    """A decision as JSON."""
    return {
        "outcome": found.outcome.value,
        "explanation": found.explanation,
        "score": found.score,
        "signals": plain_signals(found.signals),
        "channels": [
            {"channel": one.channel.value, "rank": one.rank, "worstAdmittedRank": one.worst_admitted_rank}
            for one in found.channels
        ],
    }


def plain_replay(found: Replay) -> dict[str, Any]:
    """A replay as JSON."""
    return {
        "traceId": found.before.trace_id,
        "createdAt": found.before.created_at,
        "madeBy": found.before.made_by,
        "compiledAs": found.after.made_by,
        "erased": bool(found.before.request.get("erased")),
        "same": found.same,
        "items": [
            {
                "itemId": one.item.item_id, "kind": one.item.kind.value, "title": one.title, "change": one.change.value,
                "before": plain_state(one.before), "after": plain_state(one.after),
                "signals": [{"signal": term.name, "before": term.before, "after": term.after} for term in one.terms],
            }
            for one in found.items
        ],
    }  # fmt: skip


def plain_state(state: State) -> dict[str, Any]:
    """What became of an item as JSON."""
    return {"outcome": state.outcome.value, "place": state.place, "score": state.score}


def print_trace(found: dict[str, Any]) -> None:
    """A trace for people."""
    at, budget = f"{found['createdAt']:%Y-%m-%d %H:%M:%S}", found["budget"]
    say(f"{found['operation']} of {found['madeBy']} at {at} in {', '.join(found['namespaces'])}")
    if found["request"].get("question"):
        say(f"  {found['request']['question']}")
    if budget is not None:
        used = f"{budget['usedTokens']:,} of {budget['maxTokens']:,} tokens"
        say(f"  {found['strategy']}: {used}, {len(budget['dropped'])} dropped")
    channels = [(one["channel"], one["weight"], one["returned"], one["asked"], took(one)) for one in found["channels"]]
    print_part(("channel", "weight", "returned", "of", "ms"), channels)
    stages = [
        (one["name"], f"{one['startedMs']:.1f}", took(one), ", ".join(one["needs"]), one["note"]) for one in found["stages"]
    ]
    print_part(("stage", "from ms", "took ms", "needs", "note"), stages)
    candidates = [
        (one["outcome"], f"{one['score']:.4f}", one["kind"], one["title"], one["itemId"]) for one in found["candidates"]
    ]
    print_part(("outcome", "score", "kind", "title", "id"), candidates)


def print_part(heads: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> None:
    """One table of several, parted from what was before; nothing when it is empty."""
    if rows:
        results().print()
        print_rows(heads, rows)


def took(one: dict[str, Any]) -> str:
    """How long it took."""
    return f"{one['milliseconds']:.1f}"


def print_decision(found: Decision) -> None:
    """A decision for people."""
    say(f"{found.outcome.value}: {found.explanation}")
    print_rows(
        ("channel", "rank", "last admitted"), [(one.channel.value, one.rank, one.worst_admitted_rank) for one in found.channels]
    )
    print_rows(("signal", "adds"), [(term_name(one), f"{one.contribution:.4f}") for one in found.signals])


def term_name(signal: Signal) -> str:
    """A term of a score in a table."""
    return signal.kind.value if signal.channel is None else f"{signal.channel.value} rank {signal.rank}"


def print_replay(found: Replay, everything: bool) -> None:
    """What has changed, for people."""
    if found.before.request.get("erased"):
        note("Something that was asked for has been erased since, so that this is not quite the same question.")
    shown = [one for one in found.items if everything or one.change is not Change.SAME]
    if not shown:
        say(f"Nothing has changed: all {len(found.items)} candidates are what they were.")
        return
    heads = ("change", "item", "then", "now", "score", "why")
    told = [
        (one.change.value, title_of(one), state_text(one.before), state_text(one.after), score_text(one), why_text(one))
        for one in shown
    ]
    console = results()
    if not console.is_terminal:
        print_rows(heads, told)
        return
    table = Table(*heads, box=None, header_style="bold")
    for one, row in zip(shown, told, strict=True):
        table.add_row(*(Text(printable(cell), style=COLOURS.get(one.change, "yellow")) for cell in row))
    console.print(table)


def title_of(one: Replayed) -> str:
    """An item by its kind and title."""
    return f"{one.item.kind.value.lower()} {one.title if one.title is not None else one.item.item_id}"


def state_text(state: State) -> str:
    """What became of an item, on a line."""
    return state.outcome.value if state.place is None else f"{state.outcome.value} {state.place}"


def score_text(one: Replayed) -> str:
    """Both scores, or the one that there is."""
    scores = ["–" if state.score is None else f"{state.score:.4f}" for state in (one.before, one.after)]
    return scores[0] if scores[0] == scores[1] else " → ".join(scores)


def why_text(one: Replayed) -> str:
    """The terms that differ."""
    return ", ".join(term_text(term) for term in one.terms)


def term_text(term: TermChange) -> str:
    """A term that differs."""
    before, after = (f"{value:.4f}" if value is not None else "–" for value in (term.before, term.after))
    return f"{term.name} {before} → {after}"
