"""A trace is its maker's and its administrators', and holds nothing that its reader may not see at that moment (spec 8)."""

from __future__ import annotations

import json
import random

import asyncpg

from retrieval.store import Store
from tests.contract.asking import some_words, text
from tests.contract.checking import errors, leaks
from tests.contract.oracle import View
from tests.contract.pack_asking import startable, written
from tests.contract.packs import Pack, id_of
from tests.contract.selections import selection
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import Principal, World, random_world
from tests.fixtures.world import api, execute, opened, store_world

RESTRICTED = (
    "delete from acl_grant where acl_id = any($1)",
    "update entity set acl_id = entity_id where entity_id = any($1)",
    "update fragment set acl_id = entity_id where entity_id = any($1)",
    "update fragment_lexemes set acl_id = entity_id where entity_id = any($1)",
    "update fragment_vector set acl_id = entity_id where entity_id = any($1)",
)
ADMINISTRATOR = "insert into namespace_role (ns, principal_id, role) values ($1, $2, 'ADMIN') on conflict do nothing"


async def traced(store: Store, view: View, chance: random.Random) -> str:
    """Let a caller trace a pack; gives its id, and remembers what it is of."""
    given = startable(view, chance, lambda: some_words(view.world, chance))
    answer = await execute(store, f"{{ contextPack({written(given)}) {{ traceId }} }}", view.me.token)
    found, pack = answer["data"]["contextPack"]["traceId"], Pack(view, **given)
    assert pack.choice is not None, "what is compiled before the world changes stays as it was"
    view.world.traces[found] = (view.me, pack)
    return str(found)


async def check_readers(store: Store, world: World, traces: list[str], chance: random.Random) -> int:
    """Let everybody read every trace, and why some things were in the packs; gives how many were shown."""
    shown, fields = 0, selection(api()._schema, "Trace", 3).removesuffix("}")
    for caller in world.callers:
        view = View(world, caller)
        for one in traces:
            asked = [f"itemId: {text(id_of(entity))}" for entity in chance.sample(world.entities, 3)]
            asked += [f"namespace: {text(e.space.name)}, key: {text(e.key)}" for e in chance.sample(world.entities, 6)]
            whys = " ".join(f"w{n}: why({given}) {{ outcome score channels {{ rank }} }}" for n, given in enumerate(asked))
            document = f"{{ trace(traceId: {text(one)}) {fields} {whys} }} }}"
            answer = await execute(store, document, caller.token)
            assert leaks(view, document, json.dumps(answer)) == []
            assert errors(view, document, answer) == [], f"{caller.name} reads of {world.traces[one][0].name}"
            shown += answer["data"]["trace"] is not None
    return shown


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


async def test_a_trace_is_read_by_its_maker_and_administrators_less_what_they_may_not_see(bases: Bases) -> None:
    shown = 0
    for seed in range(410, 412):
        url, world, chance = bases.new(), random_world(seed), random.Random(seed)
        await store_world(url, world)
        await make_administrator(url, world, chance.choice(world.callers))
        async with opened(url) as store:
            views = [view for view in (View(world, one) for one in world.callers) if view.fragments(view.spaces)]
            traces = [await traced(store, view, chance) for view in views for _ in range(2)]
            shown += await check_readers(store, world, traces, chance)
            await hide_some(url, world, chance)
            shown += await check_readers(store, world, traces, chance)
    assert shown > 30


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
