"""What the line about others beside a flood is made of: the middle of the windows, and a client that keeps its pace."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from typing import cast

from app.bench.flood import Found
from app.bench.flooding import Flood, request_of

REFUSED = b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 2\r\n\r\n{}"
ANSWERED = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


def test_of_each_window_the_slowest_of_a_hundred_counts_and_of_the_windows_the_middle_one() -> None:
    window = [0.01] * 98 + [0.02, 0.02]
    found = Found([window, window, [9.0] * 100], [[0.03] * 100, [8.0] * 100, [0.025] * 100], refused=[0.001] * 99 + [0.04])
    found.told.update({"200": 5, "429": 7})
    others, refused = found.lines()
    assert (others.value, others.passes) == (1.5, True)
    assert "p99 30.0 ms against 20.0" in others.note
    assert "5 x 200, 7 x 429" in others.note
    assert (refused.value, refused.passes) == (40, True)
    assert not Found([window], [[0.031] * 100], refused=[0.051]).lines()[0].passes


async def test_the_flood_keeps_its_pace_and_counts_what_it_is_told() -> None:
    asked, serving = list[bytes](), list[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.append(cast(asyncio.Task[None], asyncio.current_task()))
        with suppress(asyncio.IncompleteReadError), closing(writer):
            while head := await reader.readuntil(b"\r\n\r\n"):
                asked.append(head + await reader.readexactly(2))
                writer.write(REFUSED if len(asked) % 2 else ANSWERED)

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = server.sockets[0].getsockname()[:2]
        flood, stop = Flood(address, request_of("x", "secret", b"{}")), asyncio.Event()
        running = asyncio.create_task(flood.run(100, stop))
        async with asyncio.timeout(20):
            while len(asked) < 20:
                await asyncio.sleep(0.01)
        stop.set()
        await running
        flood.close()
        await asyncio.gather(*serving)
    assert flood.told["429"] + flood.told["200"] == len(asked)
    assert len(flood.seconds_refused) == flood.told["429"] > 5
    assert b"Authorization: Bearer secret\r\n" in asked[0]
