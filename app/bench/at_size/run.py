"""Runs the measurements at size over the bases of a folder that is kept between runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from app.bench.adaptive import adaptive_fusion
from app.bench.at_size.growth import growth_of_hits
from app.bench.at_size.nearest import nearest_under_rights
from app.bench.at_size.noisy import noisy_questions
from app.bench.at_size.revoking import revoking_half
from app.bench.at_size.world import SizedWorld, Sizes, empty_database, kept_world
from app.bench.line import Line

MEASUREMENTS: tuple[Callable[[SizedWorld], AsyncIterator[Line]], ...] = (
    nearest_under_rights,
    noisy_questions,
    growth_of_hits,
    revoking_half,
)
"""Each gives its lines as they come; another promise is another file and a line here."""


async def at_size(folder: Path, sizes: Sizes, say: Callable[[str], None]) -> AsyncIterator[Line]:
    """All lines; the first run loads for many minutes, later ones do not."""
    async with kept_world(folder, sizes, say) as world:
        for measure in MEASUREMENTS:
            say(measure.__name__.replace("_", " "))
            async for line in measure(world):
                yield line
        say("adaptive fusion")
        async for line in adaptive_fusion(empty_database(world.embedded), say):
            yield line
