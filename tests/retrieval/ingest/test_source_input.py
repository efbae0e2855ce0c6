"""The checks of a source before anything is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from retrieval.errors import BadInput
from retrieval.ingest.source_input import Origin, SourceInput, checked, digest_of_source


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"key": "k" * 2_001}, "2,001"),
        ({"key": " "}, "empty"),
        ({"key": "a\x00b"}, "NUL"),
        ({"content": "a\ud800b"}, "surrogate"),
        ({"content": "я" * 8_400_000}, "16 MB"),
        ({"title": "t" * 2_001}, "2,001"),
        ({"type": "t" * 201}, "201"),
        ({"type": ""}, "empty"),
        ({"kind": "NOTE"}, "kind"),
        ({"source_path": "p" * 2_001}, "2,001"),
        ({"relevance_scopes": ["s"] * 101}, "101"),
        ({"relevance_scopes": ["s" * 501]}, "501"),
        ({"relevance_scopes": ["a:b", "alpha"]}, "`type:id`"),
        ({"relevance_scopes": [":alpha"]}, "`type:id`"),
        ({"meta": {str(number): 1 for number in range(65)}}, "64"),
        ({"meta": {"a": {"b": {"c": {"d": 1}}}}}, "levels"),
        ({"meta": {"a": "x" * 9_000}}, "8,192"),
        ({"meta": {"a": float("nan")}}, "a number that JSON lacks"),
        ({"meta": {"a": 2**70}}, "JSON"),
        ({"attributes": {"a": "x" * 70_000}}, "65,536"),
        ({"occurred_at": datetime(2026, 1, 1)}, "zone"),
        ({"readers": ["everyone"], "restricted": False}, "restricted"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
)
def test_a_value_outside_its_limit_is_refused_with_what_is_wrong(given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        checked(SourceInput(**({"key": "a", "content": "текст"} | given)))


@pytest.mark.parametrize(
    "given",
    [
        {"key": "k" * 2_000},
        {"key": "https://example.org/a b/%2F?q=ы#x"},
        {"title": "t" * 2_000},
        {"relevance_scopes": [f"a:{number}" for number in range(100)]},
        {"meta": {str(number): 1 for number in range(64)}},
        {"meta": {"a": {"b": [1]}}},
        {"title": "", "status": " ", "source_path": None},
    ],
    ids=lambda given: next(iter(given)),
)
def test_a_value_at_its_limit_is_taken(given: dict[str, Any]) -> None:
    checked(SourceInput(**({"key": "a", "content": "текст"} | given)))


def test_instants_become_utc_and_equal_ones_are_equal_input() -> None:
    noon = datetime(2026, 1, 1, 12, tzinfo=UTC)
    local = noon.astimezone(timezone(timedelta(hours=3)))
    given = [SourceInput("a", "b", occurred_at=instant, origin=Origin(fetched_at=instant)) for instant in (noon, local)]
    assert len({digest_of_source(checked(source)) for source in given}) == 1


def test_the_order_of_tags_makes_no_difference_and_their_values_do() -> None:
    def digest(meta: dict[str, Any]) -> bytes:
        return digest_of_source(checked(SourceInput("a", "b", meta=meta)))

    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest({"a": 1}) != digest({"a": "1"})
