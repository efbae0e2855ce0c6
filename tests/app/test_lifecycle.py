"""SIGTERM lets the process end in order."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.app.edge_world import ask, codes, wait_until
from tests.fixtures.ports import free_port

PROGRAM = """
import asyncio, pathlib, sys
from app.lifecycle import Drain, server
from app.logs import configure_logging
from tests.app.edge_world import World, make_app
class Told(list):
    def append(self, event):
        pathlib.Path(sys.argv[3], event).touch()
configure_logging("json")
drain = Drain()
app = make_app(World(events=Told()), drain=drain)
asyncio.run(server(app, drain, host="127.0.0.1", port=int(sys.argv[1]), drain_seconds=int(sys.argv[2])).serve())
"""
STARTED = "slow started"
"""The file that is there once a slow request runs."""


@contextmanager
def process(drain_seconds: int, events: Path) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    port = free_port()
    command = [sys.executable, "-c", PROGRAM, str(port), str(drain_seconds), str(events)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, verify=False) as client:
            wait_until(lambda: alive(client))
            yield running, client
    finally:
        running.kill()
        running.communicate()


def alive(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_requests_end_sockets_are_told_and_the_code_is_0(tmp_path: Path) -> None:
    with process(60, tmp_path) as (running, client):
        answers: list[httpx.Response] = []
        request = threading.Thread(target=lambda: answers.append(ask(client, "{ slow(seconds: 2) }")))
        url = f"ws://127.0.0.1:{client.base_url.port}/graphql"
        with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as connection:
            connection.send(json.dumps({"type": "connection_init"}))
            connection.recv(timeout=30)
            ticks = {"query": "subscription { ticks(count: 1000, pause: 60) }"}
            connection.send(json.dumps({"type": "subscribe", "id": "1", "payload": ticks}))
            connection.recv(timeout=30)
            request.start()
            wait_until((tmp_path / STARTED).exists)
            running.send_signal(signal.SIGTERM)
            with pytest.raises(ConnectionClosed) as caught:
                connection.recv(timeout=30)
            assert caught.value.rcvd is not None
            assert caught.value.rcvd.code in (1001, 1012)
        assert not alive(client)
        request.join()
        assert answers[0].json() == {"data": {"slow": "done"}}
        output, _ = running.communicate(timeout=60)
        assert running.returncode == 0, output
        assert "Traceback" not in output


def test_what_does_not_end_in_time_is_cancelled(tmp_path: Path) -> None:
    with process(1, tmp_path) as (running, client):
        answers: list[httpx.Response] = []
        request = threading.Thread(target=lambda: answers.append(ask(client, "{ slow(seconds: 50) }")))
        request.start()
        wait_until((tmp_path / STARTED).exists)
        running.send_signal(signal.SIGTERM)
        output, _ = running.communicate(timeout=60)
        assert running.returncode == 0, output
        request.join()
        assert (answers[0].status_code, codes(answers[0])) == (503, ["OVERLOADED"])
        assert "Traceback" not in output
