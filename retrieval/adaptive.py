"""Weighs hits by evidence: the script that the base is written in, and how far their scores stand out in their list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

from retrieval.ranking import Channel, Ranking
from retrieval.tuning import Tuning


def adaptive_weights(tuning: Tuning, script_shares: Sequence[float]) -> dict[Channel, float]:
    """The most that a hit of each channel counts; `script_shares` has, for each word of the question with letters, the part of
    the base's words in its script (0 to 1).

    A question in the script of the base gives words 1.1 and meaning 0.9. The fewer words of the base are written as the question
    is, the less its words can find but chance matches (names, code): down to 0.1 for words and 1.9 for meaning. What other
    channels find has no score that stands out: it counts what a hit of the text channels counts on average.
    """
    affinity = sum(script_shares) / len(script_shares) if script_shares else 1.0
    foreign = min(1.0, max(0.0, 1 - affinity / tuning.script_affinity))
    words = tuning.words_weight * 2 / (1 + math.exp(tuning.script_gate * foreign))
    return dict.fromkeys(Channel, tuning.unscored_weight) | {Channel.VECTOR: 2 - words, Channel.LEXICAL: words}


def standing(tuning: Tuning, ranking: Ranking) -> list[float]:
    """What part of its channel's weight each hit counts, 1 to 0: where its score stands between the best one and a floor.

    The floor of meaning is the last score, since any two texts are somewhat alike: the last hit counts nothing, as if it had just
    missed the list. That of words is half the last score: who holds but one of the words, as all others in the list do, has found
    something. Equal scores all count 1, and so do the hits of graph and sql, whose scores are none.
    """
    if ranking.channel not in (Channel.VECTOR, Channel.LEXICAL):
        return [1.0] * len(ranking.hits)
    floor = ranking.lowest * (tuning.words_floor if ranking.channel is Channel.LEXICAL else 1.0)
    # A fragment with an identifier of the question stands before better worded ones: it counts no less than they do.
    _, *rising = accumulate((hit.raw_score for hit in reversed(ranking.hits)), max, initial=floor)
    best = rising[-1] if rising else floor
    spread = max(best - floor, tuning.least_spread)
    return [1 - (best - score) / spread for score in reversed(rising)]
