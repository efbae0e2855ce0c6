"""A stage starts at the first await, is joined later, and keeps its value or its failure."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from retrieval.stage import Work, stage


class Run:
    def __init__(self) -> None:
        self.work = Work()
        self.calls: list[str] = []
        self.gate = asyncio.Event()

    @stage
    async def base(self) -> int:
        self.calls.append("base")
        await asyncio.sleep(0)
        return 7

    @stage
    async def double(self) -> int:
        self.calls.append("double")
        return 2 * await self.base

    @stage
    async def broken(self) -> int:
        self.calls.append("broken")
        raise ValueError("no")

    @stage
    async def slow(self) -> int:
        await self.gate.wait()
        return 1

    @stage
    async def circle(self) -> int:
        return await self.itself

    @stage
    async def itself(self) -> int:
        return await self.circle


async def test_a_stage_that_nobody_asks_for_never_runs() -> None:
    run = Run()
    assert await run.base == 7
    assert run.calls == ["base"]


async def test_all_who_await_join_one_execution() -> None:
    run = Run()
    assert await asyncio.gather(run.double, run.base, run.double) == [14, 7, 14]
    assert sorted(run.calls) == ["base", "double"]


async def test_a_failure_is_remembered() -> None:
    run = Run()
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            await run.broken
    assert run.calls == ["broken"]


async def test_a_cancelled_waiter_does_not_stop_work_that_others_await() -> None:
    run = Run()

    async def wait() -> int:
        return await run.slow

    first, second = asyncio.create_task(wait()), asyncio.create_task(wait())
    await asyncio.sleep(0.01)
    first.cancel()
    run.gate.set()
    assert await second == 1
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_closing_cancels_what_is_left_and_waits_for_it() -> None:
    run = Run()
    waiter = asyncio.create_task(asyncio.wait_for(run.slow, 300))
    await asyncio.sleep(0.01)
    await run.work.close()
    assert not run.work.tasks
    with pytest.raises(asyncio.CancelledError):
        await waiter


async def test_who_awaits_a_stage_that_is_cancelled_before_it_begins_is_woken() -> None:
    run = Run()

    async def wait() -> int:
        return await run.slow

    waiter = asyncio.create_task(wait())
    await asyncio.sleep(0)  # it has named the stage, whose task has not run yet
    await run.work.close()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiter, 60)


async def test_records_say_who_needed_whom() -> None:
    run = Run()
    await run.double
    needs = {record.name: record.needs for record in run.work.records}
    assert needs == {"double": ["base"], "base": []}
    assert all(record.seconds is not None for record in run.work.records)


@pytest.mark.parametrize("entry", ["circle", "itself"])
async def test_a_stage_that_reaches_itself_raises_at_once(entry: str) -> None:
    run = Run()
    with pytest.raises(RuntimeError, match="needs itself"):
        await asyncio.wait_for(getattr(run, entry), 60)


async def test_a_circle_entered_from_both_ends_raises_at_once() -> None:
    run = Run()

    async def wait(name: str) -> int:
        return await getattr(run, name)

    results = await asyncio.wait_for(asyncio.gather(wait("circle"), wait("itself"), return_exceptions=True), 60)
    assert all(isinstance(result, RuntimeError) for result in results)


async def test_a_run_that_nobody_holds_any_more_is_gone_without_a_look_for_cycles() -> None:
    run = Run()
    await run.double
    seen = [weakref.ref(run), weakref.ref(run.double), weakref.ref(run.base)]
    gc.disable()
    try:
        del run
        await asyncio.sleep(0)
        assert [one() for one in seen] == [None, None, None]
    finally:
        gc.enable()
