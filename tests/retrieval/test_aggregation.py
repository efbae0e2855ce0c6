"""Groups become buckets: periods without a gap, in the promised order, and never more than the limit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.aggregation import PERIODS, Aggregation, Dimension, Metric, Values, buckets
from retrieval.errors import BadInput

D = Dimension
Pairs = list[tuple[Values, int]]


def asked(*dimensions: Dimension) -> Aggregation:
    return Aggregation(Metric.ENTITIES, dimensions)


def pairs(groups: Mapping[Values, int], *dimensions: Dimension, most: int = 1_000) -> Pairs:
    """The buckets as values and counts."""
    found = buckets(asked(*dimensions), groups, most)
    assert all(tuple(name for name, _ in bucket.values) == dimensions for bucket in found)
    return [(tuple(value for _, value in bucket.values), bucket.count) for bucket in found]


def test_nothing_has_no_buckets() -> None:
    assert pairs({}, D.DAY) == pairs({}, D.TYPE) == pairs({}) == []


def test_a_count_without_dimensions_is_one_bucket() -> None:
    assert pairs({(): 7}) == [((), 7)]


def test_the_largest_group_comes_first_then_the_value_and_none_last() -> None:
    groups: dict[Values, int] = {(None,): 2, ("b",): 2, ("a",): 2, ("c",): 9}
    assert pairs(groups, D.STATUS) == [(("c",), 9), (("a",), 2), (("b",), 2), ((None,), 2)]


def test_days_are_filled_over_leap_days_and_years() -> None:
    assert pairs({("2024-02-28",): 1, ("2024-03-01",): 1}, D.DAY) == [
        (("2024-02-28",), 1), (("2024-02-29",), 0), (("2024-03-01",), 1)
    ]  # fmt: skip
    assert [values for values, _ in pairs({("2025-12-30",): 1, ("2026-01-02",): 1}, D.DAY)] == [
        ("2025-12-30",), ("2025-12-31",), ("2026-01-01",), ("2026-01-02",)
    ]  # fmt: skip


def test_weeks_go_by_their_monday_and_months_by_their_name() -> None:
    assert pairs({("2025-12-22",): 1, ("2026-01-05",): 2}, D.WEEK) == [
        (("2025-12-22",), 1), (("2025-12-29",), 0), (("2026-01-05",), 2)
    ]  # fmt: skip
    assert pairs({("2025-11-01",): 1, ("2026-02-01",): 2}, D.MONTH) == [
        (("2025-11",), 1), (("2025-12",), 0), (("2026-01",), 0), (("2026-02",), 2)
    ]  # fmt: skip


def test_what_has_no_date_comes_last_and_is_not_filled() -> None:
    groups: dict[Values, int] = {(None, "a"): 9, ("2026-01-02", "b"): 1, ("2026-01-01", "b"): 1}
    assert pairs(groups, D.DAY, D.TYPE) == [
        (("2026-01-01", "b"), 1), (("2026-01-01", "a"), 0), (("2026-01-02", "b"), 1), (("2026-01-02", "a"), 0), ((None, "a"), 9)
    ]  # fmt: skip


def test_every_other_value_gets_every_period_whichever_dimension_comes_first() -> None:
    groups: dict[Values, int] = {("a", "2026-01-01"): 1, (None, "2026-01-02"): 2}
    assert pairs(groups, D.STATUS, D.DAY) == [
        (("a", "2026-01-01"), 1), ((None, "2026-01-01"), 0), ((None, "2026-01-02"), 2), (("a", "2026-01-02"), 0)
    ]  # fmt: skip


def test_the_first_and_the_last_day_there_is_can_be_counted() -> None:
    assert pairs({("0001-01-01",): 1}, D.WEEK) == [(("0001-01-01",), 1)]
    assert pairs({("9999-12-31",): 1}, D.DAY) == [(("9999-12-31",), 1)]
    assert pairs({("9999-12-01",): 1}, D.MONTH) == [(("9999-12",), 1)]


def test_a_trend_over_seven_centuries_is_refused_before_it_is_made() -> None:
    for dimension, first, last in ((D.DAY, "1325-01-01", "2026-01-01"), (D.MONTH, "0001-01-01", "9999-12-01")):
        with pytest.raises(BadInput, match=r"1,000 buckets; take a longer period"):
            buckets(asked(dimension), {(first,): 1, (last,): 1}, 1_000)


def test_the_limit_is_exact() -> None:
    assert len(pairs({("1943-01-01",): 1, ("2026-04-01",): 1}, D.MONTH)) == 1_000
    with pytest.raises(BadInput):
        pairs({("1943-01-01",): 1, ("2026-05-01",): 1}, D.MONTH)
    assert len(pairs({(str(number),): 1 for number in range(1_000)}, D.SOURCE_PATH)) == 1_000
    with pytest.raises(BadInput, match="narrow the filter or leave out a dimension"):
        pairs({(str(number),): 1 for number in range(1_001)}, D.SOURCE_PATH)
    two: dict[Values, int] = {("2026-01-01", "a"): 1, ("2026-01-02", "b"): 1, (None, "c"): 1}
    assert len(pairs(two, D.DAY, D.TYPE, most=7)) == 7
    with pytest.raises(BadInput):
        pairs(two, D.DAY, D.TYPE, most=6)


def test_dimensions_that_do_not_go_together_are_refused() -> None:
    for dimensions in ((D.TYPE, D.TYPE), (D.TYPE, D.KIND, D.STATUS), (D.DAY, D.MONTH), (D.DAY, D.DAY)):
        with pytest.raises(BadInput, match="`dimensions`"):
            asked(*dimensions)


STEPS = {D.DAY: 1, D.WEEK: 7}
starts = st.integers(0, 60)
values = st.sampled_from(["a", "b", None])


@given(st.sampled_from([D.DAY, D.WEEK]), st.dictionaries(st.tuples(starts, values), st.integers(1, 5), min_size=1, max_size=8))
def test_filling_adds_zeros_only_and_leaves_no_gap(dimension: Dimension, drawn: dict[tuple[int, str | None], int]) -> None:
    monday = date(2025, 9, 1)
    groups: dict[Values, int] = {
        ((monday + timedelta(days=at * STEPS[dimension])).isoformat(), other): n for (at, other), n in drawn.items()
    }
    found = pairs(groups, dimension, D.STATUS)
    assert {values: n for values, n in found if n} == groups
    days = list(dict.fromkeys(date.fromisoformat(values[0] or "") for values, _ in found))
    assert {(later - day).days for day, later in pairwise(days)} <= {STEPS[dimension]}
    assert len(found) == len(days) * len({other for _, other in groups})
    assert sum(n for _, n in found) == sum(groups.values())


def test_the_periods_are_those_of_the_enum() -> None:
    assert {name.value for name in PERIODS} == {"DAY", "WEEK", "MONTH"}
