"""The statements of a search against the plain shapes that were measured first (research/postgres.md 1.7, 2 and 4)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from statistics import median
from time import perf_counter
from typing import Any

from pgvector import HalfVector

from app.bench.bare_route import record
from app.bench.line import Line
from app.bench.recording import Statement
from app.bench.world import World
from retrieval.database import Connection, Database
from retrieval.primitives.lexical import LEXICAL
from retrieval.primitives.vector import EXACT as EXACT_LIST
from retrieval.primitives.vector import NEAR as NEAR_LIST
from retrieval.sql import ACCESS, guarded, guarded_pair, parameters_of
from retrieval.tuning import Tuning

BOUND = 1.5
POOL = 20
QUESTIONS = 40
EXACT = """
    select fragment_id, entity_id, embedding <=> $1 as d from fragment_vector
     where ns = any($2) and acl_id = any($3) order by (embedding <=> $1) + 0 limit $4"""
NEAR = """
    with r as materialized (
        select fragment_id, entity_id, embedding <=> $1 as d from fragment_vector
         where ns = any($2) and acl_id = any($3) order by embedding <=> $1 limit $4)
    select * from r order by d"""

Run = Callable[[Connection], Awaitable[Any]]
Pair = tuple[Run, Run]


async def statements_against_measured_shapes(world: World) -> list[Line]:
    """The median time of each of ours and its shape, in turn on one connection."""
    questions = [world.large.question(3_000_000 + number) for number in range(QUESTIONS)]
    pairs: dict[str, list[Pair]] = {"vector-exact": [], "vector-near": [], "lexical": [], "fused": []}
    for place, (question, statements) in enumerate((await record(world, questions)).items()):
        assert question
        for name, pair in pairs_of({one.name: one for one in statements}, HalfVector(world.large.vectors[place])).items():
            pairs[name].append(pair)
    database = await Database.open(world.url, size=1)
    try:
        async with database.reading() as connection:
            return [await compared(connection, name, found, 2 * world.times(4)) for name, found in pairs.items()]
    finally:
        await database.close()


async def compared(connection: Connection, name: str, pairs: list[Pair], rounds: int) -> Line:
    """The ratio of the medians."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 1):
        for pair in pairs:
            # The second of a pair finds the pages of the first in the caches of the processor, so they take turns.
            for seconds, run in list(zip(times, pair, strict=True))[:: 1 if number % 2 else -1]:
                started = perf_counter()
                await run(connection)
                if number:  # the first round warms up
                    seconds.append(perf_counter() - started)
    ours, shape = (1000 * median(seconds) for seconds in times)
    return Line(f"{name}-of-shape", ours / shape, BOUND, note=f"p50 {ours:.2f} ms against {shape:.2f} ms")


def pairs_of(statements: dict[str, Statement], vector: HalfVector) -> dict[str, Pair]:
    """Ours and the shape of each kind, for one question with a vector that has near ones."""
    first = next(name for name in (EXACT_LIST, NEAR_LIST) if f"{name}+{LEXICAL}" in statements)
    access, meaning, by_words, planned_once = parts(statements[f"{first}+{LEXICAL}"].values, first)
    spaces, acls, _ = access
    rare, words, weights, *_ = by_words
    bound, model = (vector, POOL, *meaning[2:12]), meaning[-1]
    exact = (*access, *bound, model)
    near = (*access, *bound, Tuning().index_spare, model)
    scored = scored_by_idf(len(words))
    parameters = [value for pair in zip(weights, words, strict=True) for value in pair]
    one = fused_shape(len(words))

    return {
        "vector-exact": (ran(guarded(EXACT_LIST), *exact, planned_once), ran(EXACT, vector, spaces, acls, POOL)),
        "vector-near": (ran(guarded(NEAR_LIST), *near, planned_once), ran(NEAR, vector, spaces, acls, POOL)),
        "lexical": (ran(guarded(LEXICAL), *access, *by_words, planned_once), ran(scored, rare, spaces, acls, POOL, *parameters)),
        "fused": (
            ran(guarded_pair(NEAR_LIST, LEXICAL), *near, *by_words, planned_once),
            ran(one, rare, spaces, acls, POOL, *parameters, vector),
        ),
    }


def parts(values: tuple[Any, ...], first: str) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...], bool]:
    """The values of both lists: the access, those by meaning, those by words, and whether the plan is kept."""
    end = parameters_of(first)
    return values[:ACCESS], values[ACCESS:end], values[end:-1], values[-1]


def ran(text: str, *values: Any) -> Run:
    """A statement to be run."""

    async def run(connection: Connection) -> None:
        await connection.fetch(text, *values)

    return run


def scored_by_idf(words: int) -> str:
    """Candidates of the rarest words, ranked by the sum of idf times ts_rank, unrolled."""
    terms = " + ".join(f"${5 + 2 * at}::float8 * ts_rank(lexemes, ${6 + 2 * at}::text::tsquery)" for at in range(words))
    return f"""
        select fragment_id, entity_id, {terms} as score from fragment_lexemes
         where ns = any($2) and acl_id = any($3) and lexemes @@ $1::text::tsquery order by score desc limit $4"""  # noqa: S608


def fused_shape(words: int) -> str:
    """Both channels in one statement."""
    near = NEAR.replace("$1", f"${5 + 2 * words}")
    return f"with l as ({scored_by_idf(words)}), v as ({near}) select * from l full join v using (fragment_id)"  # noqa: S608
