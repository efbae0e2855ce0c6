"""Serves files of a folder on loopback from an origin of their own, as a web server does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from tests.app.edge_world import served


@contextmanager
def files_served(folder: Path) -> Iterator[str]:
    """Serve until the block ends, and give the origin; the folder may be filled later."""
    with served(Starlette(routes=[Mount("/", StaticFiles(directory=folder, html=True))])) as address:
        yield f"http://{address}"
