"""Reads the statements of a folder, one a file: each package of statements has its own folder, and its own `statement`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path


def statements_in(folder: Path) -> Callable[[str], str]:
    """What gives the text of a statement by its name, as it stands in its file."""

    @cache
    def statement(name: str) -> str:
        return (folder / f"{name}.sql").read_text(encoding="utf-8")

    return statement
