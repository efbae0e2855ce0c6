"""The oracle bites: whoever plants a fault in one statement turns the tests of access red."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import pytest

from retrieval import sql
from tests.contract.checking import violations
from tests.contract.oracle import View
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import World, random_world
from tests.fixtures.world import opened, store_world

ROW = "visible({0}.ns, {0}.acl_id, $1, $2, $3)"
EDGE = "visible($4, e.{0}, $1, $2, $3)"
FAULTS = {
    "the exact vector list ignores restrictions": ("vector_exact", ROW.format("v"), "v.ns = any($1)"),
    "the lexical list ignores restrictions": ("lexical", ROW.format("l"), "true"),
    "an entity by key ignores restrictions": ("entities_by_key", ROW.format("e"), "true"),
    "an entity by id ignores namespaces": ("entities_by_id", ROW.format("e"), "true"),
    "a fragment by id ignores restrictions": ("fragments", f"{ROW.format('f')} and {ROW.format('e')}", "f.ns = any($1)"),
    "a source by id ignores restrictions": ("sources", ROW.format("e"), "e.ns = any($1)"),
    "a walk goes through hidden entities": ("graph_hop", EDGE.format("far_acl"), "true"),
    "a walk goes over facts stated in hidden places": ("graph_hop", EDGE.format("place_acl"), "true"),
    "entities are counted before access": ("count_entities", ROW.format("e"), "e.ns = any($1)"),
    "fragments are counted before access": ("count_fragments", ROW.format("f"), "f.ns = any($1)"),
    "facts are counted whatever they lead to": ("count_facts", ROW.format("o"), "true"),
    "emptiness is that of all": ("is_empty", ROW.format("f"), "true"),
    "the queue is counted before access": ("pending_embeddings", ROW.format("f"), "true"),
    "a list of entities ignores restrictions": ("entities", "visible_entities($1, $2, $3,", "visible_entities($1, $2, $1,"),
    "pages are counted before access": ("entities_counted", "visible_entities($1, $2, $3,", "visible_entities($1, $2, $1,"),
    "the sql list ignores restrictions": ("sql", "visible_entities($1, $2, $3,", "visible_entities($1, $2, $1,"),
    "an aggregate groups hidden entities": ("aggregate", "visible_entities($1, $2, $3,", "visible_entities($1, $2, $1,"),
    "an aggregate counts facts whatever they lead to": ("aggregate", ROW.format("o"), "true"),
    "an aggregate counts facts stated in hidden places": ("aggregate", f" and {ROW.format('e')}", ""),
    "words are weighed by hidden texts": ("words", "s.acl_id = 0", "true"),
    "anybody's grants open an entity": ("permitted", "g.principal_id = any($3)", "true"),
    "groups are followed one step": ("caller", "from stands s join", "from (select principal_id from who) s join"),
    "everyone is nobody": ("caller", "p.name = 'everyone'", "false"),
    "roles of strangers count": ("caller", "r.principal_id in (select principal_id from stands)", "true"),
}


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, str], None]]:
    """Replaces text in a copy of one statement file, which the product then reads."""

    def put(name: str, old: str, new: str) -> None:
        shutil.copytree(sql.FOLDER, tmp_path / "sql")
        file = tmp_path / "sql" / f"{name}.sql"
        sound = file.read_text(encoding="utf-8")
        assert old in sound, "the statement reads differently now: plant the fault anew"
        file.write_text(sound.replace(old, new), encoding="utf-8")
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
        for caller in world.callers:
            if await violations(store, View(world, caller), 0):
                return True
    return False


@pytest.fixture(scope="module")
def worlds(shared_bases: Bases) -> list[tuple[str, World]]:
    """Worlds that faults are looked for in, one after the other."""
    made = [(shared_bases.new(), random_world(seed)) for seed in range(300, 304)]
    for url, world in made:
        asyncio.run(store_world(url, world))
    return made


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_planted_fault_is_caught(
    worlds: list[tuple[str, World]], plant: Callable[[str, str, str], None], fault: str
) -> None:
    plant(*FAULTS[fault])
    for url, world in worlds:
        if await is_caught(url, world):
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
