"""Which aliases of packs end at an entity that is erased."""

from __future__ import annotations

from time import process_time

import pytest

from retrieval.ingest.aliases import leading_to


def seconds(count: int) -> float:
    """Time of the processor for a chain of so many aliases, best of three."""
    chain = {f"A{number + 1}": f"a{number}" for number in range(count)}
    best = float("inf")
    for _ in range(3):
        started = process_time()
        assert leading_to(["a0"], chain) == set(chain)
        best = min(best, process_time() - started)
    return best


@pytest.mark.usefixtures("no_collector")
def test_ten_times_as_long_a_chain_of_aliases_does_not_take_thirty_times_as_long() -> None:
    assert seconds(20_000) < 30 * seconds(2_000) + 0.05


def test_an_alias_of_a_name_that_differs_in_letter_case_is_followed_and_a_key_is_not() -> None:
    assert leading_to(["ann"], {"A": "ann", "B": "a", "C": "ANN"}) == {"A", "B"}
