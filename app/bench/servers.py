"""Real server processes on loopback, and the processor time and memory that processes took."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

from app.bench.world import World
from app.config import PREFIX, variable_of

START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """A server that answers, and a client that keeps its connections."""

    process: psutil.Process
    address: str
    client: httpx.AsyncClient

    def cpu(self) -> float:
        """Seconds of processor time that the process has taken, on all threads."""
        return cpu_of(self.process.pid)

    async def ask(self, query: str, **variables: object) -> dict[str, object]:
        """Post an operation; raises when the answer has errors."""
        reply = await self.client.post("/graphql", json={"query": query, "variables": variables})
        body: dict[str, object] = reply.json()
        if reply.status_code != 200 or "errors" in body:
            raise RuntimeError(f"the server answered {reply.status_code}: {reply.text[:500]}")
        return body


@asynccontextmanager
async def serving(world: World, **settings: str) -> AsyncIterator[Served]:
    """`contextql serve` over the scratch database, with settings by their names."""
    environment = {"CB_DATABASE_URL": world.url, "CB_LOCAL_ADMIN": "true", "CB_DATA_DIR": str(world.folder)}
    environment |= {variable_of(name): value for name, value in settings.items()}
    async with served_with(environment) as served:
        yield served


def served_with(environment: dict[str, str]) -> AbstractAsyncContextManager[Served]:
    """`contextql serve` as it is deployed; only its log goes nowhere.

    Unless the environment says otherwise one caller may ask without end, since one caller asks all.
    """
    return started(["-c", "from app.cli import main; main(['serve'])"], {"CB_POINTS_PER_MINUTE": "0"} | environment, "CB_PORT")


@asynccontextmanager
async def started(
    arguments: Sequence[str],
    environment: dict[str, str],
    port_variable: str,
    *,
    python: Path = Path(sys.executable),
    ready: str = "/healthz",
) -> AsyncIterator[Served]:
    """A Python process that listens on a free port of loopback and answers at the path `ready`; ended by SIGTERM."""
    port = free_port()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    process = await asyncio.create_subprocess_exec(
        str(python), *arguments,
        env={**kept, **environment, port_variable: str(port)},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        async with httpx.AsyncClient(base_url=address, timeout=60, trust_env=False) as client:
            await until_ready(client, process, ready)
            yield Served(psutil.Process(process.pid), address, client)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(process.wait(), 40)
            except TimeoutError:
                process.kill()
                await process.wait()


async def until_ready(client: httpx.AsyncClient, process: asyncio.subprocess.Process, path: str) -> None:
    """Wait for the first good answer; raises when the process ends or takes too long."""
    async with asyncio.timeout(START_SECONDS):
        while True:
            if process.returncode is not None:
                raise RuntimeError(f"the server ended with code {process.returncode} before it answered")
            try:
                if (await client.get(path)).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def cpu_of(process: int) -> float:
    """Seconds of processor time that a process has taken, on all threads."""
    times = psutil.Process(process).cpu_times()
    return float(times.user + times.system)


def database_cpu(world: World) -> float:
    """Seconds of processor time of the database server of a world."""
    return cpu_of_postgres(world.postmaster)


def cpu_of_postgres(main_process: int) -> float:
    """Seconds of processor time of a database server with all its processes, those that ended too."""
    postmaster = psutil.Process(main_process)
    times = postmaster.cpu_times()
    total = times.user + times.system + times.children_user + times.children_system
    for child in postmaster.children(recursive=True):
        try:
            spent = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += spent.user + spent.system
    return float(total)
