"""The traces of one request: each is shown when its run is through, and stored when everything else is."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from retrieval.compilation.compilation import Compilation
from retrieval.search import Search
from retrieval.stage import Running, Work, stage
from retrieval.tracing.building import trace_of_pack, trace_of_search, trace_of_walk
from retrieval.tracing.reading import ShownTrace
from retrieval.tracing.record import TraceRecord
from retrieval.tracing.stages import started, traced
from retrieval.tracing.storing import store_trace
from retrieval.typed.context import TypedContext

if TYPE_CHECKING:
    from retrieval.session import Session

Run: TypeAlias = Search | TypedContext | Compilation
TURNS = 8
"""How many turns of the event loop nothing may run until a request counts as done but for its traces."""


class Tracings:
    """What a request keeps for its traces; their work is apart from the rest, which they wait for."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.work = Work()
        self._known: dict[Run, Tracing] = {}

    def of(self, run: Run) -> Tracing:
        """The trace of a run."""
        if run not in self._known:
            self._known[run] = Tracing(self, run)
        return self._known[run]

    async def rest(self) -> None:
        """Wait until the request does nothing but trace."""
        while True:
            for _ in range(TURNS):
                await asyncio.sleep(0)
            if not self.session.work.tasks:
                return
            await asyncio.wait(self.session.work.tasks)


class Tracing:
    """The trace of one run."""

    def __init__(self, tracings: Tracings, run: Run) -> None:
        self.work = tracings.work
        self._tracings = tracings
        self._run = run

    @stage
    async def record(self) -> TraceRecord:
        """The trace with the stages that every trace of such a run has."""
        record = await built(self._run)
        return replace(record, stages=traced(own_stages(self._run)))

    @stage
    async def stored(self) -> str | None:
        """The id of the trace once it is stored, with all stages that ran; None when it could not be.

        Nor is one stored for a caller who reads no namespace at all: nothing is read then, so that the id would lead nowhere. A
        request begins with its caller, so that snapshot tells what was erased while it ran.
        """
        record = await self.record
        caller = await self._tracings.session.caller
        if not caller.spaces:
            return None
        await self._tracings.rest()
        whole = replace(record, stages=traced(started(*parts(self._run))))
        return record.trace_id if await store_trace(self._tracings.session.store, whole, caller.snapshot) else None

    @stage
    async def shown(self) -> ShownTrace:
        """The trace for its own answer, once it is stored or could not be."""
        await self.stored
        return ShownTrace(self._tracings.session, await self.record)


async def built(run: Run) -> TraceRecord:
    """The trace of a run; runs what every trace of such a run has."""
    if isinstance(run, Search):
        return await trace_of_search(run)
    if isinstance(run, TypedContext):
        return await trace_of_walk(run)
    return await trace_of_pack(run)


def parts(run: Run) -> list[object]:
    """The run with what holds stages for it."""
    if isinstance(run, Search):
        return [run, run.lists, run.reranking]
    if isinstance(run, TypedContext):
        return [run]
    return [run, run.channels]


def own_stages(run: Run) -> list[Running[Any]]:
    """The stages that every trace of such a run has."""
    names = {"hits", "entities"} if isinstance(run, Search) else {"used"} if isinstance(run, TypedContext) else {"decided"}
    return [one for one in started(run) if one.record.name in names]
