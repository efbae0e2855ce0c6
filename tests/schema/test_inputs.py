"""What clients send becomes a checked value, or is refused with the name of what is wrong."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from retrieval.errors import BadInput
from retrieval.tuning import Tuning
from schema.enums import EntityKind
from schema.inputs import EntityFilter

NAIVE = datetime(2026, 9, 5)
NOT_PAIRS: list[Any] = [
    [1], "x", {"a": {"b": {"c": {}}}}, {"a": float("nan")}, {str(number): number for number in range(65)}, {"a": "x" * 9_000}
]  # fmt: skip
REFUSED: list[tuple[str, Any, str]] = [
    *((part, ["x"] * 10_000, "10,000 values") for part in ("types", "statuses", "source_paths", "keys", "relevance_scopes")),
    *((part, ["x\x00"], "NUL") for part in ("types", "statuses", "source_paths", "keys", "relevance_scopes")),
    ("keys", ["\ud800"], "lone surrogate"),
    *((f"{field}_{side}", NAIVE, "time zone") for field in ("created", "updated", "occurred") for side in ("after", "before")),
    *((part, value, "`where") for part in ("meta", "attributes") for value in NOT_PAIRS),
]


@pytest.mark.parametrize(("part", "value", "told"), REFUSED)
def test_a_filter_that_cannot_be_meant_is_refused(part: str, value: Any, told: str) -> None:
    with pytest.raises(BadInput) as refusal:
        EntityFilter(**{part: value}).value(Tuning(), "where")
    first, *rest = part.split("_")
    assert told in refusal.value.message
    assert f"where.{first}{''.join(word.title() for word in rest)}" in refusal.value.message


def test_a_contradiction_is_a_filter_like_any_other() -> None:
    later, earlier = datetime.fromisoformat("2026-09-05T03:00:00+03:00"), datetime.fromisoformat("2026-01-01T00:00:00Z")
    value = EntityFilter(created_after=later, created_before=earlier).value(Tuning())
    assert (value.created_after, value.created_before) == (later, earlier)
    assert value.created_after is not None
    assert value.created_after.isoformat() == "2026-09-05T00:00:00+00:00"


def test_null_is_as_left_out_and_an_empty_list_is_not() -> None:
    assert EntityFilter(kinds=None, meta=None).value(Tuning()).is_open
    assert EntityFilter(kinds=[]).value(Tuning()).kinds == ()
    assert EntityFilter(kinds=[EntityKind.THING, EntityKind.THING]).value(Tuning()).kinds == ("THING",)
