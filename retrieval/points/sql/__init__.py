"""Statements about points, one a file, as they go into psql."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def statement(name: str) -> str:
    """The text of a statement as it stands in its file."""
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
