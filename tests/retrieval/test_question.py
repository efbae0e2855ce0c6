"""Arguments become one frozen value, or a refusal that says what to change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from retrieval.errors import BadInput
from retrieval.question import FusionMethod, Primitive, check_instant, check_meta, make_question
from retrieval.tuning import Tuning

TUNING = Tuning()


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "\u200b", "a\x00b", "\ud800", "x" * 10_001])
def test_a_question_that_cannot_be_asked_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        make_question(TUNING, text)


@pytest.mark.parametrize("text", ["и в на", "!!! ???", "😀", "x" * 10_000, "договор & | акт", "what's the код"])
def test_odd_questions_are_taken_as_they_are(text: str) -> None:
    assert make_question(TUNING, text).text == text


def test_a_decomposed_question_equals_the_composed_one() -> None:
    assert make_question(TUNING, "и\u0306од") == make_question(TUNING, "йод")


@pytest.mark.parametrize(("k", "hops"), [(0, 1), (51, 1), (-1, 1), (8, 0), (8, 3)])
def test_numbers_outside_their_limits_are_refused(k: int, hops: int) -> None:
    with pytest.raises(BadInput, match="must be from"):
        make_question(TUNING, "x", k=k, hops=hops)


def test_only_a_real_nul_is_refused_in_meta() -> None:
    assert check_meta("filter.meta", {"a": "\\u0000", "b": "\\\\u0000"}) is not None
    for nul in ("\x00", "\\\x00", "a\x00b"):
        with pytest.raises(BadInput, match="NUL"):
            check_meta("filter.meta", {"a": nul})


def test_weights_go_with_weighted_only() -> None:
    weights = {Primitive.VECTOR: 2.0}
    with pytest.raises(BadInput, match="WEIGHTED"):
        make_question(TUNING, "x", weights=weights)
    question = make_question(TUNING, "x", fusion=FusionMethod.WEIGHTED, weights=weights)
    assert (question.weight(Primitive.VECTOR), question.weight(Primitive.LEXICAL)) == (2.0, 1.0)


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), -1.0, 1e400, 1001.0])
def test_a_weight_that_is_no_number_is_refused(weight: float) -> None:
    with pytest.raises(BadInput, match="VECTOR"):
        make_question(TUNING, "x", fusion=FusionMethod.WEIGHTED, weights={Primitive.VECTOR: weight})


def test_equal_questions_are_equal_values() -> None:
    assert make_question(TUNING, "x", namespaces=["a", "a", "b"]) == make_question(TUNING, "x", namespaces=("a", "b"))
    assert hash(make_question(TUNING, "x")) == hash(make_question(TUNING, "x"))


def test_an_empty_list_is_not_a_missing_one() -> None:
    assert make_question(TUNING, "x", namespaces=[]).namespaces == ()
    assert make_question(TUNING, "x").namespaces is None


def test_instants_need_a_zone_and_end_in_utc() -> None:
    with pytest.raises(BadInput, match="zone"):
        check_instant("asOf", datetime(2026, 9, 5))
    plus3 = datetime(2026, 9, 5, tzinfo=timezone(timedelta(hours=3)))
    assert check_instant("asOf", plus3) == datetime(2026, 9, 4, 21, tzinfo=UTC)
    with pytest.raises(BadInput, match="9999"):
        check_instant("asOf", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=3))))


def nested(levels: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "meta",
    [
        [],
        "x",
        {str(n): n for n in range(65)},
        nested(4),
        nested(5000),
        {"a": "x" * 9000},
        {"a": "\x00"},
        {"a": 2**70},
        {"a": [float("inf")]},
    ],
)
def test_a_meta_filter_that_cannot_be_bound_is_refused(meta: object) -> None:
    with pytest.raises(BadInput):
        check_meta("filter.meta", meta)


def test_a_meta_filter_is_a_value_whatever_it_says() -> None:
    assert check_meta("filter.meta", {"author' OR '1'='1' --": "x"}) == "{\"author' OR '1'='1' --\":\"x\"}"
    assert check_meta("filter.meta", None) is None
