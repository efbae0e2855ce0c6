"""Every command is on the page about the command line and in the README, and no page names one that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.cli import cli
from app.cli.reference import commands, reference_page

ROOT = Path(__file__).parents[2]
NAMES = [name for name, _ in commands()]
PAGES = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if path.is_file()]


def test_the_page_is_what_the_commands_say() -> None:
    assert (ROOT / "docs" / "cli.md").read_text(encoding="utf-8") == reference_page()


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_has_it(name: str) -> None:
    assert f"contextql {name}" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_names_a_command_that_is_not_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    called = {*re.findall(r"`contextql ([a-z]+)", text), *re.findall(r"^\S*contextql ([a-z]+)", text, re.M)}
    assert called <= set(cli.commands)
