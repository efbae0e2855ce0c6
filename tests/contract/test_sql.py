"""Every statement fits the schema, says what it is for, and applies access; no text becomes SQL at run time (spec 2)."""

from __future__ import annotations

import ast
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from pgvector import HalfVector

from retrieval import sql
from retrieval.database import prepare_connection
from retrieval.keys import key_digest
from retrieval.sql import PLANNED_ONCE, guarded
from tests.contract import over_time
from tests.contract.oracle import View
from tests.fixtures.bases import Bases
from tests.fixtures.company import Entity, Fact, World
from tests.fixtures.embedders import HashEmbedder
from tests.fixtures.random_world import random_world
from tests.fixtures.world import store_world

ROOT = Path(sql.__file__).parents[2]
READS = sorted(file.stem for file in sql.FOLDER.glob("*.sql"))
WRITES = sorted(file for file in (ROOT / "retrieval").rglob("*.sql") if file.parent != sql.FOLDER and file.parent.name == "sql")
ACCESS_FREE = {
    "caller": "finds out who asks and what may be seen",
    "rights_epoch": "says whether what was found out still holds",
    "words": "counts over unrestricted fragments only, in the namespaces that it is given",
    "highlights": "reads no stored text",
    "trace": "a trace belongs to who made it, and is not there when one of its namespaces is closed",
}
"""Statements without `visible(`, each with why."""
UNGUARDED = {"caller", "rights_epoch"}
"""They run before there is an access to guard with, or look whether it holds."""
OPEN = (None,) * 9
OPEN_ENTITIES = (None,) * 14
ALWAYS = datetime(2400, 6, 1, tzinfo=UTC)


@pytest.fixture
async def connection(bases: Bases) -> AsyncIterator[Any]:
    """A connection to an empty base, as the pool would give it."""
    connection = await asyncpg.connect(bases.new())
    await prepare_connection(connection)
    yield connection
    await connection.close()


async def test_reads_fit_the_schema(connection: Any) -> None:
    for name in READS:
        await connection.prepare(sql.statement(name) if name in UNGUARDED else guarded(name))


async def test_writes_fit_the_schema(connection: Any) -> None:
    assert len(WRITES) > 50
    for file in WRITES:
        await connection.prepare(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", [*(sql.FOLDER / f"{name}.sql" for name in READS), *WRITES], ids=lambda file: file.stem)
def test_a_statement_says_what_it_is_for_and_what_its_parameters_are(file: Path) -> None:
    purpose, *rest = file.read_text(encoding="utf-8").splitlines()
    assert re.fullmatch(r"-- [A-Z].*[.,:;\w)]", purpose)
    head = [line for line in rest if line.startswith("-- ")]
    body = "\n".join(line for line in rest if not line.startswith("--"))
    numbers = {int(number) for number in re.findall(r"\$(\d+)", body)}
    if not numbers:
        return
    told = set[int]()
    for first, last in re.findall(r"\$(\d+)(?:-\$(\d+))?", " ".join(head)):
        told |= set(range(int(first), int(last or first) + 1))
    assert numbers <= told, "name every parameter in the comment"


@pytest.mark.parametrize("name", READS)
def test_access_comes_first_and_is_applied(name: str) -> None:
    text = sql.statement(name)
    if name in ACCESS_FREE:
        assert "visible(" not in text
    else:
        assert "visible(" in text or "visible_entities($1, $2, $3," in text
    if name not in UNGUARDED:
        assert re.search(r"^-- \$1-\$3 access", text, re.MULTILINE)


# ------------------------------------------------------------------------------------------------ planted rows


class Planted:
    """A world of which one caller sees a part, and every statement asked about everything."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.view = View(world, max(world.callers[:6], key=lambda one: self.share(View(world, one))))
        self.hidden = [entity for entity in world.entities if not self.view.sees(entity)]

    @staticmethod
    def share(view: View) -> int:
        """How much a caller both sees and does not see."""
        seen = len(view.entities(view.spaces))
        return min(seen, len(view.world.entities) - seen) if len(view.spaces) < 4 else 0

    @property
    def access(self) -> list[list[int]]:
        """The first three parameters."""
        spaces = [space.ns for space in self.view.spaces]
        whole = [space.ns for space in self.view.spaces if {"WRITER", "ADMIN"} & set(self.view.roles(space))]
        acls = [0, *(entity.acl for entity in self.world.entities if entity.readers & self.view.stands_for)]
        return [spaces, acls, whole]

    def calls(self) -> dict[str, list[Any]]:
        """The other parameters of each statement: all namespaces, all ids, no filter; of look-ups by key both of each."""
        spaces = [space.ns for space in self.world.namespaces]
        entities = [entity.id for entity in self.world.entities]
        fragments = [fragment.id for fragment in self.world.fragments]
        beside = [entity.space.ns for entity in self.world.entities]
        words = self.world.words
        vector = HalfVector(HashEmbedder().vector("x"))
        queries = [f"'{word}'" for word in words]
        bm25 = [" | ".join(queries), queries, [1.0] * len(words), 10.0, 1.2, 0.75, [], [], 400]
        return {
            "aggregate": [ALWAYS, *OPEN_ENTITIES, "FACTS", "NAMESPACE", None, "CREATED", 1_000],
            "attributes": [beside, entities, [ALWAYS] * len(entities)],
            "contents": [beside, entities],
            "count_entities": [],
            "count_facts": [],
            "count_fragments": [],
            "entities": [ALWAYS, *OPEN_ENTITIES, "KEY", None, None, None, None, 1_000, []],
            "entities_by_id": [beside, entities],
            "entities_by_key": [beside, [key_digest(entity.key) for entity in self.world.entities]],
            "entities_counted": [ALWAYS, *OPEN_ENTITIES],
            "fact_places": self.each(lambda fact: fact.fact),
            "facts_by_row": self.each(lambda fact: fact.row),
            "facts_in_conflict": [*self.doubts(), 100],
            "facts_known": [*self.each(lambda fact: fact.fact), [fact.recorded for fact in self.world.facts]],
            "facts_of": [*self.listed(), *([one] * len(entities) for one in (None, None, 1_000)), 2],
            "facts_of_counted": self.listed(),
            "facts_stated": [
                [entity.space.ns for entity in self.world.entities],
                entities,
                [0] * len(entities),
                [1_000] * len(entities),
            ],
            "facts_stated_counted": [beside, entities],
            "fragments": [[fragment.entity.space.ns for fragment in self.world.fragments], fragments],
            "fragments_counted": [spaces, entities],
            "is_empty": [],
            "lexical": [*bm25, True, *OPEN, True],
            "pending_embeddings": [],
            "sources": [beside, entities],
            "sql": [ALWAYS, *OPEN_ENTITIES, 1_000],
            "vector_exact": [vector, 400, True, *OPEN, 1],
            "vector_near": [vector, 400, True, *OPEN, 8, 1],
            "vector_near_twice": [vector, 400, True, *OPEN, 8, 1],
            "versions": [beside, entities, ALWAYS],
            "visible_items": [spaces, fragments, [fact.fact for fact in self.world.facts], entities],
        }

    def each(self, number: Any) -> list[Any]:
        """The namespace and a number of every row of a fact."""
        return [[fact.subject.space.ns for fact in self.world.facts], [number(fact) for fact in self.world.facts]]

    def listed(self) -> list[Any]:
        """The parameters of a list of facts around each entity at `ALWAYS`."""
        entities = self.world.entities
        rest = (True, True, None, ALWAYS, None)
        return [[e.space.ns for e in entities], [e.id for e in entities], *([one] * len(entities) for one in rest)]

    def doubts(self) -> list[Any]:
        """The parameters of conflicts, for each row at `ALWAYS`."""
        return [*self.each(lambda fact: fact.row), *([one] * len(self.world.facts) for one in (ALWAYS, None))]

    def wanted(self) -> dict[str, Any]:
        """The rows of each of these statements by what names them: exactly those that are visible."""
        seen = self.view.entities(self.view.spaces)
        fragments, facts = self.view.fragments(self.view.spaces), self.view.facts(self.view.spaces)
        visible = {space: [entity for entity in seen if entity.space is space] for space in self.view.spaces}
        texts = sorted(fragment.id for fragment in fragments)
        vectors = sorted(fragment.id for fragment in fragments if not fragment.pending)
        with_words = [f.id for f in fragments if set(self.world.words) & set(f.whole.lower().split())]
        current = [fact for fact in facts if fact.retracted is None]
        places = {(fact.fact, place.id) for fact in self.world.facts for place in fact.places if self.view.sees(place)}
        return {
            "aggregate": sorted((str(ns), n) for ns, n in counted(fact.subject.space.ns for fact in current)),
            "attributes": sorted(entity.id for entity in seen if entity.versions),
            "contents": sorted(entity.id for entity in seen if entity.source),
            "count_entities": sorted((space.ns, len(listed)) for space, listed in visible.items() if listed),
            "count_facts": counted(fact.subject.space.ns for fact in current),
            "count_fragments": counted(fragment.entity.space.ns for fragment in fragments),
            "entities": sorted(entity.id for entity in seen),
            "entities_by_id": sorted(entity.id for entity in seen),
            "entities_by_key": sorted(entity.id for entity in seen),
            "entities_counted": [len(seen)],
            "fact_places": sorted(places),
            "facts_by_row": sorted(fact.row for fact in facts),
            "facts_in_conflict": sorted((self.world.facts.index(one) + 1, other.row) for one, other in self.conflicts()),
            "facts_known": sorted(
                (n, f.row)
                for n, one in enumerate(self.world.facts, 1)
                for f in facts
                if f.fact == one.fact and over_time.is_known(f, one.recorded)
            ),
            "facts_of": sorted(
                (n, f.row)
                for n, entity in enumerate(self.world.entities, 1)
                if self.view.sees(entity)
                for f in over_time.around(self.view, entity, asOf=ALWAYS.isoformat())
            ),
            "facts_of_counted": sorted(
                (n, len(found))
                for n, entity in enumerate(self.world.entities, 1)
                if self.view.sees(entity) and (found := over_time.around(self.view, entity, asOf=ALWAYS.isoformat()))
            ),
            "facts_stated": sorted(
                (n, f.row)
                for n, entity in enumerate(self.world.entities, 1)
                if self.view.sees(entity)
                for f in current
                if entity in f.places
            ),
            "facts_stated_counted": counted(place.id for f in current for place in f.places if self.view.sees(place)),
            "fragments": texts,
            "fragments_counted": sorted((e.id, len(e.fragments)) for e in seen if e.fragments),
            "is_empty": [not fragments],
            "lexical": sorted(with_words),
            "pending_embeddings": [len(texts) - len(vectors)],
            "sources": sorted(entity.id for entity in seen if entity.source),
            "sql": sorted(entity.id for entity in seen),
            "vector_exact": vectors,
            "vector_near": vectors,
            "vector_near_twice": vectors,
            "versions": sorted(entity.id for entity in seen),
            "visible_items": sorted(
                {("FRAGMENT", id) for id in texts}
                | {("FACT", fact.fact) for fact in facts}
                | {("ENTITY", entity.id) for entity in seen}
            ),
        }

    def conflicts(self) -> list[tuple[Fact, Fact]]:
        """Each visible fact with those that it is in conflict with at `ALWAYS`."""
        facts = self.view.facts(self.view.spaces)
        return [(one, other) for one in facts for other in over_time.conflicts(self.view, one, asOf=ALWAYS.isoformat())]


def counted(numbers: Any) -> list[tuple[int, int]]:
    listed = list(numbers)
    return sorted((number, listed.count(number)) for number in set(listed))


NAMED_BY = {
    "aggregate": ("first", "n"),
    "count_entities": ("ns", "n"),
    "count_facts": ("ns", "n"),
    "count_fragments": ("ns", "n"),
    "entities_counted": ("n",),
    "fact_places": ("fact_id", "entity_id"),
    "facts_by_row": ("row_id",),
    "facts_in_conflict": ("place", "row_id"),
    "facts_known": ("place", "row_id"),
    "facts_of": ("page", "row_id"),
    "facts_of_counted": ("list", "n"),
    "facts_stated": ("page", "row_id"),
    "facts_stated_counted": ("entity_id", "n"),
    "fragments": ("fragment_id",),
    "fragments_counted": ("entity_id", "n"),
    "is_empty": ("is_empty",),
    "lexical": ("fragment_id",),
    "pending_embeddings": ("pending",),
    "vector_exact": ("fragment_id",),
    "vector_near": ("fragment_id",),
    "vector_near_twice": ("fragment_id",),
    "visible_items": ("kind", "id"),
}
"""The columns that tell the rows of a statement apart; `entity_id` where nothing is said."""
ONE_BY_ONE = {"domain_packs", "fragments_of", "graph_hop", "typed_step"}
IN_PACKS = {"facts_around", "facts_beside", "graph_hop_known", "recent"}
"""Statements about one thing at a time, with a test of their own; and those of packs, whose lists have tests."""


@pytest.fixture
async def planted(bases: Bases) -> AsyncIterator[tuple[Planted, Any]]:
    """A stored world with a connection to it."""
    url, world = bases.new(), random_world(11)
    await store_world(url, world)
    connection = await asyncpg.connect(url)
    await prepare_connection(connection)
    yield Planted(world), connection
    await connection.close()


async def test_a_row_that_may_not_be_seen_comes_out_of_no_statement(planted: tuple[Planted, Any]) -> None:
    place, connection = planted
    assert len(place.hidden) > 5
    calls, wanted = place.calls(), place.wanted()
    assert set(calls) | set(ACCESS_FREE) | UNGUARDED | ONE_BY_ONE | IN_PACKS == set(READS), "plant a row for the new statement"
    for name, values in calls.items():
        rows = await connection.fetch(guarded(name), *place.access, *values, name in PLANNED_ONCE)
        columns = NAMED_BY.get(name, ("entity_id",))
        found = [tuple(row[column] for column in columns) for row in rows if row["present"]]
        assert sorted(found) == [row if isinstance(row, tuple) else (row,) for row in wanted[name]], name


async def test_pages_and_walks_about_hidden_things_are_empty(planted: tuple[Planted, Any]) -> None:
    place, connection = planted
    for entity in place.world.entities:
        seen = place.view.sees(entity)
        rows = await fetch(connection, "fragments_of", place, [entity.space.ns], [entity.id], [-1], [100])
        assert len(rows) == (len(entity.fragments) if seen else 0)
        walk = [*([entity.space.ns], [entity.id]) * 2, ALWAYS, None, [True, False], 400, 40]
        rows = await fetch(connection, "graph_hop", place, *walk)
        assert {row["neighbour"]: row["facts"] for row in rows} == (around(place, entity) if seen else {})


async def test_a_step_over_a_predicate_passes_what_is_visible_and_nothing_else(planted: tuple[Planted, Any]) -> None:
    place, connection = planted
    passed = set[int]()
    for predicate in {fact.predicate for fact in place.world.facts}:
        for space in place.world.namespaces:
            here = [entity.id for entity in place.world.entities if entity.space is space]
            walk = [space.ns, here, here, ALWAYS, predicate, [True, False], 5, 400, 201]
            rows = await fetch(connection, "typed_step", place, *walk)
            passed |= {fact for row in rows for fact in row["facts"]}
    assert passed == {row for entity in place.world.entities for rows in around(place, entity).values() for row in rows}


async def test_packs_of_closed_namespaces_are_not_read(planted: tuple[Planted, Any]) -> None:
    place, connection = planted
    for space in place.world.namespaces:
        await connection.execute("insert into domain_pack values ($1, 'p', '1.0.0', '', '{}')", space.ns)
    rows = await fetch(connection, "domain_packs", place)
    assert [row["ns"] for row in rows] == sorted(space.ns for space in place.view.spaces)


async def fetch(connection: Any, name: str, place: Planted, *values: Any) -> list[Any]:
    rows = await connection.fetch(guarded(name), *place.access, *values, name in PLANNED_ONCE)
    return [row for row in rows if row["present"]]


def around(place: Planted, entity: Entity) -> dict[int, list[int]]:
    """Where facts lead from an entity at `ALWAYS`, itself included, with the rows of the facts that lead there."""
    found: dict[int, list[int]] = {}
    for fact in place.view.facts([entity.space]):
        holds = fact.retracted is None and (fact.valid_from is None or fact.valid_from <= ALWAYS)
        if fact.object is None or not holds or (fact.valid_to is not None and fact.valid_to <= ALWAYS):
            continue
        for near, far in ((fact.subject, fact.object), (fact.object, fact.subject)):
            if near is entity:
                found.setdefault(far.id, []).append(fact.row)
    return {key: sorted(set(rows)) for key, rows in found.items()}


# ------------------------------------------------------------------------------------------------ no text becomes SQL

RUNS_SQL = {"execute", "executemany", "fetch", "fetchrow", "fetchval", "cursor", "prepare", "copy_from_query", "rows"}
ASSEMBLED = {
    ("retrieval/migrations/__init__.py", "make_extensions"): "names of extensions, our own",
    ("retrieval/migrations/__init__.py", "make_vector_table"): "a checked number of dimensions",
    ("retrieval/administration/namespaces.py", "empty"): "names of tables, our own",
}
"""Functions that may put text into SQL, each with what it puts there."""


def assembled() -> set[tuple[str, str]]:
    """Functions of the product that give a statement a text made at run time: f-strings, format, %, + and the like."""
    found = set()
    for room in ("app", "schema", "resolvers", "retrieval"):
        for file in (ROOT / room).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            for function in ast.walk(tree):
                if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
                    if any(is_assembled_call(call) for call in calls):
                        found.add((file.relative_to(ROOT).as_posix(), function.name))
    return found


def is_assembled_call(call: ast.Call) -> bool:
    runs = isinstance(call.func, ast.Attribute) and call.func.attr in RUNS_SQL
    return runs and bool(call.args) and is_assembled(call.args[0])


def is_assembled(text: ast.expr) -> bool:
    formatted = (
        isinstance(text, ast.Call) and isinstance(text.func, ast.Attribute) and text.func.attr in ("format", "join", "replace")
    )
    return formatted or isinstance(text, ast.BinOp) or (isinstance(text, ast.JoinedStr) and any(
        isinstance(part, ast.FormattedValue) for part in text.values
    ))  # fmt: skip


def test_no_statement_is_put_together_from_text() -> None:
    assert assembled() == set(ASSEMBLED)
