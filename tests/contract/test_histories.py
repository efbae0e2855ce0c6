"""What is granted, revoked, nested, written and deleted holds from the next request on, in every process, caches warm."""

from __future__ import annotations

import pytest

from retrieval.store import QuestionVectors
from tests.contract import test_access
from tests.contract.conftest import Comparisons
from tests.contract.history import History, described
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import random_world
from tests.fixtures.world import opened, store_world

SEEDS, STEPS, SHARE = range(200, 216), 30, 375
MANY_SEEDS, MANY_STEPS, LARGE_SHARE = range(2_000, 2_500), 60, 500


async def run_history(bases: Bases, seed: int, steps: int, share: int) -> int:
    """One history over two stores of one base; gives how many answers were compared."""
    url, world = bases.new(), random_world(seed)
    await store_world(url, world)
    async with opened(url) as one, opened(url) as other:
        for store in (one, other):
            store.question_vectors = QuestionVectors(100)
        history = History((one, other), world, seed)
        await history.check_all(2)
        for _ in range(steps):
            await history.step()
            assert history.found == [], described(history)
        await history.check_all(1)
        assert history.found == [], described(history)
    assert history.done >= share
    return history.done


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_change_of_rights_holds_from_the_next_request_in_every_process(
    bases: Bases, comparisons: Comparisons, seed: int
) -> None:
    comparisons(await run_history(bases, seed, STEPS, SHARE))


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY_SEEDS)
async def test_a_change_of_rights_holds_in_many_long_histories(bases: Bases, comparisons: Comparisons, seed: int) -> None:
    comparisons(await run_history(bases, seed, MANY_STEPS, LARGE_SHARE))


def test_ten_thousand_answers_are_compared_each_time_and_a_million_in_all_tests() -> None:
    worlds = len(test_access.SEEDS) * test_access.SHARE, len(test_access.MANY_SEEDS) * test_access.LARGE_SHARE
    assert worlds[0] + len(SEEDS) * SHARE >= 10_000
    assert worlds[1] + len(MANY_SEEDS) * LARGE_SHARE >= 1_000_000
