"""A caller who sees little of a large base gets all of it, in the right order, whatever the index of vectors gives first."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np
import pytest
from pgvector import HalfVector

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.database import Database
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.vector_index import build_index
from retrieval.primitives.filters import filter_values
from retrieval.primitives.lexical import LEXICAL
from retrieval.question import FragmentFilter
from retrieval.sql import guarded
from tests.fixtures.bases import Bases
from tests.fixtures.desk import Desk, desk_at
from tests.fixtures.embedders import DIMENSIONS, HashEmbedder
from tests.fixtures.world import migrated, tuned
from tests.fixtures.writing import ADMIN, values

BIG, TINY, SAME = "big", "tiny", "same"
SIZES = {BIG: 2_500, TINY: 60, SAME: 420} | {f"n{number}": 20 + number * 10 for number in range(20)}
RARE = 15
INDEX = tuned(exact_most=0)
"""Asks the index of vectors even where comparing everything is cheaper."""


def vectors_of(name: str, size: int) -> np.ndarray:
    """Those of `big` lie around the questions, those of `tiny` on the other side; those of `same` are all but equal."""
    chance = np.random.default_rng(int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little"))
    found = chance.standard_normal((size, DIMENSIONS))
    if name == TINY:
        found = found * 0.3 - HashEmbedder().vector("пропуск") * 3
    if name == SAME:
        found = found * 1e-3 + np.ones(DIMENSIONS)
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


async def fill(url: str) -> None:
    """Store the namespaces row by row as an ingest would, without its time; principal `small` reads `tiny` only."""
    await migrated(url)
    database = await Database.open(url, size=1)
    await upsert_principals(database, ADMIN, [PrincipalInput("small", "USER")])
    for name, size in SIZES.items():
        ns = (await create_namespace(database, ADMIN, name)).ns
        async with database.writing() as connection:
            await connection.execute(
                """with e as (insert into entity (ns, key_digest, key, kind, type, title)
                       select $1, sha256(convert_to($2 || g, 'UTF8')), $2 || g, 'DOCUMENT', 'document', $2
                         from generate_series(0, $3 - 1) g order by g returning ns, entity_id, key),
                     f as (insert into fragment (ns, entity_id, acl_id, ordinal, title, heading, text, meta)
                       select ns, entity_id, 0, 0, '', '', 'общий фильтр ' || key,
                              case when $2 = 'big' and (entity_id - (select min(entity_id) from e)) % $5 = 0
                                   then $4::jsonb else '{}' end
                         from e order by entity_id returning *)
                   insert into fragment_lexemes (ns, fragment_id, entity_id, acl_id, words, lexemes)
                   select ns, fragment_id, entity_id, 0, 3, to_tsvector('russian', text) from f""",
                ns, name, size, json.dumps({"collection": "rare"}), SIZES[BIG] // RARE + 1,
            )  # fmt: skip
            ids = await connection.fetch("select fragment_id, entity_id from fragment where ns = $1 order by fragment_id", ns)
            await connection.executemany(
                "insert into fragment_vector (ns, fragment_id, entity_id, acl_id, embedding) values ($1, $2, $3, 0, $4)",
                [(ns, *row, HalfVector(vector)) for row, vector in zip(ids, vectors_of(name, size), strict=True)],
            )
    async with database.writing() as connection:
        await connection.execute("insert into fragment_statistics select ns, 0, count(*), 3 * count(*) from fragment group by ns")
        await connection.execute("insert into namespace_statistics select ns, fragments from fragment_statistics")
    await grant(database, ADMIN, "small", TINY)
    await build_index(database)
    await database.close()


@pytest.fixture(scope="module")
def filled(shared_bases: Bases) -> str:
    """The base of this module; whoever changes it works on a clone."""
    return shared_bases.filled(fill)


async def near(desk: Desk, question: str, k: int, token: str | None = None, **given: Any) -> list[tuple[str, str]]:
    """Namespace and key of the vector list."""
    query = """query($q: String!, $k: Int!, $ns: [String!], $filter: FragmentFilter) {
        search(question: $q, k: $k, namespaces: $ns, filter: $filter) { vector { fragment { namespace card { key } } } } }"""
    data = await desk.ask(query, token, **({"q": question, "k": k, "ns": None, "filter": None} | given))
    return [(hit["fragment"]["namespace"], hit["fragment"]["card"]["key"]) for hit in data["search"]["vector"]]


async def test_a_small_slice_of_a_large_base_is_found_whole(filled: str) -> None:
    best = np.argsort(-(vectors_of(TINY, SIZES[TINY]) @ HashEmbedder().vector("пропуск")), kind="stable")
    for tuning in (INDEX, tuned()):
        async with desk_at(filled, tuning=tuning) as desk:
            for found in (
                await near(desk, "пропуск", 20, ns=[TINY]),
                await near(desk, "пропуск", 20, await desk.token("small")),
            ):
                assert {namespace for namespace, _ in found} == {TINY}
                assert len(set(found)) == 20
                assert len({key for _, key in found} & {f"{TINY}{number}" for number in best[:20]}) >= 19


async def test_a_rare_tag_is_found_whole(filled: str) -> None:
    for tuning in (INDEX, tuned()):
        async with desk_at(filled, tuning=tuning) as desk:
            rare = {"meta": {"collection": "rare"}}
            assert len(set(await near(desk, "пропуск", 20, ns=[BIG], filter=rare))) == RARE
            assert len(set(await desk.find("фильтр", filter=rare))) == RARE


async def test_a_large_pool_of_all_but_equal_vectors_is_full(filled: str) -> None:
    async with desk_at(filled, tuning=INDEX) as desk:
        assert len(set(await near(desk, "одинаковый текст", 50, ns=[SAME]))) == 50
        (ns,) = await values(desk.store, "select ns from namespace where name = $1", SAME)
        async with desk.store.database.reading() as connection:
            vector = HalfVector(np.ones(DIMENSIONS))
            rows = await connection.fetch(
                guarded("vector_near"), [ns], [0], [ns], vector, 400, True, *[None] * 9, 8, 1, False
            )  # fmt: skip
        assert len({row["fragment_id"] for row in rows}) == 400


async def test_each_channel_stays_inside_its_namespaces(filled: str) -> None:
    query = """query($q: String!, $ns: [String!]) { search(question: $q, namespaces: $ns, k: 20) {
        hits { fragment { namespace } } vector { fragment { namespace } } lexical { fragment { namespace } }
        neighbors { entity { namespace } } sources { namespace } context } }"""
    async with desk_at(filled) as desk:
        found = (await desk.ask(query, q="big7 общий", ns=[TINY]))["search"]
        assert len(found["hits"]) == len(found["lexical"]) == len(found["vector"]) == 20
        assert f'"{BIG}"' not in json.dumps(found)
        assert f"{BIG}7" not in found["context"]


async def test_every_namespace_of_many_has_its_nearest(filled: str) -> None:
    async with desk_at(filled, tuning=INDEX) as desk:
        for name, size in SIZES.items():
            if name == SAME:
                continue  # which of equal vectors come first is no question of recall
            shares = []
            for question in ("пропуск", "отпуск", "договор"):
                best = np.argsort(-(vectors_of(name, size) @ HashEmbedder().vector(question)), kind="stable")[:10]
                found = await near(desk, question, 10, ns=[name])
                shares.append(len({key for _, key in found} & {f"{name}{number}" for number in best}) / 10)
            assert np.mean(shares) >= 0.95, name


async def test_deleted_rows_never_come_back(filled: str, shared_bases: Bases) -> None:
    async with desk_at(shared_bases.clone(filled), tuning=INDEX) as desk:
        gone = {f"{BIG}{number}" for number in range(0, 2_500, 3)}
        async with desk.store.database.writing() as connection:
            await connection.execute("delete from entity where key = any($1)", list(gone))
        await delete_entity(desk.store.database, ADMIN, BIG, "big1")
        for number in range(60):
            found = {key for _, key in await near(desk, f"вопрос {number}", 50, ns=[BIG])}
            assert len(found) == 50
            assert not found & {*gone, "big1"}


async def test_a_vector_that_points_nowhere_is_left_out(filled: str, shared_bases: Bases) -> None:
    query = (
        "query($q: String!, $ns: [String!]) { search(question: $q, namespaces: $ns, k: 50) { vector { score } hits { score } } }"
    )
    for tuning in (INDEX, tuned()):
        async with desk_at(shared_bases.clone(filled), tuning=tuning) as desk:
            zero = HalfVector(np.zeros(DIMENSIONS))
            async with desk.store.database.writing() as connection:
                changed = await connection.fetch(
                    "update fragment_vector set embedding = $1 where (ns, fragment_id) in (select ns, fragment_id from fragment "
                    "join namespace using (ns) where name = 'n0' order by fragment_id limit 5) returning 1", zero
                )  # fmt: skip
            assert len(changed) == 5
            found = (await desk.ask(query, q="пропуск", ns=["n0"]))["search"]
            scores = [hit["score"] for hit in found["vector"]]
            assert len(scores) == SIZES["n0"] - 5
            assert scores == sorted(scores, reverse=True)
            assert all(score is not None for score in scores)


async def test_the_index_of_vectors_carries_the_search_of_large_bases(filled: str) -> None:
    database = await Database.open(filled, size=1)
    async with database.writing() as connection:
        await connection.execute("analyze fragment_vector; set local enable_seqscan = off")  # it is small
        ns = [row["ns"] for row in await connection.fetch("select ns from namespace")]
        vector = HalfVector(HashEmbedder().vector("x"))
        plan = await explained(connection, "vector_near", ns, vector, 40, True, *[None] * 9, 8, 1)
        assert "fragment_vector_near" in plan
    await database.close()


async def test_the_index_of_words_carries_the_words_of_a_large_base_and_no_order_by_date_does(filled: str) -> None:
    database = await Database.open(filled, size=1)
    async with database.writing() as connection:
        await connection.execute("analyze fragment_lexemes; analyze entity; set local enable_seqscan = off")  # it is small
        ns = [row["ns"] for row in await connection.fetch("select ns from namespace")]
        for word in ("общий", "big7", "нигде"):
            asked = [f"'{word}'", [f"'{word}'"], [1.0], 3.0, 1.2, 0.75, [], [], 40, *filter_values(FragmentFilter()), False]
            plan = await explained(connection, LEXICAL, ns, *asked)
            assert "fragment_lexemes_words" in plan, word
            assert "observation_" not in plan, "no walk along dates"
    await database.close()


async def explained(connection: Any, name: str, ns: list[int], *given: Any) -> str:
    """The plan of a statement as the caller of some namespaces runs it."""
    rows = await connection.fetch(f"explain {guarded(name)}", ns, [0], ns, *given, False)
    return "\n".join(row[0] for row in rows)
