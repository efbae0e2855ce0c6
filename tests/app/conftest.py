"""What tests need from outside of Python: asked for loudly, and demanded in continuous integration."""

from __future__ import annotations

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
    """The folder of the Node packages, installed from their lock file."""
    if not shutil.which("node") or not shutil.which("npm"):
        missing("Node")
    if not (NODE_PROJECT / "node_modules" / "graphql-http").exists():
        command = ["npm", "ci", "--no-audit", "--no-fund", "--prefer-offline"]
        result = subprocess.run(command, cwd=NODE_PROJECT, capture_output=True, text=True, timeout=200, check=False)
        if result.returncode != 0:
            missing(f"graphql-http (npm ci: {result.stderr[-300:]})")
    return NODE_PROJECT


@pytest.fixture(scope="session")
def chromium() -> str:
    """The path of a Chromium."""
    found = next((path for path in CHROMIUM if Path(path).exists()), None) or shutil.which("chromium")
    return found or missing("Chromium")
