"""The server starts, serves and ends in order, in one process and in several."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import psutil
import pytest

from tests.app.cli.conftest import Run
from tests.app.cli.servers import running
from tests.app.edge_world import wait_until
from tests.fixtures.processes import has_ended

NONE = {"embedding_provider": "none", "local_admin": "true"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_a_signal_comes_and_ends_with_0(base: str, tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path / "log", "serve", database_url=base, **NONE) as server:
        server.ready()
        assert server.ask("{ viewer { principal } }").json()["data"] == {"viewer": {"principal": "administrator"}}
        assert f"ContextQL serves {server.url}/graphql" in server.text
        assert server.end(number) == 0, server.text
        assert "Traceback" not in server.text


def test_a_port_that_is_taken_is_one_line(run: Run, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "log", "serve", database_url=base, **NONE) as server:
        server.ready()
        monkeypatch.setenv("CB_PORT", server.url.rpartition(":")[2])
        sentence = run("serve").sentence
        assert sentence.startswith("Cannot listen on 127.0.0.1:")
        assert "another program listens there. Set CB_PORT" in sentence


def test_several_workers_share_the_port_and_one_that_dies_is_replaced(base: str, tmp_path: Path) -> None:
    with running(tmp_path / "log", "serve", database_url=base, workers="2", **NONE) as server:
        server.ready()
        parent = psutil.Process(server.process.pid)
        workers = parent.children()
        assert len(workers) == 2
        workers[0].kill()
        workers[0].wait(60)
        assert server.ask("{ viewer { principal } }").status_code == 200
        assert server.end() == 0, server.text
        assert not any(worker.is_running() for worker in workers)


def test_workers_end_when_their_parent_is_killed(base: str, tmp_path: Path) -> None:
    with running(tmp_path / "log", "serve", database_url=base, workers="2", **NONE) as server:
        server.ready()
        workers = psutil.Process(server.process.pid).children()
        server.process.kill()
        wait_until(lambda: all(has_ended(worker) for worker in workers))


def test_a_worker_embeds_what_waits_until_it_is_stopped(base: str, tmp_path: Path) -> None:
    with running(tmp_path / "log", "worker", database_url=base, embedding_provider="none") as worker:
        while "The worker refreshes statistics" not in worker.text:
            assert worker.process.poll() is None, worker.text
            time.sleep(0.02)
        assert worker.end() == 0, worker.text
