"""What fields of a trace do, and how a run is traced and shown."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import datetime

from resolvers.arguments import Info, page_size
from resolvers.entity import Edge, PageInfo, page_info
from retrieval.compilation.item import ItemKind
from retrieval.cursor import make_cursor, read_cursor
from retrieval.tracing.reading import ShownCandidate, ShownTrace, stored_trace
from retrieval.tracing.record import StageTrace
from retrieval.tracing.tracing import Run


@dataclass(frozen=True, slots=True, eq=False)
class CandidatePage:
    """A page of candidates."""

    edges: Sequence[Edge[ShownCandidate]]
    page_info: PageInfo

    @property
    def nodes(self) -> list[ShownCandidate]:
        """The candidates."""
        return [edge.node for edge in self.edges]


def stored_id(root: Run, info: Info) -> Awaitable[str | None]:
    """The id of the trace of a run once it is stored; None when it could not be."""
    return info.context.tracings.of(root).stored


def traced(root: Run, info: Info) -> Awaitable[ShownTrace]:
    """The trace of a run, which is stored before the answer ends, if it can be."""
    return info.context.tracings.of(root).shown


async def stored(info: Info, trace_id: str) -> ShownTrace | None:
    """The trace with an id; None for one that the caller may not see, the same as for one that is not there."""
    return await stored_trace(info.context, trace_id)


def trace_id(root: ShownTrace) -> str:
    """The id."""
    return root.record.trace_id


def created_at(root: ShownTrace) -> datetime:
    """The clock of the request."""
    return root.record.created_at


def operation(root: ShownTrace) -> str:
    """The field that was asked."""
    return root.record.operation.value


def strategy(root: ShownTrace) -> str | None:
    """The strategy of a pack."""
    return root.record.strategy


def stages(root: ShownTrace) -> Sequence[StageTrace]:
    """The steps."""
    return root.record.stages


def ephemeral_size(root: ShownTrace) -> int:
    """The bytes of the ephemeral context."""
    return root.record.ephemeral_size


async def candidates(root: ShownTrace, info: Info, first: int, after: str | None) -> CandidatePage:
    """A page of what was scored."""
    size = page_size(info, first)
    scope = [(await info.context.caller).name, "candidates", root.record.trace_id]
    secret = info.context.store.base.cursor_secret
    position = -1 if after is None else read_cursor(secret, scope, after)[0]
    found = await root.candidates(position, size + 1)
    edges = [Edge(make_cursor(secret, scope, [place]), candidate) for place, candidate in found[:size]]
    return CandidatePage(edges, page_info(edges, len(found) > size, after))


def candidate_id(root: ShownCandidate) -> str:
    """The public id."""
    return root.item.item_id


async def candidate_title(root: ShownCandidate) -> str:
    """The title as it is now."""
    return await root.title()


def candidate_kind(root: ShownCandidate) -> ItemKind:
    """What it is."""
    return root.item.kind
