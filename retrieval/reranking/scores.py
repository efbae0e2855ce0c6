"""Reads what a chat model made of a pool, strictly: one score of 0 to 100 for every candidate, or nothing at all.

The reply is one flat JSON object, which may stand in a code fence and may have words before it; words after it, a second object
or another form are not guessed at. Keys are the indexes as they were given ("1", never "01" or "one"), each once, none missing
and none more. Values are numbers of 0 to 100, whole or not; a number in quotes, true, null and NaN are none.
"""

from __future__ import annotations

import json
import re
from typing import Any

from retrieval.errors import ProviderUnavailable
from retrieval.ports import Finish, Reply

_OBJECT = re.compile(r"[^{}]*(\{[^{}\[\]]*\})\s*(?:```)?\s*")


def scores_of(reply: Reply, count: int) -> list[float]:
    """The scores in the order of the pool, from 0 to 1; raises `ProviderUnavailable` for a reply that is not used."""
    if reply.finish is not Finish.STOP:
        raise unusable("it was refused" if reply.finish is Finish.REFUSED else "it was cut off")
    found = _OBJECT.fullmatch(reply.text)
    if found is None:
        raise unusable("it is not one JSON object")
    try:
        pairs = json.loads(found[1], object_pairs_hook=list, parse_constant=float)
    except ValueError:
        raise unusable("it is no JSON") from None
    given = dict(pairs)
    if len(given) < len(pairs) or given.keys() != {str(index) for index in range(1, count + 1)}:
        raise unusable("it does not have every candidate exactly once")
    if not all(is_score(value) for value in given.values()):
        raise unusable("a score is no number from 0 to 100")
    return [given[str(index)] / 100 + 0.0 for index in range(1, count + 1)]  # -0 becomes 0


def is_score(value: Any) -> bool:
    """Whether a value is a number from 0 to 100; a truth value is none."""
    return type(value) in (int, float) and 0 <= value <= 100


def unusable(why: str) -> ProviderUnavailable:
    """The error of a reply that is not used; nothing of the reply is in it."""
    return ProviderUnavailable(f"The chat model gave a rerank that cannot be used: {why}.")
