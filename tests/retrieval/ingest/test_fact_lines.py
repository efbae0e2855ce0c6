"""JSON Lines of facts: each line by itself, errors with number and schema."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

import retrieval.ingest
from retrieval.ingest.fact_input import FactInput
from retrieval.ingest.fact_lines import Retraction, fact_schema, read_facts
from retrieval.ingest.jsonl import BadLine

PUBLISHED = Path(retrieval.ingest.__file__).parent / "schemas" / "fact.schema.json"
GOOD = (
    '{"subject":"s","predicate":"p","object":"o"}',
    '{"subject":"s","predicate":"p","value":[1],"validFrom":"2026-01-01T00:00:00+03:00","evidence":"INFERRED","supersede":true}',
    '{"factId":"YToxOjE","subject":"s","predicate":"p","validTo":"2026-01-01T00:00:00Z"}',
    '{"factId":"YToxOjE","retract":true}',
)
BAD = {
    '{"subject":"s"': "is not JSON",
    "[]": "does not follow fact.schema.json",
    '{"subject":"s","object":"o"}': "predicate: Field required",
    '{"subject":"s","predicate":"p","validFrom":"2026-01-01T00:00:00"}': "timezone",
    '{"subject":"s","predicate":"p","validFrom":"0000-01-01T00:00:00Z"}': "validFrom",
    '{"subject":"s","predicate":"p","validFrom":253402300800}': "an instant is text",
    '{"subject":"s","predicate":"p","validTo":"1234567890"}': "an instant is text",
    '{"subject":"s","predicate":"p","validTo":"-62135596801"}': "an instant is text",
    '{"subject":"s","predicate":"p","validFrom":"-044-03-15T00:00:00Z"}': "validFrom",
    '{"subject":"s","predicate":"p","evidence":"SEEN"}': "evidence",
    '{"subject":"s","predicate":"p","colour":"red"}': "colour",
    '{"subject":5,"predicate":"p"}': "subject",
    '{"factId":"YToxOjE","retract":false}': "retract",
}


def test_lines_become_facts_and_retractions() -> None:
    first, second, third, fourth = [item for item in read_facts(GOOD) if not isinstance(item, BadLine)]
    assert first == (1, FactInput("s", "p", "o"))
    since = datetime(2025, 12, 31, 21, tzinfo=UTC)
    assert second == (2, FactInput("s", "p", value=[1], valid_from=since, evidence=1, supersede=True))
    assert third == (3, FactInput("s", "p", valid_to=datetime(2026, 1, 1, tzinfo=UTC), fact_id="YToxOjE"))
    assert fourth == (4, Retraction("YToxOjE"))


@pytest.mark.parametrize("line", BAD)
def test_a_bad_line_is_told_by_its_number_and_stops_no_other(line: str) -> None:
    bad, good = read_facts(["", line, GOOD[0]])
    assert isinstance(bad, BadLine)
    assert bad.number == 2
    assert BAD[line] in bad.message
    assert "fact.schema.json" in bad.message
    assert good == (3, FactInput("s", "p", "o"))


def test_the_published_schema_is_that_of_the_code() -> None:
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == fact_schema()


def test_the_published_schema_takes_what_the_code_takes() -> None:
    validator = jsonschema.Draft202012Validator(fact_schema())
    assert all(validator.is_valid(json.loads(line)) for line in GOOD)
    refused = [line for line in BAD if line.endswith(("}", "]")) and not validator.is_valid(json.loads(line))]
    assert len(refused) >= 5
