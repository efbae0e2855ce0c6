"""Read statements, one a file, named as the function that uses it; each can be pasted into psql and explained."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
ACCESS = 3
PARAMETER = re.compile(r"\$(\d+)")
PLANNED_ONCE = frozenset(
    (
        "attributes",
        "caller",
        "contents",
        "entities_by_id",
        "entities_by_key",
        "fact_places",
        "facts_around",
        "facts_beside",
        "facts_by_row",
        "facts_in_conflict",
        "facts_known",
        "facts_of",
        "facts_of_counted",
        "facts_stated",
        "facts_stated_counted",
        "fragments",
        "fragments_of",
        "graph_hop",
        "graph_hop_known",
        "highlights",
        "sources",
        "versions",
        "words",
    )
)
"""Look-ups by key: their best plan does not depend on their values, and planning them takes longer than running them.

Statements that rank, filter or walk are planned for their values each time: which index is good depends on how much is visible.
"""


@cache
def statement(name: str) -> str:
    """The text of a statement as it stands in its file."""
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")


@cache
def guarded(name: str) -> str:
    """The statement with the rights epoch of its own snapshot in every row; without rows, one with `present` null.

    Its last parameter says whether its plan is kept (`planned_once`, migration 0011).
    """
    return guard(statement(name), parameters_of(name) + 1)


def guard(text: str, last: int) -> str:
    """A text that gives rows, with the epoch; `last` is the number of its last parameter."""
    return (
        f"with answer as (select true as present, rows.* from (\n{text}\n) rows)\n"  # noqa: S608 - our own files
        "select e.n as epoch, answer.* from rights_epoch e left join answer on true\n"
        f" where $1::int[] is not null and $2::int[] is not null and $3::int[] is not null and ${last}::planned_once is not null"
    )


def parameters_of(name: str) -> int:
    """How many parameters a statement takes, the access among them."""
    return max(ACCESS, *map(int, PARAMETER.findall(statement(name))))


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
    return guard(" union all ".join(lists), taken + parameters_of(second) + 1)
