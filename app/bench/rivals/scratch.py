"""A PostgreSQL for one contestant, stopped at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.bench.world import postmaster_of
from app.embedded import EmbeddedDatabase, embedded_database_url

PLAIN = {"random_page_cost": "4", "effective_cache_size": "4GB", "shared_buffers": "1GB", "jit": "off"}
"""PostgreSQL's own planner settings, as rivals were measured before (research/rivals.md). With ours, which take pages for cheap,
the planner goes through LangChain's HNSW index before its filter: that costs half, and nDCG@10 falls from .553 to .447."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running server: its URL for clients on this machine, and its main process."""

    url: str
    postmaster: int
    embedded: EmbeddedDatabase

    async def tidy(self) -> None:
        """`vacuum analyze`, so that nobody pays for what the load left (research/rivals.md, surprise 5)."""
        await asyncio.to_thread(self.embedded.sql, "vacuum analyze")


@asynccontextmanager
async def scratch_postgres(folder: Path, settings: Mapping[str, str] | None = None) -> AsyncIterator[Postgres]:
    """Start it in a folder, with the settings that the product ships and these on top; stop it."""
    embedded = await asyncio.to_thread(embedded_database_url, folder, settings)
    try:
        yield Postgres(embedded.url, postmaster_of(folder), embedded)
    finally:
        await asyncio.to_thread(embedded.close)
