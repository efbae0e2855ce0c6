"""LangChain's hybrid search over PostgreSQL, in process: a program of its own answers questions line by line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import orjson

from app.bench.rivals.contestant import Contestant
from app.bench.rivals.environment import environment
from app.bench.rivals.exchange import Exchange
from app.bench.rivals.scratch import PLAIN, scratch_postgres

PROGRAM = Path(__file__).parent / "workers" / "langchain_hybrid.py"
LONGEST_LINE = 16 * 2**20


@asynccontextmanager
async def langchain(exchange: Exchange, folder: Path) -> AsyncIterator[Contestant]:
    """Load the set and wait until it is there."""
    python = await environment("langchain")
    async with scratch_postgres(folder / "langchain", PLAIN) as postgres:
        process = await asyncio.create_subprocess_exec(
            str(python), "-P", str(PROGRAM), postgres.url, str(folder),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        answers, questions = process.stdout, process.stdin
        try:

            async def ask(places: Sequence[int]) -> list[list[str]]:
                questions.write(orjson.dumps(list(places)) + b"\n")
                line = await answers.readline()
                if not line:
                    raise RuntimeError("LangChain's program ended; what it said is above")
                found: list[list[str]] = orjson.loads(line)
                return found

            await ask([])  # answered when the documents are there
            await postgres.tidy()
            yield Contestant("langchain", process.pid, postgres.postmaster, ask)
        finally:
            questions.close()
            try:
                await asyncio.wait_for(process.wait(), 10)
            except TimeoutError:
                process.kill()
                await process.wait()
