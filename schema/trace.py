"""A trace: what happened in a request, and why something was found or was not."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Annotated

import strawberry

from resolvers import trace as resolve
from resolvers.arguments import First, Info
from resolvers.entity import After
from retrieval.tracing import reading
from retrieval.tracing.why import Decision as Decided
from schema.entity import PageInfo, field
from schema.enums import Channel, ItemKind, Strategy
from schema.pack import Budget
from schema.search import Signal

InNamespace = Annotated[str | None, strawberry.argument(description="Where the key is; left out: the namespaces of the trace.")]
Key = Annotated[str | None, strawberry.argument(description="The key of an entity: the best of it and its fragments is told.")]
ItemId = Annotated[strawberry.ID | None, strawberry.argument(description="The id of one item, or `current`.")]


@strawberry.enum(description="What became of an item, the best first.")
class DecisionOutcome(Enum):
    INCLUDED = strawberry.enum_value("INCLUDED", description="It is in the answer.")
    OVER_BUDGET = strawberry.enum_value("OVER_BUDGET", description="It did not fit into what was left of the budget.")
    DUPLICATE = strawberry.enum_value("DUPLICATE", description="The pack has the same text, or the same entity, already.")
    OUTRANKED = strawberry.enum_value("OUTRANKED", description="It was found, and stands below what was admitted.")
    NOT_A_CANDIDATE = strawberry.enum_value("NOT_A_CANDIDATE", description="It is there, and no channel found it.")
    NOT_FOUND = strawberry.enum_value("NOT_FOUND", description="There is nothing like it that you may see.")


@strawberry.type(description="What a channel found.")
class ChannelTrace:
    channel: Channel = field("The channel.")
    weight: float = field("What its list counted.")
    asked: int = field("How many it was asked for.")
    returned: int = field("How many of those that it gave you may see.")
    exhausted: bool = field("Whether these are fewer than it was asked for: then there was no more.")
    exact: bool | None = field("True: every item was compared; false: an index chose; null: the word does not apply.")
    milliseconds: float = field("How long it took; channels that are ranked in one statement share its time.")


@strawberry.type(description="A step of the work, run at most once.")
class StageRecord:
    name: str = field("Its name, mostly that of a field.")
    needs: list[str] = field("The steps that it waited for.")
    started_ms: float = field("Milliseconds after the first step.")
    milliseconds: float = field("How long it took, with what it waited for.")
    count: int | None = field("How many rows it gave, where it gives a list; null in a stored trace, where some may be hidden.")
    note: str | None = field("The code of what broke it, or of a helper that did not help.")


@strawberry.type(description="An item that was scored.")
class TraceCandidate:
    item_id: strawberry.ID = field("Opaque id of what it is.", resolver=resolve.candidate_id)
    kind: ItemKind = field("What it is.", resolver=resolve.candidate_kind)
    title: str = field("Its title, neutralised, as it is now; of a fact what it says.", resolver=resolve.candidate_title)
    score: float = field("The sum of the contributions of `signals`; 0 where nothing is ranked. For order only.")
    signals: list[Signal] = field("The terms of the score.")
    outcome: DecisionOutcome = field("What became of it.")


@strawberry.type(description="A page of candidates.")
class TraceCandidateConnection:
    nodes: list[TraceCandidate] = field("The candidates, in the order in which they were tried.")
    page_info: PageInfo = field("Where the page stands.")


@strawberry.type(description="Where a channel ranked an item.")
class ChannelDecision:
    channel: Channel = field("The channel.")
    rank: int | None = field("The rank, from 0; null when the channel did not find the item.")
    worst_admitted_rank: int | None = field("The last rank that was admitted, from 0; null when there was none.")


@strawberry.type(description="Why an item is in the answer, or is not.")
class Decision:
    outcome: DecisionOutcome = field("What became of it.")
    explanation: str = field("One sentence, in the language of the question.")
    score: float | None = field("Its score, if it was scored. For order only.")
    signals: list[Signal] = field("The terms of the score.")
    channels: list[ChannelDecision] = field("Every channel that ran.")


async def page_of_candidates(
    root: reading.ShownTrace, info: Info, first: First = 20, after: After = None
) -> resolve.CandidatePage:
    """A page of candidates."""
    return await resolve.candidates(root, info, first, after)


async def why_of(root: reading.ShownTrace, namespace: InNamespace = None, key: Key = None, item_id: ItemId = None) -> Decided:
    """Why an entity or an item is in the answer, or is not."""
    return await root.why(namespace, key, item_id)


@strawberry.type(
    description="What happened in a request: ids, ranks, scores and times, no texts. What you may no longer see is as if it had "
    "never been in it; ranks stay what they were."
)
class Trace:
    trace_id: strawberry.ID = field("Its id. `trace` finds it where `traceId` beside it was not null.", resolver=resolve.trace_id)
    namespaces: list[str] = field("The namespaces that were asked.")
    created_at: datetime = field("The clock of the request.", resolver=resolve.created_at)
    operation: str = field("The field that was asked: `search`, `contextPack` or `typedContext`.", resolver=resolve.operation)
    strategy: Strategy | None = field("The strategy of a pack.", resolver=resolve.strategy)
    channels: list[ChannelTrace] = field("The channels that ran.")
    stages: list[StageRecord] = field("The steps, in the order in which they began.", resolver=resolve.stages)
    candidates: TraceCandidateConnection | None = field(
        "What was scored, in the order in which it was tried; of a search its fragments, then its entities.",
        resolver=page_of_candidates,
    )
    budget: Budget | None = field("How the budget of a pack was spent, over what you may see.")
    ephemeral_size: int = field("Bytes of the ephemeral context, which is kept nowhere.", resolver=resolve.ephemeral_size)
    why: Decision | None = field(
        "Why an entity (`key`) or an item (`itemId`) is in the answer, or is not; one of them must be given.", resolver=why_of
    )
