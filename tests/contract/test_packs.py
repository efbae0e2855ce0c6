"""Packs are what an independent compiler makes of the same world, slowly, in every value, and of every row why (spec 7 and 8)."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.contract.asking import some_words
from tests.contract.oracle import View
from tests.contract.pack_asking import pack_arguments, startable, wide_arguments
from tests.contract.pack_checking import Seen, ask_packs, ask_why, rows_of
from tests.contract.pack_why import OUTCOMES
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import Size, random_world
from tests.fixtures.world import opened, store_world, tuned

SEEDS, MANY_SEEDS, PACKS, WHYS = range(400, 405), range(4_000, 4_050), 100, 10
SIZES = (Size(), Size(entities=25, facts=3))


async def check_world(bases: Bases, seed: int, seen: Seen) -> None:
    """One world and its packs."""
    url, world = bases.new(), random_world(seed, SIZES[seed % len(SIZES)])
    await store_world(url, world)
    async with opened(url) as store:
        assert await ask_packs(store, world, seed, PACKS, seen) == []


async def check_whys(bases: Bases, seed: int, count: int) -> Counter[str]:
    """Packs of one world, and why of every row in it; gives the outcomes that were told."""
    url, world, chance, told = bases.new(), random_world(seed, SIZES[0]), random.Random(seed), Counter[str]()
    await store_world(url, world)
    async with opened(url) as store:
        views = [View(world, one) for one in world.callers]
        views = [view for view in views if view.fragments(view.spaces)]
        for turn in range(count):
            view = views[turn % len(views)]
            given = startable(view, chance, lambda: some_words(world, chance)) | {"k": chance.choice((1, 2, 3, 8))}
            outcomes, wrong = await ask_why(store, view, given, rows_of(view, chance), turn % 2 == 0)
            assert wrong == []
            told += outcomes
    return told


async def test_five_hundred_random_packs_are_what_a_slow_compiler_makes_of_them(bases: Bases) -> None:
    seen = Seen()
    for seed in SEEDS:
        await check_world(bases, seed, seen)
    counts = seen.counts
    assert counts["packs"] > 400, counts
    assert min(counts[name] for name in ("CURRENT", "RELEVANT_FACTS", "EPISODES", "DOCUMENTS", "RELATED_ENTITIES")) > 20, counts
    assert min(counts[name] for name in ("conflict", "DUPLICATE FRAGMENT", "DUPLICATE ENTITY", "OVER_BUDGET FACT")) > 5, counts
    ranks = [f"RANK {channel}" for channel in ("LEXICAL", "VECTOR", "FACTS", "GRAPH", "RECENT")]
    others = [f"{kind} None" for kind in ("IDENTIFIER", "RELEVANCE_SCOPE", "IN_FORCE", "EVIDENCE", "FRESHNESS")]
    assert min(counts[name] for name in (*ranks, *others)) > 5, counts
    assert counts["BAD_INPUT"] > 5, counts


@pytest.mark.parametrize("reach", [(1, 40), (2, 3), (2, 1)])
async def test_packs_that_walk_less_far_or_read_facts_in_order_are_the_same_as_slow_ones(
    bases: Bases, reach: tuple[int, int]
) -> None:
    url, world = bases.new(), random_world(420, SIZES[1])
    world.reach = reach
    await store_world(url, world)
    tuning = tuned(context_max_depth=reach[0], context_max_nodes=reach[1], facts_in_order_from=1)
    async with opened(url, tuning=tuning) as store:
        for arguments in (wide_arguments, pack_arguments):
            assert await ask_packs(store, world, 420, 24, Seen(), arguments) == []


async def test_why_tells_of_every_row_what_the_slow_compiler_did_with_it(bases: Bases) -> None:
    told = Counter[str]()
    for seed in SEEDS:
        told += await check_whys(bases, seed, WHYS)
    assert min(told[name] for name in (*OUTCOMES, "NOT_FOUND")) > 1, told


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY_SEEDS)
async def test_why_tells_of_every_row_of_many_worlds_what_the_slow_compiler_did_with_it(bases: Bases, seed: int) -> None:
    await check_whys(bases, seed, WHYS)


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY_SEEDS)
async def test_five_thousand_random_packs_are_what_a_slow_compiler_makes_of_them(bases: Bases, seed: int) -> None:
    await check_world(bases, seed, Seen())
