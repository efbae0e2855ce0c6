"""A right that another process takes away is gone from the first read that begins after it, however many are under way."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from retrieval.store import Store
from tests.contract.asking import text
from tests.contract.checking import leaks
from tests.contract.expecting import differences, expected
from tests.contract.oracle import View
from tests.fixtures.bases import Bases
from tests.fixtures.company import Principal, World
from tests.fixtures.random_world import random_world
from tests.fixtures.world import api, execute, opened, store_world

ROOT = Path(__file__).parents[2]
RACES, MANY_RACES = 100, 1_000
BOUND = 1.0
"""Seconds after which no process may answer by rights that were taken away."""


@asynccontextmanager
async def other_process(url: str, principal: str, namespace: str) -> AsyncIterator[Process]:
    """Gives and takes a role; ends with the block."""
    command = (sys.executable, "-m", "tests.fixtures.revoking", url, principal, namespace)
    process = await asyncio.create_subprocess_exec(*command, cwd=ROOT, stdin=PIPE, stdout=PIPE)
    assert process.stdin is not None
    try:
        yield process
    finally:
        process.stdin.close()
        await process.wait()


async def change(process: Process, verb: str) -> None:
    """Comes back when the change is committed."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{verb}\n".encode())
    assert await process.stdout.readline() == b"done\n"


async def seen(store: Store, caller: Principal, document: str) -> str:
    """An answer; it may be either that of before or that of after, but nothing that is no answer."""
    answer = await execute(store, document, caller.token)
    assert {error["extensions"]["code"] for error in answer.get("errors", [])} <= {"NAMESPACE_NOT_FOUND"}, answer
    return json.dumps(answer)


async def race(bases: Bases, rounds: int) -> None:
    url, world = bases.new(), random_world(400)
    caller = world.named("empty")
    space = next(one for one in world.namespaces if (1, "READER") not in one.roles)
    await store_world(url, world)
    chance, at_once = random.Random(400), 0
    async with opened(url, size=5) as store, other_process(url, caller.name, space.name) as process:
        for number in range(rounds):
            for verb in ("grant", "revoke"):
                document = asking(world, chance)
                under_way = [asyncio.create_task(seen(store, caller, document)) for _ in range(number % 4)]
                await change(process, verb)
                done, held = time.monotonic(), {(caller.id, "READER")}
                space.roles = space.roles | held if verb == "grant" else space.roles - held
                view = View(world, caller)
                answer = await execute(store, document, caller.token)
                at_once += verb == "revoke" and time.monotonic() - done < BOUND
                wrong = differences({"data": expected(api()._schema, view, document)}, answer)
                assert (wrong, leaks(view, document, json.dumps(answer))) == ([], []), (number, verb)
                await asyncio.gather(*under_way)
        assert at_once > rounds / 2, "too few answers came in time to say that the right was gone by then"
        assert space.name not in await seen(store, caller, "{ viewer { namespaces { name } } }")


def asking(world: World, chance: random.Random) -> str:
    """A question that touches lists, counts and walks."""
    words, starts = text(" ".join(chance.sample(world.words, 2))), [f"{{key: {text(one.key)}}}" for one in world.entities[:9]]
    parts = [
        f"search(question: {words}, k: 50) {{ context hits {{ fragment {{ text }} }} }}",
        f"graph(start: [{', '.join(starts)}]) {{ facts {{ predicate }} }}",
        "entities(first: 5) { totalCount nodes { title } }",
        "aggregate(metric: FRAGMENTS, dimensions: [KIND]) { total buckets { count } }",
        "knowledge { isEmpty namespaces { name factCount } }",
    ]
    return "{ " + " ".join(chance.sample(parts, 2)) + " }"


async def test_a_right_taken_by_another_process_is_gone_at_once(bases: Bases) -> None:
    await race(bases, RACES)


@pytest.mark.long
async def test_a_right_taken_by_another_process_is_gone_at_once_a_thousand_times(bases: Bases) -> None:
    await race(bases, MANY_RACES)
