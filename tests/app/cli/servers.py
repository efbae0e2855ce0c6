"""Commands that run until they are stopped, as processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import psutil

from tests.fixtures.ports import free_port

CALL = [sys.executable, "-c", "from app.cli import main; main()"]


class Running:
    """A command at work; `text` is what it has printed so far, `spent` the seconds of a processor until it was ready."""

    def __init__(self, log: Path, port: int, *arguments: str, **settings: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("CB_")}
        environment |= {f"CB_{name.upper()}": value for name, value in settings.items()} | {"CB_PORT": str(port)}
        self.log = log
        self.spent = 0.0
        self.url = f"http://127.0.0.1:{port}"
        with log.open("wb") as output:
            self.process = subprocess.Popen([*CALL, *arguments], stdout=output, stderr=subprocess.STDOUT, env=environment)

    @property
    def text(self) -> str:
        return self.log.read_text()

    def ready(self, seconds: float = 120) -> None:
        """Wait until it is ready."""
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            assert self.process.poll() is None, self.text
            with suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz", timeout=5, verify=False).status_code == 200:
                    spent = psutil.Process(self.process.pid).cpu_times()
                    self.spent = spent.user + spent.system
                    return
            time.sleep(0.05)
        raise AssertionError(self.text)

    def ask(self, query: str, token: str | None = None) -> httpx.Response:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        # Nothing is encrypted here, and reading the certificates takes longer than the answer.
        return httpx.post(f"{self.url}/graphql", json={"query": query}, headers=headers, timeout=60, verify=False)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and give the exit code."""
        self.process.send_signal(number)
        return self.process.wait(120)


@contextmanager
def running(log: Path, *arguments: str, **settings: str) -> Iterator[Running]:
    """A command that is killed at the end unless it ended before."""
    started = Running(log, free_port(), *arguments, **settings)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.process.send_signal(signal.SIGTERM)
            try:
                started.process.wait(60)
            except subprocess.TimeoutExpired:
                started.process.kill()
                started.process.wait()
