"""The place of a request is given back whatever cuts it off, at whichever moment."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from app.credentials import Credentials
from app.fair_use import FairLimits, FairUse
from app.sessions import Sessions
from retrieval.ports import Vectors
from retrieval.store import Store
from schema.limits import OperationNote, operation_note
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.world import execute_in

LOCAL = Credentials(None, True, "test")
TURNS_OF_THE_LOOP = 60
TOO_FEW_TURNS_TO_BE_ANSWERED = 3
"""A request waits more often than that for the database, however quick the machine is."""


class Waiting(HashEmbedder):
    """A provider that waits until it may; here or elsewhere."""

    def __init__(self, runs_here: bool) -> None:
        super().__init__()
        self.runs_here = runs_here
        self.asked, self.may = asyncio.Event(), asyncio.Event()

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        self.asked.set()
        await self.may.wait()
        return await super().embed_questions(texts)


class Served:
    """A process that serves the local administrator."""

    def __init__(self, store: Store) -> None:
        self.fair = FairUse(FairLimits())
        self.sessions = Sessions(store, local_admin=True, seconds=30.0, fair=self.fair)
        self.began = self.ends = False

    async def one(self) -> None:
        """One request."""
        operation_note.set(OperationNote())
        async with self.sessions.open(LOCAL) as session:
            await execute_in(session, "{ namespaces { name } }")

    async def one_that_embeds(self) -> int:
        """One that needs the vector of a question; gives the calls that it says it made."""
        operation_note.set(OperationNote())
        async with self.sessions.open(LOCAL) as session:
            await session.question_vector("zebra")
            return session.spent.provider_calls

    async def one_that_clings(self) -> None:
        """One with work that does not end when it is told to."""

        async def cling() -> None:
            self.began = True
            try:
                await asyncio.Event().wait()
            finally:
                self.ends = True
                await asyncio.Event().wait()

        operation_note.set(OperationNote())
        async with self.sessions.open(LOCAL) as session:
            session.work.start(cling())
            while not self.began:
                await asyncio.sleep(0)

    def is_empty(self) -> bool:
        """Whether no request has a place, or waits for one."""
        return not any(one.requests or one.streams or one.queue.turns or one.queue.waiting for one in self.fair.shares.values())


async def test_a_request_that_is_cut_off_after_any_turn_of_the_loop_gives_its_place_back(store: Store) -> None:
    served, cut_off = Served(store), 0
    for turns in range(TURNS_OF_THE_LOOP):
        tasks = [asyncio.create_task(served.one()) for _ in range(2)]
        for _ in range(turns):
            await asyncio.sleep(0.0005 if turns % 2 else 0)
        cut_off += sum(task.cancel() for task in tasks)
        await asyncio.wait(tasks)
        assert served.is_empty(), turns
    assert cut_off >= 2 * TOO_FEW_TURNS_TO_BE_ANSWERED


async def test_a_request_that_is_cut_off_once_more_while_it_ends_gives_its_place_back(store: Store) -> None:
    served = Served(store)
    task = asyncio.create_task(served.one_that_clings())
    async with asyncio.timeout(20):
        while not served.ends:
            await asyncio.sleep(0.001)
        assert not served.is_empty()
        task.cancel()
        await asyncio.wait({task})
    assert task.cancelled()
    assert served.is_empty()


@pytest.mark.parametrize("runs_here", [False, True])
async def test_a_request_has_no_turn_while_it_waits_for_a_provider_elsewhere(store: Store, runs_here: bool) -> None:
    store.embedder = provider = Waiting(runs_here)
    served = Served(store)
    task = asyncio.create_task(served.one_that_embeds())
    await asyncio.wait_for(provider.asked.wait(), 20)
    (share,) = served.fair.shares.values()
    assert (share.requests, len(share.queue.turns)) == (1, int(runs_here))
    provider.may.set()
    assert await task == 1
    assert await served.one_that_embeds() == 1, "the vector is remembered, and the count does not say so"
    assert served.is_empty()
