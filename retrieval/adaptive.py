"""Weighs word search against search by meaning by evidence: whether the base is written in the script of the question."""

from __future__ import annotations

import math
from collections.abc import Sequence

from retrieval.ranking import Channel
from retrieval.tuning import Tuning


def adaptive_weights(tuning: Tuning, script_shares: Sequence[float]) -> dict[Channel, float]:
    """The weights of the text channels; `script_shares` has, for each word of the question with letters, the part of the base's
    words in its script (0 to 1).

    A question in the script of the base gives 1 and 1, as plain RRF has it. The fewer words of the base are written as the
    question is, the less its words can find but chance matches (names, code): down to 0.05 for words and 1.95 for meaning.
    """
    even = dict.fromkeys(Channel, 1.0)
    if not script_shares:
        return even
    affinity = sum(script_shares) / len(script_shares)
    foreign = min(1.0, max(0.0, 1 - affinity / tuning.script_affinity))
    words = max(tuning.script_least, 2 / (1 + math.exp(tuning.script_gate * foreign)))
    return even | {Channel.VECTOR: 2 - words, Channel.LEXICAL: words}
