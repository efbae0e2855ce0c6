"""A file of facts goes in, bad lines are named, and a second file closes and retracts."""

from __future__ import annotations

import json
from pathlib import Path

from tests.app.cli.conftest import Run

SAID = [{"subject": "ann", "predicate": "works_at", "object": place, "validFrom": "2026-01-01T00:00:00Z"} for place in ("x", "y")]


def write(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_facts_load_once_and_are_closed_and_retracted_by_their_ids(run: Run, tmp_path: Path) -> None:
    file = write(tmp_path / "facts.jsonl", *SAID, {"subject": "ann"})
    load = ("facts", "load", file, "-n", "people", "--create-namespace", "--create-entities", "thing")
    first = run(*load)
    assert (first.code, first.out) == (1, "2 created, 1 failed, 3 entities made.\n")
    assert first.err.startswith("Line 3 does not follow fact.schema.json: predicate")
    assert "1 of 3 lines were refused" in first.err
    again = run(*load, "--json").json
    assert again["outcomes"] == {"CREATED": 0, "UPDATED": 0, "UNCHANGED": 2, "FAILED": 1}
    ids = [fact["factId"] for fact in again["facts"]]
    closing = {"factId": ids[0], "subject": "ann", "predicate": "works_at", "validTo": "2026-06-01T00:00:00Z"}
    file = write(tmp_path / "more.jsonl", closing, {"factId": ids[1], "retract": True})
    assert run("facts", "load", file, "-n", "people").out == "2 updated.\n"


def test_an_unknown_namespace_and_keys_without_entities_are_named(run: Run, tmp_path: Path) -> None:
    assert "There is no file" in run("facts", "load", tmp_path / "gone.jsonl", "-n", "people").sentence
    file = write(tmp_path / "facts.jsonl", *SAID)
    assert "'nowhere'" in run("facts", "load", file, "-n", "nowhere").sentence
    ended = run("facts", "load", file, "-n", "people", "--create-namespace")
    assert ended.code == 1
    assert "Line 1: `subject`: there is no entity 'ann'" in ended.err
