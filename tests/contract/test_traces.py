"""A trace is its maker's and its administrators', and holds nothing that its reader may not see at that moment (spec 8)."""

from __future__ import annotations

import random
from functools import partial

import asyncpg

from tests.contract.asking import some_words
from tests.contract.oracle import View
from tests.contract.pack_asking import startable, wide_arguments
from tests.contract.pack_checking import read_traces, trace_pack
from tests.fixtures.bases import Bases
from tests.fixtures.company import Principal, World
from tests.fixtures.random_world import random_world
from tests.fixtures.world import opened, store_world

RESTRICTED = (
    "delete from acl_grant where acl_id = any($1)",
    "update entity set acl_id = entity_id where entity_id = any($1)",
    "update fragment set acl_id = entity_id where entity_id = any($1)",
    "update fragment_lexemes set acl_id = entity_id where entity_id = any($1)",
    "update fragment_vector set acl_id = entity_id where entity_id = any($1)",
)
ADMINISTRATOR = "insert into namespace_role (ns, principal_id, role) values ($1, $2, 'ADMIN') on conflict do nothing"


async def hide_some(url: str, world: World, chance: random.Random) -> None:
    """Let half of the entities be seen by nobody but those who see all, and one namespace be closed to everybody."""
    hidden = [entity for entity in world.entities if chance.random() < 0.5]
    closed = chance.choice(world.namespaces)
    connection = await asyncpg.connect(url)
    try:
        for entity in hidden:
            entity.acl, entity.readers = entity.id, set()
        numbers = [entity.id for entity in hidden]
        for statement in RESTRICTED:
            await connection.execute(statement, numbers)
        closed.roles.clear()
        await connection.execute("delete from namespace_role where ns = $1", closed.ns)
        await connection.execute("select refresh_edges(ns, array_agg(fact_id)) from fact group by ns")
        await connection.execute("select bump_rights_epoch()")
    finally:
        await connection.close()


async def traced_then_hidden(url: str, world: World) -> list[str]:
    """Store a world, let everybody trace a pack, then hide much of it; gives the ids of the traces."""
    chance = random.Random(len(world.facts))
    await store_world(url, world)
    await make_administrator(url, world, chance.choice(world.callers))
    async with opened(url) as store:
        views = [view for view in (View(world, one) for one in world.callers) if view.fragments(view.spaces)]
        words = partial(some_words, world, chance)
        traces = [await trace_pack(store, view, startable(view, chance, words, wide_arguments)) for view in views]
        counts, wrong = await read_traces(store, world, traces, chance)
        assert wrong == []
        assert counts["shown"] > len(traces)
    await hide_some(url, world, chance)
    return traces


async def test_a_trace_is_read_by_its_maker_and_administrators_less_what_they_may_not_see(bases: Bases) -> None:
    shown = 0
    for seed in range(410, 412):
        url, world = bases.new(), random_world(seed)
        traces = await traced_then_hidden(url, world)
        async with opened(url) as store:
            counts, wrong = await read_traces(store, world, traces, random.Random(seed))
            assert wrong == []
            shown += counts["shown"]
    assert shown > 5


async def make_administrator(url: str, world: World, one: Principal) -> None:
    """Give somebody the role of an administrator in some namespaces, who then reads some traces of others."""
    connection = await asyncpg.connect(url)
    try:
        for space in world.namespaces[:3]:
            space.roles.add((one.id, "ADMIN"))
            await connection.execute(ADMINISTRATOR, space.ns, one.id)
        await connection.execute("select bump_rights_epoch()")
    finally:
        await connection.close()
