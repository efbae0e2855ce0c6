"""The page of failure cases speaks of each case once and names only tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fixtures.named_tests import NAMED, named_in

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "failure-cases.md").read_text(encoding="utf-8")
CASES = re.findall(r"^\| (B\d{3}) \| (.+?) \| (.+) \|$", PAGE, re.MULTILINE)
PROOFS = sorted(set(NAMED.findall(PAGE)))
LATER = {"standbys"}
"""What is still to come, as the page calls it."""


def test_every_case_has_its_line() -> None:
    assert [case for case, _, _ in CASES] == [f"B{number:03}" for number in range(1, 125)]


@pytest.mark.parametrize(("path", "name"), PROOFS, ids=[name for _, name in PROOFS])
def test_a_named_test_exists(path: str, name: str) -> None:
    assert name in named_in(path)


def test_every_case_names_a_test_or_what_it_comes_with() -> None:
    for case, _, proof in CASES:
        later = set(re.findall(r"comes? with ([a-z ]+)", proof))
        assert later <= LATER, case
        assert "::" in proof or later, case
