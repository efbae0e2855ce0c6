"""Every command helps with an example, and says what is wrong in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli.reference import commands, example_of
from tests.app.cli.conftest import Run

NAMES = [name for name, _ in commands()]


@pytest.mark.parametrize("name", NAMES)
def test_its_help_has_an_example_that_calls_it(run: Run, name: str) -> None:
    ended = run(*name.split(), "--help")
    assert ended.code == 0
    assert "Example: " in ended.out
    example = example_of(dict(commands())[name])
    assert f"contextql {name}" in example


def test_without_a_command_the_help_is_shown(run: Run) -> None:
    ended = run()
    assert ended.code == 2
    assert "demo" in ended.out + ended.err


def test_an_unknown_command_is_named(run: Run) -> None:
    ended = run("nonsense")
    assert (ended.code, ended.out) == (2, "")
    assert "nonsense" in ended.sentence


def test_an_unknown_option_is_named(run: Run) -> None:
    assert "--colour" in run("doctor", "--colour").sentence


def test_every_wrong_setting_is_named_on_a_line_of_its_own(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CB_PORT", "many")
    monkeypatch.setenv("CB_WORKERS", "0")
    ended = run("namespace", "list")
    assert ended.code == 2
    assert [line.partition(":")[0] for line in ended.err.splitlines()] == ["CB_PORT", "CB_WORKERS"]


def test_a_database_that_does_not_answer_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CB_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/nothing")
    ended = run("ask", "anything")
    assert ended.code == 1
    assert ended.sentence == "The database does not answer; try again in a moment."


def test_debug_shows_where_an_error_comes_from(run: Run) -> None:
    plain, debugged = run("ask", "word", "-n", "nowhere"), run("ask", "word", "-n", "nowhere", "--debug")
    assert "Traceback" not in plain.err
    assert "Traceback" in debugged.err
    assert debugged.err.splitlines()[-1] == plain.sentence


def test_the_schema_is_printed_and_held_to_a_file(run: Run, tmp_path: Path) -> None:
    printed = run("schema")
    assert printed.out.startswith(('"""', "directive", "schema"))
    assert "type Query" in printed.out
    file = tmp_path / "schema.graphql"
    file.write_text(printed.out)
    assert run("schema", "--check", file).code == 0
    file.write_text(printed.out.replace("type Query", "type Questions"))
    differing = run("schema", "--check", file)
    assert "differs from the schema of this release" in differing.sentence
    assert "-type Questions {" in differing.out
    assert run("schema", "--check", file, "--json").json["agrees"] is False


def test_the_committed_schema_is_that_of_this_release(run: Run) -> None:
    assert run("schema", "--check").code == 0


def test_migrating_twice_says_the_same(run: Run, monkeypatch: pytest.MonkeyPatch, database_url: str) -> None:
    monkeypatch.setenv("CB_DATABASE_URL", database_url)
    first, second = run("migrate"), run("migrate")
    assert first.code == second.code == 0
    assert first.out == second.out
    assert run("migrate", "--json").json["migration"].startswith("00")
