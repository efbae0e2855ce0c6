"""Runs all measurements and prints a line for each promise."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from app.bench.at_size.run import at_size
from app.bench.at_size.world import Sizes
from app.bench.bare_route import hits_against_a_bare_route
from app.bench.facts import facts_against_bare_sql
from app.bench.flood import others_beside_a_flood
from app.bench.graph import graph_from_a_hub_against_an_ordinary_start
from app.bench.hanging import hits_beside_a_hanging_chat, lexical_beside_hanging_embeddings
from app.bench.lexical_only import lexical_alone_against_everything
from app.bench.line import Line
from app.bench.masking import masking_of_hits
from app.bench.memory import memory_over_mixed_requests
from app.bench.rivals.compare import against_rivals
from app.bench.shapes import statements_against_measured_shapes
from app.bench.streams import first_delta_against_an_echo, many_streams_at_once
from app.bench.typed import typed_walks_against_bare_sql
from app.bench.world import World, made_world

MEASUREMENTS: tuple[Callable[[World], Awaitable[list[Line]]], ...] = (
    lexical_alone_against_everything,
    hits_against_a_bare_route,
    masking_of_hits,
    statements_against_measured_shapes,
    memory_over_mixed_requests,
    graph_from_a_hub_against_an_ordinary_start,
    facts_against_bare_sql,
    typed_walks_against_bare_sql,
    first_delta_against_an_echo,
    many_streams_at_once,
    hits_beside_a_hanging_chat,
    lexical_beside_hanging_embeddings,
    others_beside_a_flood,
)
"""Each gives one line or several; another promise is another file and a line here."""

DOCUMENTS, QUICK_DOCUMENTS = 20_000, 4_000
QUICK_SCALE = 0.2
QUICK_SIZES = Sizes(10_000, 2_000, 50)


async def run_bench(quick: bool = False) -> bool:
    """Measure everything that is done within minutes, print `PASS|FAIL name value bound` on stdout as it comes.

    True when all promises are kept. `quick` takes a smaller corpus and fewer repetitions: good for finding a broken measurement,
    not for figures.
    """
    kept = True
    async with made_world(QUICK_DOCUMENTS if quick else DOCUMENTS, QUICK_SCALE if quick else 1.0, say) as world:
        for measure in MEASUREMENTS:
            say(measure.__name__.replace("_", " "))
            for line in await measure(world):
                print(line, flush=True)
                kept = kept and line.passes
    return kept


async def run_at_size(folder: Path, quick: bool = False) -> bool:
    """Measure what is promised of 200,000 fragments, over bases kept in a folder; prints and gives as `run_bench` does."""
    return await printed(at_size(folder / "quick", QUICK_SIZES, say) if quick else at_size(folder, Sizes(), say))


async def run_rivals(quick: bool = False) -> bool:
    """Compare one search with other products on sets with known answers (EVAL_DATA); prints and gives as `run_bench` does."""
    return await printed(against_rivals(quick, say))


async def printed(lines: AsyncIterator[Line]) -> bool:
    """Print lines as they come; true when all promises are kept."""
    kept = True
    async for line in lines:
        print(line, flush=True)
        kept = kept and line.passes
    return kept


def say(what: str) -> None:
    """Tell what is going on."""
    print(f"... {what}", file=sys.stderr, flush=True)
