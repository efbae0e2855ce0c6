"""The oracle bites: whoever plants a fault turns the tests of access of the default run red.

All of the faults that the leak oracle must find are among these, but for those that would break what is not there: an answer
whose context was built before the filter, a denial lost on a cycle of groups.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import cache_from_source
from itertools import islice
from pathlib import Path

import asyncpg
import pytest

from retrieval import sql
from tests.contract.asking import documents
from tests.contract.checking import Checks
from tests.contract.number_faults import ALWAYS, NUMBER_FAULTS
from tests.contract.oracle import View
from tests.contract.pack_asking import pack_arguments, wide_arguments
from tests.contract.pack_checking import Seen, ask_packs, read_traces
from tests.contract.probing import probes
from tests.contract.test_traces import traced_then_hidden
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import World, random_world
from tests.fixtures.world import opened, store_world

ROOT = Path(__file__).parents[2]
GIVEN = "visible(a.ns, {0}.acl_id, $1, $2, $3)"
ROW = "visible({0}.ns, {0}.acl_id, $1, $2, $3)"
EDGE = "e.{0} = any($2)"
AT_ITS_END = "stands(f.valid_from, f.valid_to,", "stands(f.valid_from, f.valid_to + interval '1 us',"
WHEN_RETRACTED = "f.recorded_at, f.retracted_at,", "f.recorded_at, f.retracted_at + interval '1 us',"
STANDS = "any(array(select principal_id from stands))"
ENTITIES = ("visible_entities($1, $2, $3,", "visible_entities($1, $2, $1,")
FAULTS = {
    "the exact vector list ignores restrictions": ("vector_exact", ROW.format("v"), "v.ns = any($1)"),
    "the lexical list ignores restrictions": ("lexical", "visible(l.ns + 0, l.acl_id, $1, $2, $3)", "true"),
    "an entity by key ignores restrictions": ("entities_by_key", ROW.format("e"), "true"),
    "an entity by id ignores namespaces": ("entities_by_id", ROW.format("e"), "true"),
    "equal keys of several namespaces are one": ("entities_by_key", "select e.ns", "select distinct on (e.key_digest) e.ns"),
    "a fragment by id ignores restrictions": ("fragments", f"{ROW.format('f')} and {ROW.format('e')}", "f.ns = any($1)"),
    "fragments of an entity are counted whatever they are": ("fragments_counted", ROW.format("f"), "false"),
    "a source by id ignores restrictions": ("sources", ROW.format("e"), "e.ns = any($1)"),
    "a walk goes through hidden entities": ("graph_hop", EDGE.format("far_acl"), "true"),
    "a walk goes over facts stated in hidden places": ("graph_hop", EDGE.format("place_acl"), "true"),
    "a fact holds at the moment when it ends": ("graph_hop", "e.valid_to > $8", "e.valid_to >= $8"),
    "entities are counted before access": ("count_entities", ROW.format("e"), "e.ns = any($1)"),
    "fragments are counted before access": ("count_fragments", ROW.format("f"), "f.ns = any($1)"),
    "facts are counted whatever they lead to": ("count_facts", ROW.format("o"), "true"),
    "emptiness is that of all": ("is_empty", ROW.format("f"), "true"),
    "the queue is counted before access": ("pending_embeddings", ROW.format("f"), "true"),
    "a list of entities ignores restrictions": ("entities", *ENTITIES),
    "pages are counted before access": ("entities_counted", *ENTITIES),
    "the sql list ignores restrictions": ("sql", *ENTITIES),
    "an aggregate groups hidden entities": ("aggregate", *ENTITIES),
    "an aggregate counts facts whatever they lead to": ("aggregate", ROW.format("o"), "true"),
    "an aggregate counts facts stated in hidden places": ("aggregate", f" and {ROW.format('e')}", ""),
    "facts around an entity lead to hidden ones": ("facts_of", GIVEN.format("o"), "true"),
    "facts around an entity come from hidden ones": ("facts_of", GIVEN.format("s"), "true"),
    "facts around an entity were stated in hidden places": ("facts_of", GIVEN.format("e"), "true"),
    "facts around an entity that are found by key lead to hidden ones": ("facts_of", f"and {EDGE.format('far_acl')}", ""),
    "a fact of a list holds at the moment when it ends": ("facts_of", *AT_ITS_END),
    "facts around an entity are counted whatever they lead to": ("facts_of_counted", f"and {EDGE.format('far_acl')}", ""),
    "facts that a text states lead to hidden things": ("facts_stated", GIVEN.format("o"), "true"),
    "a fact by id was stated in hidden places": ("facts_known", GIVEN.format("e"), "true"),
    "a fact is in conflict with one that leads to something hidden": (
        "facts_beside", f"and {EDGE.format('far_acl')}", "",
    ),
    "words are weighed by hidden texts": ("words", "s.acl_id = 0", "true"),
    "anybody's grants open an entity": ("caller", f"g.principal_id = {STANDS}", "true"),
    "who is in no group is in all": (
        "caller", f"g.principal_id = {STANDS}", f"(g.principal_id = {STANDS} or (select count(*) from stands) = 2)",  # noqa: S608
    ),
    "groups are followed one step": ("caller", "from stands s cross join", "from (select principal_id from who) s cross join"),
    "everyone is nobody": ("caller", "p.name = 'everyone'", "false"),
    "the right to personal data by a group is nobody's": (
        "caller", "array_agg(distinct r.role)", "array_agg(distinct case when r.role = 'PERSONAL_DATA' and r.principal_id <> "
        "(select principal_id from who) then 'READER' else r.role end)",
    ),
    "an order of titles tells their numbers": ("entities", "e.ns = any($25::int[])", "true"),
    "roles of strangers count": ("caller", f"r.principal_id = {STANDS}", "true"),
    "a token is good at the moment when it ends": ("caller", "t.expires_at > now()", "t.expires_at >= now()"),
    "a revoked token is good": ("caller", "t.revoked_at is null and ", ""),
}  # fmt: skip
"""Faults of one statement: its name, what it says, and what it says then."""

SOONEST = {
    "the lexical list ignores restrictions": (1, 3), "a walk goes over facts stated in hidden places": (1, 0),
    "emptiness is that of all": (0, 7), "facts around an entity lead to hidden ones": (1, 9),
    "facts around an entity come from hidden ones": (2, 2), "facts around an entity were stated in hidden places": (1, 9),
    "facts around an entity that are found by key lead to hidden ones": (1, 0),
    "a fact of a list holds at the moment when it ends": (1, 4), "a fact by id was stated in hidden places": (5, 3),
} | dict.fromkeys((
    "an entity by id ignores namespaces", "equal keys of several namespaces are one", "a fragment by id ignores restrictions",
    "fragments of an entity are counted whatever they are", "a source by id ignores restrictions",
    "entities are counted before access", "fragments are counted before access", "facts are counted whatever they lead to",
    "the queue is counted before access", "pages are counted before access", "an aggregate groups hidden entities",
    "an aggregate counts facts whatever they lead to", "an aggregate counts facts stated in hidden places",
    "facts around an entity are counted whatever they lead to", "facts that a text states lead to hidden things",
    "a fact is in conflict with one that leads to something hidden",
), (0, 0))  # fmt: skip
"""The world and its caller who is asked about a fault first, since it shows there; it saves minutes, and changes nothing else."""

SAME = "visible({0}.ns, {0}.acl_id, $1, $2, $3)"
PACK_FAULTS = {
    "facts of a pack were stated in hidden places": ("facts_around", SAME.format("e").replace("e.ns", "n.ns"), "true"),
    "facts of a pack as of then lead to hidden things": ("facts_around", SAME.format("o").replace("o.ns", "n.ns"), "true"),
    "facts of a pack as of then come from hidden things": ("facts_around", SAME.format("s").replace("s.ns", "n.ns"), "true"),
    "facts of a pack that are edges were stated in hidden places": ("facts_around", "and e.place_acl = any($2)", ""),
    "facts of a pack that are edges lead to hidden things": ("facts_around", "and e.far_acl = any($2)", ""),
    "values of a pack that are found by key were stated in hidden places": ("facts_around", "and s.place_acl = any($2)", ""),
    "a contradiction holds at the moment when it ends": ("facts_beside", *AT_ITS_END),
    "a contradiction is known at the moment when it was retracted": (
        "facts_beside", *WHEN_RETRACTED,
    ),
    "recent notes ignore restrictions": ("recent", "visible(s.ns, e.acl_id, $1, $2, $3)", "true"),
    "what contradicts a fact of a pack was stated in hidden places": (
        "facts_beside", "where v.is_whole and f.ns", "where f.ns",
    ),
    "what contradicts a fact of a pack is about something else": (
        "facts_beside", "in_scope(f.relevance_scopes, $9, $10)", "true",
    ),
    "the facts of a pack ignore which scopes are allowed": (
        "facts_around", "in_scope(f.relevance_scopes, $9, $10)", "in_scope(f.relevance_scopes, $9, null)",
    ),
    "recent notes ignore which scopes are allowed": ("recent", "in_scope(e.relevance_scopes, null, $5)", "true"),
    "words of a pack ignore which scopes are allowed": (
        "lexical", "in_scope(e.relevance_scopes, $21, $22)", "in_scope(e.relevance_scopes, $21, null)",
    ),
    "scopes are asked of what was ranked, after the cut": (
        "vector_exact", "order by distance, v.ns, v.fragment_id\n        offset 0", "order by distance, v.ns limit $5",
    ),
    "a walk of the past goes over facts stated in hidden places": ("graph_hop_known", EDGE.format("place_acl"), "true"),
    "a walk of the past goes to hidden entities": ("graph_hop_known", EDGE.format("far_acl"), "true"),
}  # fmt: skip
"""Faults of one statement that packs show."""

PACKS_SOONEST = {
    "what contradicts a fact of a pack was stated in hidden places": ((1, 10),),
    "words of a pack ignore which scopes are allowed": ((3, 5),),
    "scopes are asked of what was ranked, after the cut": ((4, 3),),
    "a contradiction is known at the moment when it was retracted": ((5, 2),),
}
"""The world and the seed whose packs show a fault, asked for first."""

TRACE_FAULTS = {
    "a trace is anybody's": ("trace", "(t.principal_id is not distinct from $5", "(true"),
    "a trace is shown whose namespaces are closed": ("trace", "t.namespaces <@ $1 and ", ""),
    "whoever has a role somewhere reads traces of others": ("trace", " and r.role = 'ADMIN'", ""),
    "a trace shows fragments that are hidden": (
        "visible_items", f"{SAME.format('f')} and {SAME.format('e')}\nunion", "true\nunion",
    ),
    "a trace shows entities that are hidden, and why tells them from what never was": (
        "visible_items", f"e.entity_id = any($7) and {SAME.format('e')}", "e.entity_id = any($7)",
    ),
    "a trace shows facts stated in hidden places": (
        "visible_items", f"p.fact_id = f.fact_id and {SAME.format('e')}", "p.fact_id = f.fact_id",
    ),
    "a trace shows facts about hidden things": ("visible_items", SAME.format("s"), "true"),
}  # fmt: skip
"""Faults of one statement that the reading of traces shows."""

WORLDS, HISTORIES, HIDDEN = (f"tests/contract/test_{name}.py" for name in ("access", "histories", "hidden"))
SEVERAL = (f"{HISTORIES}::test_a_change_of_rights_holds_from_the_next_request_in_every_process",)
WORLD = (f"{WORLDS}::test_every_field_holds_exactly_what_the_caller_may_see[1]",)
STREAM = (f"{HIDDEN}::test_a_subscription_counts_what_is_visible_and_ends_when_the_namespace_is_closed",)
KEPT = 'store.database.__dict__.setdefault("kept", {})'
RESOLVED = 'await self.run(connection, "caller", statement("caller"), *asked)'
DEEP_FAULTS = {
    "a reader is shared by all who read the same namespaces": (
        "retrieval/session.py", "self._readers: dict[tuple[int, ...], Reader] = {}", f"self._readers = {KEPT}", WORLD,
    ),
    "a search is kept for whoever asks the same": (
        "retrieval/session.py", "self._searches: dict[Question, Search] = {}", f"self._searches = {KEPT}", WORLD,
    ),
    "an aggregate is kept for whoever asks the same": (
        "retrieval/session.py", "self._countings: dict[Aggregation, Counting] = {}", f"self._countings = {KEPT}", WORLD,
    ),
    "a caller is resolved once a process": (
        "retrieval/reader.py",
        f"rows = {RESOLVED}",
        f"kept = self.{KEPT}\n"
        f"        rows = kept.get(identity.token_digest) or kept.setdefault(identity.token_digest, {RESOLVED})",
        SEVERAL,
    ),
    "a cursor is trusted": (
        "retrieval/cursor.py", "if not hmac.compare_digest(signed, signature(secret, scope, payload)):", "if False:", SEVERAL,
    ),
    "a cursor is anybody's": ("retrieval/listing.py", '[caller, "entities"', '["", "entities"', SEVERAL),
    "rights that change in the middle of a request go unnoticed": (
        "retrieval/reader.py", 'if rows[0]["epoch"] != access.epoch:', "if False:",
        ("tests/contract/test_laws.py::test_what_is_revoked_while_an_answer_is_made_is_left_out",),
    ),
    "a closed namespace is said to be closed": (
        "retrieval/administration/rights.py", "raise NamespaceNotFound(namespace)",
        "raise NamespaceNotFound(namespace) if row is None else Forbidden(namespace)",
        (f"{HIDDEN}::test_a_closed_namespace_answers_as_one_that_is_not_there",),
    ),
    "a stream is checked once": (
        "resolvers/ingest.py",
        "    while True:\n        async with info.context.again() as session:",
        "    session = info.context.again()\n    while True:\n        if True:", STREAM,
    ),
    "an answer is told on whatever becomes of rights": (
        "retrieval/answering/streaming.py", "            return\n        async with run.session.again()",
        "            pass\n        return\n        async with run.session.again()",
        ("tests/stories/test_streaming.py::test_nothing_comes_after_rights_are_gone",),
    ),
    "a stream goes on as the administrator": (
        "retrieval/session.py", "return Session(self.store, self._identity,",
        'return Session(self.store, type(self._identity)(is_local_administrator=True),', STREAM,
    ),
    "a group inherits from the one of its name that was deleted": (
        "retrieval/administration/sql/delete_principal.sql", "delete from principal p\n where",
        "update principal p set title = null\n where", SEVERAL,
    ),
    "vectors of a text that becomes restricted stay open": (
        "retrieval/ingest/rights_of_source.py", '*(("fragment_vector",) if models.current else ())', "", SEVERAL,
    ),
    "edges keep the rights of before": (
        "retrieval/ingest/write.py", "await refresh_edges_around(connection, ns, stored.entity_id)", "pass", SEVERAL,
    ),
    "what takes the place of another ends nothing": (
        "retrieval/ingest/fact_record.py", "self.put(replace(other, valid_to=row.valid_from))", "pass",
        ("tests/retrieval/ingest/test_fact_histories.py::test_histories_of_facts_agree_with_a_model_at_every_instant",),
    ),
    "a fact is known at the moment when it was retracted": (
        "retrieval/sql/facts_of.sql", *WHEN_RETRACTED,
        ("tests/retrieval/ingest/test_fact_histories.py::test_histories_of_facts_agree_with_a_model_at_every_instant",),
    ),
    "a cursor of facts is anybody's": (
        "resolvers/facts.py", "[caller.name, *scope]", "[*scope]",
        ("tests/stories/test_facts_over_time.py::test_a_cursor_of_facts_is_good_for_its_caller_and_its_list_only",),
    ),
    "a walk starts wherever a key is": (
        "retrieval/subgraph.py", "(spaces if ref.namespace is None else [known[ref.namespace]])", "spaces",
        (WORLD[0].replace("[1]", "[2]"),),
    ),
    "the near vector list ignores restrictions": (
        "retrieval/sql/vector_near.sql", ROW.format("v"), "v.ns = any($1)",
        (f"{WORLDS}::test_the_index_of_vectors_gives_nothing_but_what_is_visible_and_nearly_all_of_it",),
    ),
    "the log names closed namespaces": (
        "retrieval/session.py", "found = (await self.caller).narrowed(",
        "self.touched.update(names or ())\n        found = (await self.caller).narrowed(",
        (f"{WORLDS}::test_no_forbidden_text_leaves_by_http_headers_logs_or_metrics",),
    ),
}  # fmt: skip
"""Faults of any file: its path, what it says, what it says then, and the tests of the default run that notice."""


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


def change(file: Path, old: str, new: str) -> None:
    """Plant a fault in a file."""
    sound = file.read_text(encoding="utf-8")
    assert old in sound, "the product reads differently now: plant the fault anew"
    file.write_text(sound.replace(old, new), encoding="utf-8")
    forget_bytecode(file)


def forget_bytecode(file: Path) -> None:
    """Have a file compiled anew: bytecode is told by size and second only, and a fault may be as long as what was there."""
    Path(cache_from_source(file)).unlink(missing_ok=True)


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


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project once more, where anything may be changed."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("app", "schema", "resolvers", "retrieval", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def outcome(root: Path, tests: tuple[str, ...]) -> int:
    """What pytest ends with in a copy of the project, on the database server of this run: 0 all passed, 1 some failed."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-m", "not long", "-p", "no:cacheprovider", *tests]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode in (0, 1), done.stdout[-3_000:] + done.stderr[-1_000:]
    return done.returncode


@pytest.mark.parametrize("fault", DEEP_FAULTS)
def test_a_fault_planted_in_the_code_is_caught(copy: Path, fault: str) -> None:
    path, old, new, tests = DEEP_FAULTS[fault]
    try:
        change(copy / path, old, new)
        assert outcome(copy, tests) == 1, "nobody noticed"
    finally:
        shutil.copy(ROOT / path, copy / path)
        forget_bytecode(copy / path)


NUMBERS = (*WORLD, f"{WORLDS}::test_every_field_holds_exactly_what_the_caller_may_see[2]")


@pytest.mark.parametrize("fault", [one if one in ALWAYS else pytest.param(one, marks=pytest.mark.long) for one in NUMBER_FAULTS])
def test_a_fault_that_shows_personal_data_is_caught(copy: Path, fault: str) -> None:
    path, old, new = NUMBER_FAULTS[fault]
    try:
        change(copy / path, old, new)
        assert outcome(copy, NUMBERS) == 1, "nobody noticed"
    finally:
        shutil.copy(ROOT / path, copy / path)
        forget_bytecode(copy / path)


def test_a_copy_without_a_planted_fault_passes(copy: Path) -> None:
    assert outcome(copy, (*STREAM, f"{SEVERAL[0]}[200]")) == 0


def test_there_are_more_faults_than_were_promised() -> None:
    assert len(FAULTS) + len(PACK_FAULTS) + len(TRACE_FAULTS) + len(DEEP_FAULTS) >= 80
