"""The rooms of the house are imported in one direction only, and from outside only what is installed with the server."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "schema", "resolvers", "retrieval")


APART = {
    "app/bench/at_size/rival.py",
    "app/bench/rivals/workers/hindsight_server.py",
    "app/bench/rivals/workers/langchain_hybrid.py",
    "app/otel.py",
}
"""Programs of the benchmark that run in processes of their own, with the packages that they compare with, and what is imported
only where an extra is installed and asked for."""


def test_who_imports_whom_holds() -> None:
    command = [Path(sys.executable).parent / "lint-imports", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "0 broken" in done.stdout


def test_what_the_server_imports_is_pinned_without_the_packages_of_the_tests() -> None:
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    pinned = {found[0] for line in lines if (found := re.match(r"[\w.-]+(?===)", line))}
    sources = packages_distributions()
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for room in ROOMS
        for path in (ROOT / room).rglob("*.py")
        if str(path.relative_to(ROOT)) not in APART
        for name in foreign_imports(path)
        if pinned.isdisjoint(source.lower().replace("_", "-") for source in sources.get(name, ()))
    }
    assert not missing


def test_a_command_loads_no_provider_that_it_was_not_told_of() -> None:
    look = "import sys, app.cli; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", look], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "False"


def foreign_imports(path: Path) -> set[str]:
    """The packages from outside that a file imports, by the first part of the name."""
    named: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            named.add(node.module or "")
    return {name.partition(".")[0] for name in named} - set(sys.stdlib_module_names) - set(ROOMS)
