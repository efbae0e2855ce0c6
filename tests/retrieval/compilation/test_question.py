"""A pack question is checked whole, and says what its channels start from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from retrieval.access import Space
from retrieval.compilation.question import PackQuestion, Strategy, make_pack_question, places_of
from retrieval.errors import BadInput
from retrieval.ranking import Channel
from retrieval.subgraph import EntityRef
from retrieval.tuning import Tuning

TUNING = Tuning()
ANCHOR = EntityRef(None, "api/billing")


def pack(text: str = "error", **given: Any) -> PackQuestion:
    return make_pack_question(TUNING, text, **given)


def nested(levels: int) -> dict[str, Any]:
    state: dict[str, Any] = {}
    for _ in range(levels - 1):
        state = {"a": state}
    return state


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_tokens": 0}, "`maxTokens` is 0; it must be from 1 to 1,000,000."),
        ({"max_tokens": -1}, "`maxTokens` is -1; it must be from 1 to 1,000,000."),
        ({"max_tokens": 10**9}, "`maxTokens` is 1000000000; it must be from 1 to 1,000,000."),
        ({"k": 0}, "`k` is 0; it must be from 1 to 100."),
        ({"k": 101}, "`k` is 101; it must be from 1 to 100."),
        ({"relevance_scopes": [f"project:{n}" for n in range(11)]}, "`relevanceScopes` has 11 values; at most 10 are taken."),
        ({"relevance_scopes": ["alpha"]}, "form `type:id`"),
        ({"relevance_scopes": [":alpha"]}, "form `type:id`"),
        ({"relevance_scopes": ["project:"]}, "form `type:id`"),
        ({"relevance_scopes": ["a:\0"]}, "NUL"),
        ({"allowed_scopes": ["alpha"]}, "`allowedScopes`"),
        ({"allowed_scopes": [f"a:{n}" for n in range(1_001)]}, "at most 1,000"),
        ({"anchors": [EntityRef(None, str(n)) for n in range(21)]}, "`anchors` has 21 items; give at most 20."),
        ({"anchors": [EntityRef(None, " ")]}, "A key of `anchors` is empty."),
        ({"anchors": [EntityRef("a\0", "b")]}, "A namespace of `anchors` holds a NUL"),
        ({"subject": ("", "7")}, "`subject` needs a `type` and an `id`"),
        ({"subject": ("user", "\ud800")}, "`subject` holds a lone surrogate"),
        ({"subject": ("user", "x" * 2_000)}, "at most 2,000"),
        ({"as_of": datetime(2026, 1, 1)}, "`asOf` needs a time zone"),
        ({"known_at": datetime(2026, 1, 1)}, "`knownAt` needs a time zone"),
        ({"namespaces": ["a\0"]}, "NUL"),
        ({"ephemeral_context": [1]}, "must be a JSON object"),
        ({"ephemeral_context": "text"}, "must be a JSON object"),
        ({"ephemeral_context": False}, "must be a JSON object"),
        ({"ephemeral_context": nested(65)}, "more than 64 levels"),
        ({"ephemeral_context": nested(1_000)}, "more than 64 levels"),
        ({"ephemeral_context": {"a": "x" * 5_000_000}}, "at most 262,144 are taken"),
        ({"ephemeral_context": {"a": "д" * 131_072}}, "at most 262,144 are taken"),
        ({"ephemeral_context": {"a": float("nan")}}, "NaN"),
        ({"ephemeral_context": {"a": "\ud800"}}, "lone surrogate"),
        ({"ephemeral_context": {"a": 10**30}}, "huge whole number"),
        ({"text": "x" * 10_001}, "10,001 characters"),
        ({"text": "a\0"}, "NUL"),
        ({"text": "\ud800"}, "lone surrogate"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_change(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        pack(**given)
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("strategy", "given", "said"),
    [
        (Strategy.HYBRID, {}, "a question or an anchor or a subject or a relevance scope"),
        (Strategy.SEMANTIC, {"anchors": [ANCHOR], "relevance_scopes": ["a:b"]}, "give a question."),
        (Strategy.EXACT, {"subject": ("user", "1")}, "give a question."),
        (Strategy.GRAPH, {"text": "words", "relevance_scopes": ["a:b"]}, "give an anchor or a subject."),
        (Strategy.BRIEFING, {"text": "words"}, "give an anchor or a subject or a relevance scope."),
        (Strategy.HYBRID, {"ephemeral_context": {"a": 1}}, "nothing to start from"),
    ],
)
def test_a_strategy_with_nothing_to_start_from_is_refused(strategy: Strategy, given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        pack(**{"text": " ", "strategy": strategy, **given})
    assert said in refused.value.message


@pytest.mark.parametrize(
    ("given", "started"),
    [
        ({}, "LEXICAL VECTOR GRAPH"),
        ({"text": "", "anchors": [ANCHOR]}, "FACTS GRAPH"),
        ({"text": "", "relevance_scopes": ["a:b"]}, "RECENT"),
        ({"text": "", "subject": ("user", "1")}, "FACTS GRAPH RECENT"),
        ({"strategy": Strategy.GRAPH, "anchors": [ANCHOR]}, "FACTS GRAPH"),
        ({"strategy": Strategy.BRIEFING, "relevance_scopes": ["a:b"]}, "RECENT"),
        ({"strategy": Strategy.EXACT}, "LEXICAL"),
        ({"strategy": Strategy.SEMANTIC}, "VECTOR"),
    ],
)
def test_a_channel_starts_by_what_was_given(given: dict[str, Any], started: str) -> None:
    assert pack(**given).started == {Channel(name) for name in started.split()}


def test_the_subject_is_one_more_anchor_and_scope() -> None:
    asked = pack(subject=("user", "ivan"), anchors=[ANCHOR] * 20, relevance_scopes=[f"p:{n}" for n in range(10)])
    assert asked.starts == (ANCHOR, EntityRef(None, "user:ivan"))
    assert asked.scopes[-1] == "user:ivan"
    assert len(asked.scopes) == 11


def test_the_subject_counts_once_where_it_is_given_twice() -> None:
    asked = pack(subject=("user", "1"), anchors=[EntityRef(None, "user:1")], relevance_scopes=["user:1"])
    assert (asked.starts, asked.scopes) == ((EntityRef(None, "user:1"),), ("user:1",))


def test_the_state_keeps_its_order_and_its_letters() -> None:
    assert pack(ephemeral_context={"b": "счёт", "a": [1, None, 1.5]}).current == '{"b":"счёт","a":[1,null,1.5]}'
    assert pack(ephemeral_context={}).current is None
    assert pack().current is None
    assert pack(ephemeral_context=nested(64)).current is not None


def test_equal_packs_are_equal_values() -> None:
    assert pack(ephemeral_context={"a": 1}) == pack(ephemeral_context={"a": 1})
    assert hash(pack(max_tokens=8_000)) == hash(pack())
    assert pack(ephemeral_context={"a": 1}) != pack()
    assert pack(as_of=datetime(3000, 1, 1, tzinfo=UTC)).as_of is not None


def test_an_anchor_is_looked_for_where_it_may_be() -> None:
    here, there = (Space(number, name, None, frozenset()) for number, name in ((2, "b"), (1, "a")))
    asked = pack(anchors=[ANCHOR, EntityRef("a", "k"), EntityRef("closed", "k")])
    assert places_of(asked, [here, there]) == [(there, ANCHOR.key), (here, ANCHOR.key), (there, "k")]
