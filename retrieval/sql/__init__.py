"""Read statements, one a file, named as the function that uses it; each can be pasted into psql and explained."""

from __future__ import annotations

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent


@cache
def statement(name: str) -> str:
    """The text of a statement as it stands in its file."""
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@cache
def guarded(name: str) -> str:
    """The statement with the rights epoch of its own snapshot in every row; without rows, one with `present` null."""
    return (
        f"with answer as (select true as present, rows.* from (\n{statement(name)}\n) rows)\n"  # noqa: S608 - our own files
        "select e.n as epoch, answer.* from rights_epoch e left join answer on true\n"
        " where $1::int[] is not null and $2::int[] is not null and $3::int[] is not null"
    )
