"""What tests need from outside of Python: asked for loudly, and demanded in continuous integration."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

NODE_PROJECT = Path(__file__).parent.parent / "node"
CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")


def missing(what: str) -> str:
    """Skip with one loud line, or fail where everything must be there."""
    line = f"{what} is not installed, so what needs it is NOT tested"
    if os.environ.get("CI") == "true":
        pytest.fail(line)
    pytest.skip(line.upper())


@pytest.fixture(scope="session")
def node_project() -> Path:
    """The folder of the Node packages, installed from their lock file by the first worker that asks."""
    if not shutil.which("node") or not shutil.which("npm"):
        missing("Node")
    with (NODE_PROJECT / "package-lock.json").open() as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not installed(NODE_PROJECT):
            command = ["npm", "ci", "--no-audit", "--no-fund", "--prefer-offline"]
            result = subprocess.run(command, cwd=NODE_PROJECT, capture_output=True, text=True, timeout=200, check=False)
            if result.returncode != 0:
                missing(f"what the tests run from npm (npm ci: {result.stderr[-300:]})")
    return NODE_PROJECT


def installed(project: Path) -> bool:
    """Whether exactly the packages of the lock file are there, those for one kind of machine aside."""
    wanted, there = (versions(project / name) for name in ("package-lock.json", "node_modules/.package-lock.json"))
    return wanted == there


def versions(lock: Path) -> dict[str, str]:
    """The versions of the packages in a lock file, by the folder of each."""
    packages = json.loads(lock.read_text())["packages"] if lock.exists() else {}
    return {name: one["version"] for name, one in packages.items() if name and not one.get("optional")}


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    found = next((path for path in CHROMIUM if Path(path).exists()), None) or shutil.which("chromium")
    return found or missing("Chromium")
