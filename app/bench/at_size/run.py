"""Runs the measurements at size over the bases of a folder that is kept between runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from app.bench.adaptive import adaptive_fusion
from app.bench.at_size.growth import growth_of_hits
from app.bench.at_size.nearest import nearest_under_rights
from app.bench.at_size.noisy import noisy_questions
from app.bench.at_size.packing import packs_of_hits
from app.bench.at_size.revoking import revoking_half
from app.bench.at_size.world import SizedWorld, Sizes, empty_database, kept_world
from app.bench.line import Line
from app.bench.pack_evidence import evidence_of_packs

MEASUREMENTS: tuple[Callable[[SizedWorld], AsyncIterator[Line]], ...] = (
    nearest_under_rights,
    noisy_questions,
    growth_of_hits,
    revoking_half,
    packs_of_hits,
)
"""Each gives its lines as they come; another promise is another file and a line here."""


async def at_size(folder: Path, sizes: Sizes, say: Callable[[str], None]) -> AsyncIterator[Line]:
    """All lines; the first run loads for many minutes, later ones do not."""
    async with kept_world(folder, sizes, say) as world:
        for measure in MEASUREMENTS:
            say(measure.__name__.replace("_", " "))
            async for line in measure(world):
                yield line
        for over_sets in (adaptive_fusion, evidence_of_packs):
            say(over_sets.__name__.replace("_", " "))
            async for line in over_sets(empty_database(world.embedded), say):
                yield line
