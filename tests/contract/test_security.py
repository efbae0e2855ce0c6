"""The page about security names for each promise the tests that prove it, and only tests that exist and run by default."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fixtures.named_tests import NAMED, Named, named_in

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^\| (?!promise|-)(.+?) \| (.+) \|$", PAGE, re.MULTILINE)
PROOFS = sorted(set(NAMED.findall(PAGE)))


def test_every_promise_names_what_proves_it() -> None:
    assert len(PROMISES) > 30
    assert [promise for promise, proof in PROMISES if not NAMED.findall(proof)] == []


@pytest.mark.parametrize(("path", "name"), PROOFS, ids=[name for _, name in PROOFS])
def test_what_proves_a_promise_exists_and_runs_by_default(path: str, name: str) -> None:
    assert named_in(path).get(name) == Named.BY_DEFAULT
