"""The oracle bites: whoever plants a fault in a statement turns the oracle red.

All of the faults that the leak oracle must find are among these, but for those that would break what is not there: an answer
whose context was built before the filter, a denial lost on a cycle of groups.
"""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

import asyncpg
import pytest

from retrieval import sql
from tests.contract.asking import documents
from tests.contract.checking import Checks
from tests.contract.oracle import View
from tests.contract.pack_asking import pack_arguments, wide_arguments
from tests.contract.pack_checking import Seen, ask_packs, read_traces
from tests.contract.planting import change
from tests.contract.probing import probes
from tests.contract.statement_faults import FAULTS, PACK_FAULTS, PACKS_SOONEST, SOONEST, TRACE_FAULTS
from tests.contract.test_traces import traced_then_hidden
from tests.fixtures.bases import Bases
from tests.fixtures.company import World
from tests.fixtures.random_world import random_world
from tests.fixtures.world import opened, store_world


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, str], None]]:
    """Replaces text in a copy of one statement file, which the product then reads."""

    def put(name: str, old: str, new: str) -> None:
        shutil.copytree(sql.FOLDER, tmp_path / "sql")
        change(tmp_path / "sql" / f"{name}.sql", old, new)
        monkeypatch.setattr(sql, "FOLDER", tmp_path / "sql")
        sql.statement.cache_clear()
        sql.guarded.cache_clear()

    yield put
    monkeypatch.undo()
    sql.statement.cache_clear()
    sql.guarded.cache_clear()


async def is_caught(url: str, world: World) -> bool:
    """Whether any caller's answers are wrong."""
    async with opened(url) as store:
        checks, admin = Checks(store), View(world, world.named("admin"))
        asked = list(islice(probes(admin, random.Random(0)), 20))
        for caller in (*world.refused, *world.callers):
            await checks.ask_all(View(world, caller), asked[: 1 if caller.is_refused else 20])
            if checks.found:
                return True
        for caller in world.callers:
            await checks.ask_all(View(world, caller), documents(View(world, caller), 0))
            if checks.found:
                return True
    return False


async def shows_to(caller: int, url: str, world: World) -> bool:
    """Whether the answers of one caller are wrong."""
    async with opened(url) as store:
        checks, view, admin = Checks(store), View(world, world.callers[caller]), View(world, world.named("admin"))
        await checks.ask_all(view, [*islice(probes(admin, random.Random(0)), 8), *documents(view, 0)])
    return bool(checks.found)


@pytest.fixture(scope="module")
def worlds(shared_bases: Bases) -> list[tuple[str, World]]:
    """Worlds that faults are looked for in, one after the other."""
    made = [(shared_bases.new(), random_world(seed)) for seed in (*range(300, 305), 308)]
    for url, world in made:
        asyncio.run(store_world(url, world))
    return made


@pytest.fixture(scope="module")
def hidden(shared_bases: Bases) -> list[tuple[str, World, list[str]]]:
    """Worlds with traces of packs, where much is hidden since."""
    made = [(shared_bases.new(), random_world(seed)) for seed in (304, 305, 308)]
    return [(url, world, asyncio.run(traced_then_hidden(url, world))) for url, world in made]


async def test_a_product_without_a_planted_fault_passes(
    worlds: list[tuple[str, World]], hidden: list[tuple[str, World, list[str]]]
) -> None:
    assert not await is_caught(*worlds[0])
    assert [place for place in sorted(set(SOONEST.values())) if await shows_to(place[1], *worlds[place[0]])] == []
    async with opened(worlds[0][0]) as store:
        assert await ask_packs(store, worlds[0][1], 7, 8, Seen()) == []
    url, world, traces = hidden[0]
    async with opened(url) as store:
        assert (await read_traces(store, world, traces, random.Random(0)))[1] == []


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_planted_fault_is_caught(
    worlds: list[tuple[str, World]], plant: Callable[[str, str, str], None], fault: str
) -> None:
    plant(*FAULTS[fault])
    if fault in SOONEST:
        place, caller = SOONEST[fault]
        if await shows_to(caller, *worlds[place]):
            return
    for url, world in worlds:
        if await is_caught(url, world):
            return
    pytest.fail("nobody noticed")


@pytest.mark.parametrize("fault", PACK_FAULTS)
async def test_a_planted_fault_is_caught_by_packs(
    worlds: list[tuple[str, World]], plant: Callable[[str, str, str], None], fault: str
) -> None:
    plant(*PACK_FAULTS[fault])
    places = [(world, seed) for seed in range(12) for world in range(len(worlds))]
    for place, seed in [*PACKS_SOONEST.get(fault, ()), *places]:
        url, world = worlds[place]
        async with opened(url) as store:
            for arguments in (wide_arguments, pack_arguments):
                if await ask_packs(store, world, seed, 8, Seen(), arguments):
                    return
    pytest.fail("nobody noticed")


@pytest.mark.parametrize("fault", TRACE_FAULTS)
async def test_a_planted_fault_is_caught_by_readers_of_traces(
    hidden: list[tuple[str, World, list[str]]], plant: Callable[[str, str, str], None], fault: str
) -> None:
    plant(*TRACE_FAULTS[fault])
    for url, world, traces in hidden:
        async with opened(url) as store:
            if (await read_traces(store, world, traces, random.Random(0)))[1]:
                return
    pytest.fail("nobody noticed")


async def test_a_rule_of_visibility_that_forgets_grants_is_caught(bases: Bases, worlds: list[tuple[str, World]]) -> None:
    url, world = bases.clone(worlds[0][0]), worlds[0][1]
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            "create or replace function visible(ns int, acl_id int, spaces int[], acls int[], whole int[]) returns boolean "
            "language sql immutable parallel safe as $$ select ns = any(spaces) $$"
        )
    finally:
        await connection.close()
    assert await is_caught(url, world)
