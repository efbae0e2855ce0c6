"""A loader makes one batch of what is asked in one turn, and remembers values, absences and failures."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from retrieval.loader import Loader
from retrieval.stage import Work


class Shelf:
    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    async def load(self, keys: list[int]) -> Mapping[int, str]:
        self.batches.append(keys)
        await asyncio.sleep(0)
        if 13 in keys:
            raise ValueError("unlucky")
        return {key: f"value {key}" for key in keys if key >= 0}


async def test_keys_of_one_turn_become_one_batch() -> None:
    shelf, work = Shelf(), Work()
    loader = Loader(work, shelf.load)
    assert await asyncio.gather(loader.one(1), loader.one(2), loader.one(1)) == ["value 1", "value 2", "value 1"]
    assert shelf.batches == [[1, 2]]


async def test_a_known_key_is_not_loaded_again() -> None:
    shelf, work = Shelf(), Work()
    loader = Loader(work, shelf.load)
    await loader.one(1)
    assert await loader.many([1, -5, 2]) == ["value 1", None, "value 2"]
    assert await loader.one(-5) is None
    assert shelf.batches == [[1], [-5, 2]]


async def test_a_failed_batch_fails_everyone_in_it_and_nobody_else() -> None:
    shelf, work = Shelf(), Work()
    loader = Loader(work, shelf.load)
    results = await asyncio.gather(loader.one(13), loader.one(1), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError]
    assert await loader.one(2) == "value 2"


async def test_large_batches_are_cut() -> None:
    shelf, work = Shelf(), Work()
    loader = Loader(work, shelf.load, most=2)
    await loader.many(range(5))
    assert shelf.batches == [[0, 1], [2, 3], [4]]


async def test_closing_the_work_frees_who_waits() -> None:
    started = asyncio.Event()

    async def hang(keys: list[int]) -> Mapping[int, str]:
        started.set()
        await asyncio.Event().wait()
        return {}

    work = Work()
    waiter = asyncio.create_task(Loader(work, hang).one(1))
    await started.wait()
    await work.close()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(waiter, 60)
