"""What commands print: results on stdout, everything else on stderr, nothing that a terminal would obey."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table


def results() -> Console:
    """Stdout; colours only on a terminal."""
    return Console(highlight=False, emoji=False, markup=False)


def notes() -> Console:
    """Stderr; colours only on a terminal."""
    return Console(stderr=True, highlight=False, emoji=False, markup=False)


def print_json(value: Any) -> None:
    """A value as JSON on stdout."""
    results().file.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())


def say(line: str) -> None:
    """One line of a result on stdout, not wrapped."""
    results().print(printable(line), soft_wrap=True)


def note(line: str) -> None:
    """One line for people on stderr, not wrapped."""
    notes().print(printable(line), soft_wrap=True)


def print_rows(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """A table on stdout; lines separated by tabs when it is no terminal, for `cut` and `awk`."""
    console, listed = results(), [[cell(value) for value in row] for row in rows]
    if not console.is_terminal:
        for row in listed:
            console.file.write("\t".join(row) + "\n")
        return
    table = Table(*columns, box=None, header_style="bold")
    for row in listed:
        table.add_row(*row)
    console.print(table)


def cell(value: object) -> str:
    """A value as text in a table; nothing for what is not there."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return printable(f"{value:%Y-%m-%d %H:%M}" if hasattr(value, "strftime") else str(value))


def progress_bar() -> Progress:
    """Bars on stderr with counts and the time left; nothing when it is no terminal."""
    console = notes()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


def printable(text: str) -> str:
    """The text with everything that could steer a terminal as a space, letter for letter as long as before.

    >>> printable("red \\x1b[31m text")
    'red  [31m text'
    """
    return "".join(letter if letter.isprintable() else " " for letter in text)
