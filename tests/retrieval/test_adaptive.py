"""Word search weighs less, the fewer words of the base are written as the question is; otherwise all is as plain RRF has it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from retrieval.adaptive import adaptive_weights
from retrieval.ranking import Channel
from retrieval.tuning import Tuning

EVEN = dict.fromkeys(Channel, 1.0)


@pytest.mark.parametrize("shares", [[], [1.0], [0.9, 0.8], [0.4], [0.8, 0.0]])
def test_the_script_of_the_base_changes_nothing(shares: list[float]) -> None:
    assert adaptive_weights(Tuning(), shares) == EVEN


def test_a_script_that_the_base_lacks_leaves_words_little() -> None:
    weights = adaptive_weights(Tuning(), [0.0, 0.0])
    assert weights[Channel.LEXICAL] == 0.05
    assert weights[Channel.LEXICAL] + weights[Channel.VECTOR] == 2.0


def test_the_weight_of_words_falls_with_the_share_and_never_jumps() -> None:
    weights = [adaptive_weights(Tuning(), [share / 100])[Channel.LEXICAL] for share in range(50, -1, -1)]
    assert all(0 <= one - other < 0.1 for one, other in pairwise(weights))
