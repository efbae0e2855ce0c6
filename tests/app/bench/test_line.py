"""A line of the benchmark says whether a promise is kept, in both directions."""

from __future__ import annotations

from app.bench.line import Line


def test_a_value_under_its_bound_is_kept_and_one_over_it_is_not() -> None:
    assert str(Line("grows", 1.5, 1.6)) == "PASS grows 1.50x <= 1.60x"
    assert str(Line("grows", 1.61, 1.6, note="20 ms")) == "FAIL grows 1.61x <= 1.60x  (20 ms)"


def test_what_must_be_reached_fails_below_its_bound() -> None:
    assert str(Line("recall", 0.9951, 0.99, "", least=True, digits=4)) == "PASS recall 0.9951 >= 0.9900"
    assert not Line("recall", 0.98, 0.99, least=True).passes
