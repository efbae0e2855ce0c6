"""A client that asks at a set pace, answered or not: a process of its own, so that its work stands in nobody's way."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from contextlib import suppress
from time import perf_counter

import orjson
import uvloop

CONNECTIONS = 64


class Flood:
    """Requests over connections that are kept; one that finds none free counts as not sent."""

    def __init__(self, address: tuple[str, int], request: bytes) -> None:
        self.told: Counter[str] = Counter()
        self.seconds_refused: list[float] = []
        self._address = address
        self._request = request
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._open = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, pace: float, stop: asyncio.Event) -> None:
        """Send so many requests a second until `stop` is set, then wait for the answers."""
        began, sent = perf_counter(), 0
        while not stop.is_set():
            due = int((perf_counter() - began) * pace) - sent
            for _ in range(due):
                task = asyncio.create_task(self._send())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            sent += due
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 1 / pace)
        if self._tasks:
            await asyncio.wait(self._tasks)

    def close(self) -> None:
        """Let the connections go."""
        for _, writer in self._free:
            writer.close()

    async def _send(self) -> None:
        if not self._free and self._open >= CONNECTIONS:
            self.told["not sent"] += 1
            return
        if self._free:
            reader, writer = self._free.pop()
        else:
            self._open += 1
            reader, writer = await asyncio.open_connection(*self._address)
        began = perf_counter()
        writer.write(self._request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
        status = head.split()[1].decode()
        self.told[status] += 1
        if status == "429":
            self.seconds_refused.append(perf_counter() - began)
        self._free.append((reader, writer))


def request_of(host: str, token: str, body: bytes) -> bytes:
    """A POST as it goes over the wire."""
    head = f"POST /graphql HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def main() -> None:
    """Read `PACE\\n` or an empty line from standard input: ask at that pace, or stop and tell what became of it."""
    host, port = os.environ["BENCH_ADDRESS"].split(":")
    request = request_of(host, os.environ["BENCH_TOKEN"], os.environ["BENCH_BODY"].encode())
    while line := await asyncio.to_thread(sys.stdin.readline):
        flood, stop = Flood((host, int(port)), request), asyncio.Event()
        running = asyncio.create_task(flood.run(float(line), stop))
        await asyncio.to_thread(sys.stdin.readline)
        stop.set()
        await running
        flood.close()
        print(orjson.dumps([flood.told, flood.seconds_refused]).decode(), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
