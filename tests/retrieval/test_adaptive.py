"""Words weigh less, the fewer words of the base are written as the question is, and hits less, the worse their scores."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.adaptive import adaptive_weights, standing
from retrieval.fusion import fold
from retrieval.ranking import Channel, Hit, Ranking
from retrieval.tuning import Tuning

TUNING = Tuning()
OWN_SCRIPT = dict.fromkeys(Channel, 0.4) | {Channel.VECTOR: 0.9, Channel.LEXICAL: 1.1}


def ranking(channel: Channel, scores: list[float]) -> Ranking:
    """A list of fragments, each of an entity of its own."""
    return Ranking(channel, tuple(Hit(1, place, place, score) for place, score in enumerate(scores)), 20)


@pytest.mark.parametrize("shares", [[], [1.0], [0.9, 0.8], [0.4], [0.8, 0.0]])
def test_in_the_script_of_the_base_both_text_channels_weigh_about_alike(shares: list[float]) -> None:
    assert adaptive_weights(TUNING, shares) == pytest.approx(OWN_SCRIPT)


def test_a_script_that_the_base_lacks_leaves_words_little() -> None:
    weights = adaptive_weights(TUNING, [0.0, 0.0])
    assert 0 < weights[Channel.LEXICAL] < 0.11
    assert weights[Channel.LEXICAL] + weights[Channel.VECTOR] == 2.0


def test_the_weight_of_words_falls_with_the_share_and_never_jumps() -> None:
    weights = [adaptive_weights(TUNING, [share / 100])[Channel.LEXICAL] for share in range(50, -1, -1)]
    assert all(0 <= one - other < 0.1 for one, other in pairwise(weights))


def test_a_hit_by_meaning_counts_by_where_its_score_stands_between_the_first_and_the_last() -> None:
    assert standing(TUNING, ranking(Channel.VECTOR, [9.0, 5.0, 2.0, 1.0])) == [1.0, 0.5, 0.125, 0.0]


def test_a_hit_by_words_counts_by_where_its_score_stands_between_the_first_and_half_the_last() -> None:
    assert standing(TUNING, ranking(Channel.LEXICAL, [9.0, 5.0, 2.0])) == [1.0, 0.5, 0.125]


@pytest.mark.parametrize("scores", [[0.8], [0.8, 0.8], [0.8, 0.8 - 1e-9], []])
def test_scores_that_hardly_differ_are_equal(scores: list[float]) -> None:
    assert standing(TUNING, ranking(Channel.VECTOR, scores)) == pytest.approx([1.0] * len(scores), abs=1e-5)


def test_a_fragment_with_an_identifier_counts_no_less_than_better_worded_ones_behind_it() -> None:
    assert standing(TUNING, ranking(Channel.LEXICAL, [0.0, 1.0, 9.0, 5.0, 2.0])) == [1.0, 1.0, 1.0, 0.5, 0.125]


@pytest.mark.parametrize("channel", [Channel.GRAPH, Channel.SQL])
def test_what_has_no_score_of_its_own_counts_alike(channel: Channel) -> None:
    assert standing(TUNING, ranking(channel, [1.0, 0.5])) == [1.0, 1.0]


@given(
    st.sampled_from([Channel.VECTOR, Channel.LEXICAL]),
    st.lists(st.tuples(st.floats(0, 30), st.integers(1, 4)), max_size=20),
    st.booleans(),
)
def test_an_entity_counts_what_its_best_fragment_counts(channel: Channel, found: list[tuple[float, int]], in_order: bool) -> None:
    found = sorted(found, reverse=True) if in_order else found
    fragments = Ranking(channel, tuple(Hit(1, at, of, raw) for at, (raw, of) in enumerate(found)), 20)
    parts = standing(TUNING, fragments)
    assert all(1 >= one >= other >= 0 for one, other in pairwise(parts))
    folded = fold(fragments)
    by_entity = standing(TUNING, folded)
    assert all(1 >= one >= other >= 0 for one, other in pairwise(by_entity))
    if in_order:  # otherwise some have identifiers
        assert by_entity == [parts[hit.evidence or 0] for hit in folded.hits]
