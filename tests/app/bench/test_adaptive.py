"""What adaptive fusion gains is measured as others measure it, with parameters that never saw the set."""

from __future__ import annotations

import ir_measures
import pytest
from ir_measures import nDCG

from app.bench.adaptive import AFFINITIES, GATES, WORDS, Answered, all_tried, chosen_without, left_out, lines, measured, ndcg
from retrieval.ranking import Channel, Hit, Ranking
from retrieval.tuning import Tuning


def answered(lexical: list[int], vector: list[int], share: float, right: int) -> Answered:
    """A query whose only right fragment is `right`."""
    lists = [
        Ranking(channel, tuple(Hit(1, one, one, 1.0) for one in found), 20)
        for channel, found in ((Channel.LEXICAL, lexical), (Channel.VECTOR, vector))
    ]
    return Answered(lists[0], lists[1], (share,), {right: 1}, {"right": 1})


@pytest.mark.parametrize("found", [[0, 3, 1], [4, 0, 0, 2], [0] * 10, [1]])
def test_ndcg_is_that_of_ir_measures(found: list[int]) -> None:
    judged = {f"d{at}": grade for at, grade in enumerate(found)} | {"missed": 2}
    ranked = {f"d{at}": float(-at) for at in range(len(found))}
    (metric,) = ir_measures.iter_calc([nDCG @ 10], {"q": judged}, {"q": ranked})
    assert ndcg(found, judged) == pytest.approx(metric.value)


def test_the_set_that_is_measured_has_no_say_in_the_parameters() -> None:
    plain = {"a": 0.5, "b": 0.5, "c": 0.5}
    tried = [{"a": 0.9, "b": 0.5, "c": 0.5}, {"a": 0.1, "b": 0.6, "c": 0.6}]
    assert chosen_without(tried, plain, plain, "a") is tried[1], "not the one that is best on a"
    assert left_out(tried, plain, plain) == {"a": 0.1, "b": 0.5, "c": 0.5}


def test_parameters_that_cost_another_set_too_much_are_not_chosen() -> None:
    plain = {"a": 0.5, "b": 0.5, "c": 0.5}
    tried = [{"a": 0.5, "b": 0.9, "c": 0.494}, {"a": 0.5, "b": 0.6, "c": 0.496}]
    assert chosen_without(tried, plain, plain, "a") is tried[1]
    assert chosen_without(tried, plain, plain, "c") is tried[0], "what it costs c is not seen"


def test_parameters_that_fall_behind_the_better_channel_are_not_chosen() -> None:
    plain, better = {"a": 0.5, "b": 0.5, "c": 0.5}, {"a": 0.5, "b": 0.5, "c": 0.6}
    tried = [{"a": 0.5, "b": 0.9, "c": 0.589}, {"a": 0.5, "b": 0.6, "c": 0.591}]
    assert chosen_without(tried, plain, better, "a") is tried[1]


def test_weights_follow_the_parameters() -> None:
    # The right fragment is first by meaning; by words another one is, in a script that few words of the base are written in.
    sets = {"one": [answered([1, 9], [2, 8], 0.05, 2)]}
    (plain,) = measured(sets, None).values()
    assert measured(sets, Tuning())["one"] == 1.0 > plain
    assert len(all_tried(sets, Tuning())) == len(WORDS) * len(AFFINITIES) * len(GATES)


def test_the_lines_name_the_set_that_fares_worst() -> None:
    found, plain, better = {"a": 0.5, "b": 0.6}, {"a": 0.51, "b": 0.5}, {"a": 0.5, "b": 0.7}
    gain, rrf, channel = (str(line) for line in lines("x", found, plain, better))
    assert gain == "PASS adaptive-x-gain 0.0450 >= 0.0120  (nDCG@10 over 2 sets)"
    assert rrf == "FAIL adaptive-x-worst-of-rrf -0.0100 >= -0.0050  (a: 0.500 against 0.510)"
    assert channel.startswith("FAIL adaptive-x-worst-of-better-channel -0.1000 >= -0.0100  (b:")
