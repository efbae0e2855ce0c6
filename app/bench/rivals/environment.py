"""The rivals' packages, each in a virtual environment of its own, so that the product depends on none of them."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sys
from pathlib import Path

from platformdirs import user_cache_path

from retrieval.errors import BadInput

ROOT = Path(__file__).parents[3]
CACHE = user_cache_path("contextql") / "rivals"


async def environment(name: str, root: Path = ROOT, cache: Path = CACHE) -> Path:
    """The Python that has the packages of `requirements-rivals-NAME.txt`; made when it is not there, which takes minutes.

    Raises `BadInput` when the file is not there or the packages cannot be installed.
    """
    requirements = root / f"requirements-rivals-{name}.txt"
    if not requirements.is_file():
        raise BadInput(f"There is no {requirements}; rivals are compared in a checkout.")
    folder = cache / f"{name}-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    python, whole = folder / "bin" / "python", folder / "whole"
    if not whole.exists():
        await asyncio.to_thread(shutil.rmtree, folder, True)  # a half that an interruption left
        await done(sys.executable, "-m", "venv", "--without-pip", str(folder))
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        await done(*pip, "install", "--quiet", "--require-hashes", "-r", str(requirements))
        whole.touch()
    return python


async def done(*command: str) -> None:
    """Run a command to its end; raises `BadInput` with what it said last when it fails."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        said, _ = await process.communicate()
    except BaseException:
        process.kill()
        await process.wait()
        raise
    if process.returncode != 0:
        raise BadInput(f"{' '.join(command)} failed: {' | '.join(said.decode(errors='replace').splitlines()[-3:])}")
