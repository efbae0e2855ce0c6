"""A filter over entities is a value: equal when it means the same, and never taken for another one."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from retrieval.entity_filter import EntityFilter
from retrieval.primitives.filters import entity_filter_values

NOON = datetime(2026, 9, 5, 12, tzinfo=UTC)
EXAMPLES: dict[str, Any] = {
    "kinds": ("THING",), "types": ("ticket",), "statuses": ("open",), "source_paths": ("/a",), "keys": ("k",), "meta": '{"a":1}',
    "attributes": '{"a":1}', "relevance_scopes": ("project:x",), "created_after": NOON, "created_before": NOON,
    "updated_after": NOON, "updated_before": NOON, "occurred_after": NOON, "occurred_before": NOON,
}  # fmt: skip


def test_the_order_and_the_repetition_of_values_mean_nothing() -> None:
    one, other = EntityFilter(keys=("a", "b"), types=("t",)), EntityFilter(keys=("b", "a", "b"), types=("t",))
    assert (one, hash(one), one.digest) == (other, hash(other), other.digest)


@pytest.mark.parametrize("part", [field.name for field in fields(EntityFilter)])
def test_every_part_counts(part: str) -> None:
    filter = replace(EntityFilter(), **{part: EXAMPLES[part]})
    assert not filter.is_open
    assert filter.digest != EntityFilter().digest
    given = [value for value in entity_filter_values(filter, NOON + timedelta(1))[1:] if value is not None]
    assert len(given) == 1


def test_parts_with_equal_values_are_told_apart() -> None:
    filters = [replace(EntityFilter(), **{part: value}) for part, value in EXAMPLES.items()]
    assert len({filter.digest for filter in filters}) == len(EXAMPLES)


def test_an_empty_list_is_not_left_out() -> None:
    assert EntityFilter().is_open
    assert not EntityFilter(keys=()).is_open
    assert EntityFilter(keys=()).digest != EntityFilter().digest
