"""Twenty thousand facts with years load by line, and two thousand questions as of a year are answered right."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.evaluation.collection import data_folder
from retrieval.administration.namespaces import create_namespace
from retrieval.ingest.bulk import refresh_plans
from retrieval.ingest.fact_loading import load_facts
from retrieval.outcomes import Outcome
from tests.fixtures.edges import wrong_edges
from tests.fixtures.world import execute, opened
from tests.fixtures.writing import ADMIN

FACTS, REFUSED, QUESTIONS = 20_429, 80, 2_000
AT_ONCE = 10
"""Questions of one request."""


@pytest.fixture
def yago() -> Path:
    """The folder of the set; it may not ship."""
    folder = data_folder() / "yago11k"
    if not folder.is_dir():
        message = f"FACTS OVER TIME ARE NOT CHECKED AT SIZE: there is no {folder}; set EVAL_DATA."
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder


def instant(year: int) -> str:
    """The first instant of a year of UTC."""
    return f"{'-' if year < 0 else ''}{abs(year):04}-01-01T00:00:00Z"


def lines_of(folder: Path) -> Iterator[str]:
    """The facts as the command line takes them: a year Y is [Y-01-01, (Y+1)-01-01)."""
    with gzip.open(folder / "facts.jsonl.gz", "rt", encoding="utf-8") as file:
        for fact in map(json.loads, file):
            since, until = instant(int(fact["from"])), instant(int(fact["to"]) + 1)
            said = {"subject": fact["s"], "predicate": fact["p"], "object": fact["o"]}
            yield json.dumps(said | {"validFrom": since, "validTo": until})


def asked(number: int, question: dict[str, Any]) -> str:
    """A field that answers one question."""
    given = f'predicates: [{json.dumps(question["p"])}], direction: OUT, asOf: "{instant(int(question["as_of"]))}", first: 100'
    subject = f'entity(namespace: "yago", key: {json.dumps(question["s"])})'
    return f"q{number}: {subject} {{ facts({given}) {{ nodes {{ object {{ key }} }} }} }}"


async def test_the_facts_of_yago_load_and_every_question_as_of_a_year_is_answered_right(yago: Path, base_url: str) -> None:
    lines = list(lines_of(yago))
    async with opened(base_url) as store:
        await create_namespace(store.database, ADMIN, "yago")
        loaded = await load_facts(store.database, ADMIN, "yago", lines, create_type="thing")
        assert loaded.outcomes == Counter({Outcome.CREATED: FACTS, Outcome.FAILED: REFUSED})
        for number, refused in loaded.failed:
            fact = json.loads(lines[number - 1])
            assert refused.code == "BAD_INPUT"
            assert fact["validFrom"].startswith(("-", "0000")) or fact["validFrom"] >= fact["validTo"], fact
        assert await wrong_edges(store) == ({}, {})
        await refresh_plans(store.database)
        questions = [json.loads(line) for line in (yago / "asof.jsonl").read_text(encoding="utf-8").splitlines()]
        wrong = []
        for start in range(0, len(questions), AT_ONCE):
            some = questions[start : start + AT_ONCE]
            answer = await execute(store, "{ " + " ".join(asked(*one) for one in enumerate(some)) + " }")
            assert "errors" not in answer, answer
            for number, question in enumerate(some):
                found = [node["object"]["key"] for node in answer["data"][f"q{number}"]["facts"]["nodes"]]
                wrong += [] if sorted(set(found)) == sorted(question["answers"]) else [(question, found)]
        assert wrong == []
        assert len(questions) == QUESTIONS
        again = await load_facts(store.database, ADMIN, "yago", lines[:3_000], create_type="thing")
        assert set(again.outcomes) <= {Outcome.UNCHANGED, Outcome.FAILED}
