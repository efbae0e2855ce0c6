"""Each thing that a base may need from whoever looks after it is told with what to do, and nothing else is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.findings import Finding, Level
from app.upkeep import upkeep_findings
from retrieval.upkeep import Change, IndexSize, Table, Upkeep, VectorIndex

EXACT = 20_000
MB = 2**20
WELL = Upkeep(
    autovacuum=True,
    tables=(Table("fragment", 100_000, 9_000, 40_000, True, True), Table("lease", 1, 900, 5_000, False, True)),
    indexes=(IndexSize("fragment_vector_near", 240 * MB, 150 * MB), IndexSize("fragment_lexemes_words", 60 * MB, 1)),
    vector_index=VectorIndex(100_000, True, True, False, 512 * 1024, 170 * 1024),
    change=None,
    statistics_seconds=0.0,
)
INDEX = VectorIndex(30_000, False, False, False, 512 * 1024, 52 * 1024)


def told(upkeep: Upkeep) -> list[tuple[str, str, str | None]]:
    """What is not well."""
    found: list[Finding] = list(upkeep_findings(upkeep, EXACT))
    assert all((one.advice is None) == (one.level is Level.OK) for one in found)
    return [(one.name, one.found, one.advice) for one in found if one.level is not Level.OK]


def test_a_base_that_is_well_needs_nothing() -> None:
    small = replace(WELL, tables=(Table("lease", 1, 900, 900, False, True),))
    assert told(small) == []
    assert told(replace(small, vector_index=replace(INDEX, vectors=EXACT))) == [], "nobody needs an index yet"
    assert told(replace(small, vector_index=None)) == []


@pytest.mark.parametrize(
    ("table", "found", "advice"),
    [
        (Table("fragment", 39_000, 10_000, 0, True, True), "10,000 dead rows beside 39,000", "vacuum (analyze) fragment"),
        (Table("fragment_vector", 30_000, 10_000, 0, True, True), "10,000 dead", "concurrently fragment_vector_near; vacuum"),
        (Table("fragment", 1_000, 0, 0, False, True), "1,000 rows and was never analysed", "analyze fragment"),
        (Table("fragment", 2_000, 0, 1_500, True, True), "1,500 changed since", "analyze fragment"),
    ],
)  # fmt: skip
def test_tables(table: Table, found: str, advice: str) -> None:
    ((name, said, todo),) = told(replace(WELL, tables=(table,)))
    assert name == "tables"
    assert found in said
    assert advice in str(todo)


@pytest.mark.parametrize(
    "table",
    [
        Table("fragment", 39_000, 9_999, 0, True, True),
        Table("fragment", 41_000, 10_000, 0, True, True),
        Table("fragment", 999, 0, 999, False, True),
        Table("fragment", 2_000, 0, 1_000, True, True),
    ],
)
def test_tables_that_are_well(table: Table) -> None:
    assert told(replace(WELL, tables=(table,))) == []


def test_autovacuum() -> None:
    well = replace(WELL, tables=())
    assert [name for name, _, _ in told(replace(well, autovacuum=False))] == ["autovacuum"]
    off = replace(well, tables=(Table("fragment", 1, 0, 0, True, False),))
    assert told(off) == [("autovacuum", "is off for fragment", "alter table fragment reset (autovacuum_enabled)")]


def test_sizes_of_indexes() -> None:
    bloated = IndexSize("fragment_lexemes_words", 65 * MB, 32 * MB)
    assert told(replace(WELL, tables=(), indexes=(bloated,))) == [
        (
            "index sizes",
            "fragment_lexemes_words takes 65 MB, about 32 MB when built anew",
            "reindex index concurrently fragment_lexemes_words",
        )
    ]
    assert told(replace(WELL, tables=(), indexes=(replace(bloated, fresh=33 * MB),))) == []


@pytest.mark.parametrize(
    ("index", "found"),
    [
        (INDEX, "missing: 30,000 vectors or more are compared one by one"),
        (replace(INDEX, present=True, building=True), "being built over 30,000 vectors"),
        (replace(INDEX, present=True), "half built"),
        (replace(INDEX, present=True, vectors=5), "half built"),
    ],
)
def test_the_index_over_vectors(index: VectorIndex, found: str) -> None:
    ((name, said, _),) = told(replace(WELL, tables=(), vector_index=index))
    assert name == "vector index"
    assert found in said


def test_memory_for_a_build() -> None:
    index = replace(INDEX, present=True, valid=True, memory_given=64 * 1024, memory_needed=64 * 1024 + 1)
    ((name, found, advice),) = told(replace(WELL, tables=(), vector_index=index))
    assert name == "maintenance memory"
    assert "needs 65 MB and has 64" in found
    assert "maintenance_work_mem = '65MB'" in str(advice)
    assert told(replace(WELL, tables=(), vector_index=replace(index, vectors=EXACT))) == []


def test_a_change_of_the_model() -> None:
    well = replace(WELL, tables=())
    ((name, found, advice),) = told(replace(well, change=Change("other", 16, 1_200, 5_000)))
    assert (name, found) == ("re-embedding", "to other (16): 1,200 of 5,000 vectors are made")
    assert "--abandon" in str(advice)
    ((_, found, _),) = told(replace(well, change=Change(None, None, 0, 5)))
    assert "model from before" in found
