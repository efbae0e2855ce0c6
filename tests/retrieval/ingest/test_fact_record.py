"""Many facts of one subject and predicate, as one call may bring them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import process_time
from typing import Any

import pytest

from retrieval.ingest.fact_record import Assertion, Record

BEGIN = datetime(2020, 1, 1, tzinfo=UTC)


def told(count: int, **given: Any) -> Record:
    """A record of one subject that so many facts were asserted of, one an hour later than the other."""
    record = Record()
    for number in range(count):
        fact = {"object_id": None, "value": number, "supersede": False} | given
        since = BEGIN + timedelta(hours=number)
        record.assert_new(
            Assertion(1, "p", valid_from=since, valid_to=None, evidence=3, scopes=None, places=None, **fact), number + 1
        )
    return record


def seconds(count: int, **given: Any) -> float:
    """Time of the processor, best of three."""
    best = float("inf")
    for _ in range(3):
        started = process_time()
        told(count, **given)
        best = min(best, process_time() - started)
    return best


@pytest.mark.usefixtures("no_collector")
@pytest.mark.parametrize("supersede", [False, True])
def test_ten_times_as_many_facts_of_one_subject_and_predicate_do_not_take_thirty_times_as_long(supersede: bool) -> None:
    assert seconds(5_000, supersede=supersede) < 30 * seconds(500, supersede=supersede) + 0.05


def test_each_of_many_that_supersede_ends_the_one_before() -> None:
    rows = [told(50, supersede=True).live[number] for number in range(1, 51)]
    assert [row.valid_to for row in rows] == [*(row.valid_from for row in rows[1:]), None]
