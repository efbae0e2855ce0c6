"""A reply is used when it has exactly one score of 0 to 100 for every candidate, else not at all."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import ProviderUnavailable
from retrieval.ports import Finish, Reply
from retrieval.reranking.scores import scores_of

USED = {
    "plain": '{"1": 100, "2": 0, "3": 37.5}',
    "in another order": '{"3": 37.5, "2": 0, "1": 100}',
    "over several lines": '\n{\n  "1": 100,\n  "2": 0,\n  "3": 37.5\n}\n',
    "in a fence": '```json\n{"1": 100, "2": 0, "3": 37.5}\n```',
    "in a fence without a name": '```\n{"1": 1e2, "2": -0, "3": 37.5}\n```\n',
    "behind words": 'Here are the scores:\n{"1": 100.0, "2": 0, "3": 37.5}',
    "in a fence behind words": 'The scores:\n```json\n{"1": 100, "2": 0, "3": 37.5}\n```',
}
UNUSED = {
    "prose": "No candidate is relevant.",
    "nothing": "",
    "words behind": '{"1": 100, "2": 0, "3": 37} as you asked',
    "words behind a fence": '```json\n{"1": 100, "2": 0, "3": 37}\n``` as you asked',
    "two objects": '{"1": 100, "2": 0, "3": 37} {"1": 0, "2": 0, "3": 0}',
    "cut": '{"1": 100, "2": 0',
    "cut in a fence": '```json\n{"1": 100, "2": 0, "3": 37',
    "one missing": '{"1": 100, "2": 0}',
    "one more": '{"1": 100, "2": 0, "3": 37, "4": 5}',
    "from 0": '{"0": 100, "1": 0, "2": 37}',
    "one twice": '{"1": 100, "2": 0, "3": 37, "3": 37}',
    "one twice in another form": '{"1": 100, "2": 0, "3": 37, "03": 37}',
    "another form of a number": '{"1": 100, "2": 0, "３": 37}',
    "names": '{"a": 100, "b": 0, "c": 37}',
    "too high": '{"1": 100.5, "2": 0, "3": 37}',
    "too low": '{"1": 100, "2": -1, "3": 37}',
    "without an end": '{"1": 1e400, "2": 0, "3": 37}',
    "no number": '{"1": NaN, "2": 0, "3": 37}',
    "infinite": '{"1": Infinity, "2": 0, "3": 37}',
    "a string": '{"1": "100", "2": 0, "3": 37}',
    "a truth value": '{"1": true, "2": 0, "3": 37}',
    "null": '{"1": null, "2": 0, "3": 37}',
    "a list": "[100, 0, 37]",
    "a list in it": '{"1": [100], "2": 0, "3": 37}',
    "an object around": '{"scores": {"1": 100, "2": 0, "3": 37}}',
    "a comma too much": '{"1": 100, "2": 0, "3": 37,}',
    "single quotes": "{'1': 100, '2': 0, '3': 37}",
    "a very long number": '{"1": ' + "9" * 5_000 + ', "2": 0, "3": 37}',
    "very deep": '{"1": ' + "[" * 50_000 + ', "2": 0, "3": 37}',
}


@pytest.mark.parametrize("form", USED)
def test_one_score_for_each_is_used_in_any_of_these_forms(form: str) -> None:
    assert scores_of(Reply(USED[form], Finish.STOP), 3) == [1.0, 0.0, 0.375]
    assert str(scores_of(Reply(USED[form], Finish.STOP), 3)[1]) == "0.0"


@pytest.mark.parametrize("form", UNUSED)
def test_anything_else_is_not_used_and_not_told(form: str) -> None:
    with pytest.raises(ProviderUnavailable) as caught:
        scores_of(Reply(UNUSED[form], Finish.STOP), 3)
    assert "100" not in caught.value.message.replace("0 to 100", "")
    assert len(caught.value.message) < 150


@pytest.mark.parametrize("finish", [Finish.LENGTH, Finish.REFUSED])
def test_a_reply_that_did_not_come_to_its_end_is_not_used(finish: Finish) -> None:
    with pytest.raises(ProviderUnavailable):
        scores_of(Reply(USED["plain"], finish), 3)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=60), st.randoms())
def test_scores_are_a_hundredth_in_the_order_of_the_pool(given: list[int], chance: object) -> None:
    pairs = {str(place): score for place, score in enumerate(given, 1)}
    assert scores_of(Reply(json.dumps(pairs), Finish.STOP), len(given)) == [score / 100 for score in given]


@given(st.text(alphabet=string.printable + '{}[]":,0123456789`é\u2028', max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    try:
        scores = scores_of(Reply(text, Finish.STOP), 1)
    except ProviderUnavailable:
        return
    assert 0 <= scores[0] <= 1
