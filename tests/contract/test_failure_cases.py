"""The page of failure cases speaks of each case once and names only tests that exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "failure-cases.md").read_text(encoding="utf-8")
CASES = re.findall(r"^\| (B\d{3}) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
LATER = {"standbys"}
"""What is still to come, as the page calls it."""


@cache
def names_in(path: str) -> frozenset[str]:
    """The names of the tests of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(function.name for function in functions if function.name.startswith("test_"))


def test_every_case_has_its_line() -> None:
    assert [case for case, _, _ in CASES] == [f"B{number:03}" for number in range(1, 125)]


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[name for _, name in NAMED])
def test_a_named_test_exists(path: str, name: str) -> None:
    assert name in names_in(path)


def test_every_case_names_a_test_or_what_it_comes_with() -> None:
    for case, _, proof in CASES:
        later = set(re.findall(r"comes? with ([a-z ]+)", proof))
        assert later <= LATER, case
        assert "::" in proof or later, case
