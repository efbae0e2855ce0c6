"""Read statements, one a file, named as the function that uses it; each can be pasted into psql and explained."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
ACCESS = 3
PARAMETER = re.compile(r"\$(\d+)")
GUARD = (
    "select e.n as epoch, answer.* from rights_epoch e left join answer on true\n"
    " where $1::int[] is not null and $2::int[] is not null and $3::int[] is not null"
)


@cache
def statement(name: str) -> str:
    """The text of a statement as it stands in its file."""
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@cache
def guarded(name: str) -> str:
    """The statement with the rights epoch of its own snapshot in every row; without rows, one with `present` null."""
    return (
        f"with answer as (select true as present, rows.* from (\n{statement(name)}\n) rows)\n"  # noqa: S608 - our own files
        f"{GUARD}"
    )


def parameters_of(name: str) -> int:
    """How many parameters a statement takes, the access among them."""
    return max(map(int, PARAMETER.findall(statement(name))))


@cache
def guarded_pair(first: str, second: str) -> str:
    """Two ranking statements as one, guarded alike: `list` says whose row it is, `place` its place there, from 1.

    The access is given once; the other parameters of the second follow those of the first.
    """
    taken = parameters_of(first) - ACCESS

    def moved(found: re.Match[str]) -> str:
        number = int(found[1])
        return f"${number + taken if number > ACCESS else number}"

    texts = (statement(first), PARAMETER.sub(moved, statement(second)))
    lists = (
        f"select {number} as list, row_number() over () as place, one.*\n"  # noqa: S608 - our own files
        f"  from (\n{text}\n) as one(ns, fragment_id, entity_id, raw)"
        for number, text in enumerate(texts)
    )
    return (
        f"with answer as (select true as present, rows.* from (\n{' union all '.join(lists)}\n) rows)\n"  # noqa: S608 - our own files
        f"{GUARD}"
    )
