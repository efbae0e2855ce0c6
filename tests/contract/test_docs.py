"""The documentation names every error code and metric, and no setting, option, verb, file or heading that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import rich_click as click
from prometheus_client import generate_latest

from app.cli import cli
from app.config import TOKEN_VARIABLE, Settings, variable_of
from app.telemetry import Telemetry
from retrieval import errors
from retrieval.errors import ContextQLError
from schema.errors import CODES
from tests.fixtures.commands import commands_in

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md")])
ALL = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def test_no_page_names_a_setting_that_is_not_there() -> None:
    known = {variable_of(name) for name in Settings.model_fields} | {TOKEN_VARIABLE}
    assert set(re.findall(r"\bCB_\w*", ALL)) - {"CB_"} - known == set()


def test_every_error_code_is_explained_and_no_other() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    raised = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ContextQLError)}
    assert raised <= CODES
    assert set(re.findall(r"^\| `([A-Z_]+)` \|", page, re.MULTILINE)) == CODES
    assert set(re.findall(r"`([A-Z]+_[A-Z_]+)`", page)) <= CODES | {"PERSONAL_DATA"} | {
        variable_of(n) for n in Settings.model_fields
    }


def test_every_metric_is_explained_and_no_other() -> None:
    exported = set(re.findall(r"^# TYPE (contextql_\w+) ", generate_latest(Telemetry().registry).decode(), re.MULTILINE))
    exported = {name for name in exported if not name.endswith("_created")} | {"contextql_pool_used"}  # watched by app.main
    page = (ROOT / "docs" / "operation.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`(contextql_\w+)", page)) == exported


@pages
def test_every_command_line_is_understood(page: Path) -> None:
    for words in commands_in(page.read_text(encoding="utf-8")):
        command: click.Command = cli
        context = click.Context(cli, info_name="contextql", obj=None)
        while isinstance(command, click.RichGroup):
            name = words.pop(0)
            assert name in command.commands, f"contextql {name}"
            command = command.commands[name]
        command.make_context(command.name, words, parent=context)  # raises when it does not understand


@pages
def test_every_verb_of_make_is_there(page: Path) -> None:
    verbs = set(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE)) <= verbs


def prose(page: Path) -> str:
    """A page without its code blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pages
def test_every_file_that_is_named_is_there(page: Path) -> None:
    text = prose(page)
    linked = [page.parent / target.partition("#")[0] for target in re.findall(r"\]\((?!https?:|#)([^)]+)\)", text)]
    named = [ROOT / path for path in re.findall(r"`((?:app|docs|resolvers|retrieval|schema|tests)/[\w./-]+)`", text)]
    assert [str(path) for path in (*linked, *named) if not path.exists()] == []


@pages
def test_every_link_into_a_page_meets_a_heading(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]*#[^)]+)\)", prose(page)):
        name, _, anchor = target.partition("#")
        other = page.parent / name if name else page
        headings = re.findall(r"^#+ (.+)$", other.read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, target
