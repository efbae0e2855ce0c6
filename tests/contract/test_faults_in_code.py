"""Whoever plants a fault in the code turns a test of the default run red."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.code_faults import DEEP_FAULTS, SEVERAL, SOONEST, STREAM, WORLD, WORLDS
from tests.contract.number_faults import ALWAYS, NUMBER_FAULTS
from tests.contract.planting import planted
from tests.contract.statement_faults import FAULTS, PACK_FAULTS, TRACE_FAULTS

ROOT = Path(__file__).parents[2]
NUMBERS = (*WORLD, f"{WORLDS}::test_every_field_holds_exactly_what_the_caller_may_see[2]")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project once more, where anything may be changed."""
    root = tmp_path_factory.mktemp("copy")
    for name in ("app", "schema", "resolvers", "retrieval", "tests"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def outcome(root: Path, tests: tuple[str, ...]) -> int:
    """What pytest ends with in a copy of the project, on the database server of this run: 0 all passed, 1 some failed."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-m", "not long", "-p", "no:cacheprovider", *tests]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False, timeout=280)
    assert done.returncode in (0, 1), done.stdout[-3_000:] + done.stderr[-1_000:]
    return done.returncode


@pytest.mark.parametrize("fault", DEEP_FAULTS)
def test_a_fault_planted_in_the_code_is_caught(copy: Path, fault: str) -> None:
    path, old, new, tests = DEEP_FAULTS[fault]
    with planted(copy / path, old, new):
        assert 1 in (outcome(copy, asked) for asked in (SOONEST.get(fault, tests), tests)), "nobody noticed"


@pytest.mark.parametrize("fault", [one if one in ALWAYS else pytest.param(one, marks=pytest.mark.long) for one in NUMBER_FAULTS])
def test_a_fault_that_shows_personal_data_is_caught(copy: Path, fault: str) -> None:
    path, old, new = NUMBER_FAULTS[fault]
    with planted(copy / path, old, new):
        assert outcome(copy, NUMBERS) == 1, "nobody noticed"


def test_a_copy_without_a_planted_fault_passes(copy: Path) -> None:
    assert outcome(copy, (*STREAM, f"{SEVERAL[0]}[200]")) == 0


def test_there_are_more_faults_than_were_promised() -> None:
    assert len(FAULTS) + len(PACK_FAULTS) + len(TRACE_FAULTS) + len(DEEP_FAULTS) >= 80
