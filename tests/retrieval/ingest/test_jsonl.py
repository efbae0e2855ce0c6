"""JSON Lines: each line by itself, errors with number and schema."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import retrieval.ingest
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.jsonl import LINES, BadLine, line_schema, read_lines
from retrieval.ingest.source_input import Origin, SourceInput

PUBLISHED = Path(retrieval.ingest.__file__).parent / "schemas"
FULL = {
    "key": "T-1", "content": "текст", "kind": "EPISODE", "type": "ticket", "title": "Сбой", "sourcePath": "tickets/1",
    "mediaType": "text/plain", "meta": {"lang": "ru"}, "attributes": {"n": 1}, "status": "open",
    "relevanceScopes": ["project:alpha"], "restricted": True, "readers": ["ann"], "occurredAt": "2024-05-01T10:00:00Z",
    "origin": {"connector": "c", "uri": "u", "author": "a", "fetchedAt": "2024-05-02T10:00:00+03:00"},
}  # fmt: skip
MOMENT = datetime(2024, 5, 1, 10, tzinfo=UTC)
THING = {
    "key": "svc", "type": "service", "title": "Billing", "kind": "THING", "status": "live", "sourcePath": "ops",
    "attributes": {"n": 1}, "validFrom": "2024-05-01T10:00:00Z", "meta": {"a": 1}, "relevanceScopes": ["a:b"], "restricted": True,
    "readers": ["ann"], "occurredAt": "2024-05-01T10:00:00Z",
}  # fmt: skip
NOTE = {
    "key": "n", "text": "Slow.", "observedAt": "2024-05-01T10:00:00Z", "about": ["svc"], "relevanceScopes": ["a:b"], "by": "ann",
    "restricted": True, "readers": ["ann"],
}  # fmt: skip


def test_a_full_line_becomes_a_source() -> None:
    ((number, source),) = read_lines([json.dumps(FULL)])  # type: ignore[misc]
    assert number == 1
    assert source == SourceInput(
        key="T-1", content="текст", kind="EPISODE", type="ticket", title="Сбой", source_path="tickets/1",
        media_type="text/plain", meta={"lang": "ru"}, attributes={"n": 1}, status="open", relevance_scopes=["project:alpha"],
        restricted=True, readers=["ann"], occurred_at=datetime(2024, 5, 1, 10, tzinfo=UTC),
        origin=Origin("c", "u", "a", datetime(2024, 5, 2, 7, tzinfo=UTC)),
    )  # fmt: skip


def test_what_is_left_out_is_as_in_the_api() -> None:
    ((_, source),) = read_lines([b'\xef\xbb\xbf{"key":"a","content":"b"}\r\n'])  # type: ignore[misc]
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
    first, bad, last = read_lines([good, "", line, good])
    assert first == (1, SourceInput("a", "b"))
    assert last == (4, SourceInput("a", "b"))
    assert isinstance(bad, BadLine)
    assert bad.number == 3
    assert bad.message.startswith("Line 3 ")
    assert "source.schema.json" in bad.message
    assert reason in bad.message
    assert len(bad.message) < 800


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"key":"a","type":"t","title":"x","colour":1}', "entity.schema.json: colour: Extra inputs"),
        ('{"key":"a","type":"t","title":"x","validFrom":"2024-05-01"}', "entity.schema.json: validFrom: "),
        ('{"key":"a","text":"x"}', "observation.schema.json: observedAt: Field required"),
        ('{"text":"x","observedAt":"2024-05-01T10:00:00Z"}', "observation.schema.json: key: Field required"),
        ('{"key":"a","text":" ","observedAt":"2024-05-01T10:00:00Z"}', "Line 1: `text` is empty"),
        ('{"key":"a","type":"t"}', "source.schema.json: content: Field required"),
    ],
)
def test_a_corrupt_line_is_told_by_the_schema_that_it_is_nearest_to(line: str, reason: str) -> None:
    (bad,) = read_lines([line])
    assert isinstance(bad, BadLine)
    assert reason in bad.message


def test_a_line_without_content_is_an_entity_and_one_with_a_text_an_observation() -> None:
    (_, entity), (_, note) = read_lines([json.dumps(THING), json.dumps(NOTE)])  # type: ignore[misc]
    assert entity == EntityInput(
        "svc", "service", "Billing", status="live", source_path="ops", attributes={"n": 1}, valid_from=MOMENT, meta={"a": 1},
        relevance_scopes=["a:b"], restricted=True, readers=["ann"], occurred_at=MOMENT,
    )  # fmt: skip
    assert isinstance(note, SourceInput)
    assert (note.key, note.kind, note.content, note.occurred_at, note.about) == ("n", "OBSERVATION", "Slow.", MOMENT, ["svc"])
    assert (note.relevance_scopes, note.restricted, note.readers, note.origin) == (["a:b"], True, ["ann"], Origin(author="ann"))


@pytest.mark.parametrize("name", LINES)
def test_the_published_schema_is_that_of_the_code(name: str) -> None:
    assert json.loads((PUBLISHED / name).read_text(encoding="utf-8")) == line_schema(name)


@pytest.mark.parametrize(
    ("name", "full", "needed"), [("source", FULL, "content"), ("entity", THING, "title"), ("observation", NOTE, "observedAt")]
)
def test_the_published_schema_takes_and_refuses_the_same_lines(name: str, full: dict[str, Any], needed: str) -> None:
    validator = jsonschema.Draft202012Validator(line_schema(f"{name}.schema.json"))
    assert validator.is_valid(full)
    assert not validator.is_valid({key: value for key, value in full.items() if key != needed})
    assert not validator.is_valid(full | {"colour": 1})
