"""Speaks to the process that answers with LanceDB; its data is kept beside the bases."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import inspect
import json
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.bench.at_size.corpus import Corpus
from app.bench.at_size.shares import Case
from retrieval.errors import BadInput

SCRIPT = Path(__file__).with_name("rival.py")


def is_installed() -> bool:
    """Whether LanceDB is there; only `make bench` installs it."""
    return importlib.util.find_spec("lancedb") is not None


@dataclass(frozen=True, slots=True)
class Lance:
    """The process, asked one question at a time."""

    process: asyncio.subprocess.Process

    async def search(self, case: int, question: int, limit: int) -> tuple[list[int], float]:
        """The places of the fragments found, nearest first, and the seconds inside the process."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"case": case, "question": question, "limit": limit}).encode() + b"\n")
        found = await self.answer()
        return found["ids"], found["seconds"]

    async def answer(self) -> dict[str, Any]:
        """The next line of the process; raises when it ended."""
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise RuntimeError("LanceDB's process ended before it answered; the lines above say why")
        found: dict[str, Any] = json.loads(line)
        return found


@asynccontextmanager
async def lance(folder: Path, corpus: Corpus, cases: list[Case]) -> AsyncIterator[Lance]:
    """Start the process over the vectors and rights of a corpus; the first time it takes minutes to index them."""
    if not is_installed():
        raise BadInput("LanceDB is not installed, and the benchmark compares with it; `make bench` installs it.")
    await asyncio.to_thread(put_data, folder, corpus, cases)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app.bench.at_size.rival", str(folder),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        started = Lance(process)
        await started.answer()
        yield started
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def put_data(folder: Path, corpus: Corpus, cases: list[Case]) -> None:
    """Write what the process reads; the index is made anew when it differs from what is there."""
    seen = np.zeros((len(cases), len(corpus)), bool)
    for row, case in enumerate(cases):
        seen[row, case.fragments] = True
    digest = hashlib.sha256(SCRIPT.read_bytes() + inspect.getsource(put_data).encode())
    for array in (corpus.vectors, corpus.asked, seen):
        digest.update(array.tobytes())
    made_from = folder / "made-from"
    if not made_from.exists() or made_from.read_text() != digest.hexdigest():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, array in {"vectors": corpus.vectors, "asked": corpus.asked, "seen": seen}.items():
            np.save(folder / f"{name}.npy", array)
        made_from.write_text(digest.hexdigest())
