"""JSON Lines: each line by itself, errors with number and schema."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

import retrieval.ingest
from retrieval.ingest.jsonl import BadLine, read_sources, source_schema
from retrieval.ingest.source_input import Origin, SourceInput

PUBLISHED = Path(retrieval.ingest.__file__).parent / "schemas" / "source.schema.json"
FULL = {
    "key": "T-1", "content": "текст", "kind": "EPISODE", "type": "ticket", "title": "Сбой", "sourcePath": "tickets/1",
    "mediaType": "text/plain", "meta": {"lang": "ru"}, "attributes": {"n": 1}, "status": "open",
    "relevanceScopes": ["project:alpha"], "restricted": True, "readers": ["ann"], "occurredAt": "2024-05-01T10:00:00Z",
    "origin": {"connector": "c", "uri": "u", "author": "a", "fetchedAt": "2024-05-02T10:00:00+03:00"},
}  # fmt: skip


def test_a_full_line_becomes_a_source() -> None:
    ((number, source),) = read_sources([json.dumps(FULL)])  # type: ignore[misc]
    assert number == 1
    assert source == SourceInput(
        key="T-1", content="текст", kind="EPISODE", type="ticket", title="Сбой", source_path="tickets/1",
        media_type="text/plain", meta={"lang": "ru"}, attributes={"n": 1}, status="open", relevance_scopes=["project:alpha"],
        restricted=True, readers=["ann"], occurred_at=datetime(2024, 5, 1, 10, tzinfo=UTC),
        origin=Origin("c", "u", "a", datetime(2024, 5, 2, 7, tzinfo=UTC)),
    )  # fmt: skip


def test_what_is_left_out_is_as_in_the_api() -> None:
    ((_, source),) = read_sources([b'\xef\xbb\xbf{"key":"a","content":"b"}\r\n'])  # type: ignore[misc]
    assert source == SourceInput("a", "b")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{bad", "is not JSON"),
        ('{"key":"a"', "is not JSON"),
        ('{"key":"\\ud800","content":"b"}', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ('{"key":"a","content":NaN}', "is not JSON"),
        ('{"key":"a"}', "does not follow source.schema.json: content: Field required"),
        ('{"key":"a","content":1}', "content: Input should be a valid string"),
        ('{"key":"","content":"b"}', "key: String should have at least 1 character"),
        ('{"key":"a","content":"b","colour":1}', "colour: Extra inputs are not permitted"),
        ('{"key":"a","content":"b","occurredAt":"2024-05-01T10:00:00"}', "occurredAt: "),
        ('{"key":"a","content":"b","kind":"BOOK"}', "kind: "),
        ("[1]", "the line: Input should be an object"),
        ("null", "the line: "),
    ],
)
def test_a_corrupt_line_is_reported_by_number_and_the_others_go_on(line: str, reason: str) -> None:
    good = '{"key":"a","content":"b"}'
    first, bad, last = read_sources([good, "", line, good])
    assert first == (1, SourceInput("a", "b"))
    assert last == (4, SourceInput("a", "b"))
    assert isinstance(bad, BadLine)
    assert bad.number == 3
    assert bad.message.startswith("Line 3 ")
    assert "source.schema.json" in bad.message
    assert reason in bad.message
    assert len(bad.message) < 800


def test_the_published_schema_is_that_of_the_code() -> None:
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == source_schema()


def test_the_published_schema_takes_and_refuses_the_same_lines() -> None:
    validator = jsonschema.Draft202012Validator(source_schema())
    assert validator.is_valid(FULL)
    assert not validator.is_valid({"key": "a"})
    assert not validator.is_valid(FULL | {"colour": 1})
