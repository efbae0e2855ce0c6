"""SIGTERM lets the process end in order."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.app.edge_world import ask, codes, wait_until

PROGRAM = """
import asyncio, socket, sys
from app.lifecycle import Drain, server
from app.logs import configure_logging
from tests.app.edge_world import World, make_app
configure_logging("json")
drain = Drain()
port = int(sys.argv[1])
asyncio.run(server(make_app(World(), drain=drain), drain, host="127.0.0.1", port=port, drain_seconds=int(sys.argv[2])).serve())
"""


@contextmanager
def process(drain_seconds: int) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-c", PROGRAM, str(port), str(drain_seconds)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            wait_until(lambda: alive(client), 15)
            yield running, client
    finally:
        running.kill()
        running.communicate()


def alive(client: httpx.Client) -> bool:
    try:
        return client.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def test_requests_end_sockets_are_told_and_the_code_is_0() -> None:
    with process(drain_seconds=15) as (running, client):
        answers: list[httpx.Response] = []
        request = threading.Thread(target=lambda: answers.append(ask(client, "{ slow(seconds: 3) }")))
        url = f"ws://127.0.0.1:{client.base_url.port}/graphql"
        with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as connection:
            connection.send(json.dumps({"type": "connection_init"}))
            connection.recv(timeout=30)
            ticks = {"query": "subscription { ticks(count: 1000, pause: 60) }"}
            connection.send(json.dumps({"type": "subscribe", "id": "1", "payload": ticks}))
            connection.recv(timeout=30)
            request.start()
            time.sleep(1.5)
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


def test_what_does_not_end_in_time_is_cancelled() -> None:
    with process(drain_seconds=1) as (running, client):
        answers: list[httpx.Response] = []
        request = threading.Thread(target=lambda: answers.append(ask(client, "{ slow(seconds: 20) }")))
        request.start()
        time.sleep(1.5)
        running.send_signal(signal.SIGTERM)
        output, _ = running.communicate(timeout=60)
        assert running.returncode == 0, output
        request.join()
        assert (answers[0].status_code, codes(answers[0])) == (503, ["OVERLOADED"])
        assert "Traceback" not in output
