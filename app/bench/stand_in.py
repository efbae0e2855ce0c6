"""A stand-in for providers inside the process that measures: it hangs, or says what it is told at the moment it is told."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import orjson

from app.providers.local import DIMENSIONS

STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


@dataclass(eq=False)
class Chat:
    """A chat that waits for its text; whoever measures writes the pieces."""

    told: str
    """The last message that the model was sent."""
    writer: asyncio.StreamWriter
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """The client is gone, or the reply is at its end."""

    def say(self, piece: str) -> None:
        """Send a piece of text at once."""
        self._send({"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]})

    def end(self) -> None:
        """Say that this was all."""
        self._send({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.writer.write(chunk(b"data: [DONE]\n\n") + chunk(b""))
        self.left.set()

    def _send(self, event: dict[str, object]) -> None:
        self.writer.write(chunk(b"data: " + orjson.dumps({"id": "chat", "object": "chat.completion.chunk"} | event) + b"\n\n"))


@dataclass
class StandIn:
    """Speaks as much of OpenAI's protocol as the server uses, below any path, so that each server may be given its own.

    Chats are put into `chats` as they come, and wait. Embeddings are refused no text; below a path in `hanging` they are
    never answered. `embeddings` counts what was asked, by path.
    """

    address: str = ""
    chats: asyncio.Queue[Chat] = field(default_factory=asyncio.Queue)
    hanging: set[str] = field(default_factory=set)
    embeddings: dict[str, int] = field(default_factory=dict)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection, request by request."""
        try:
            while True:
                path, body = await request(reader)
                below, _, what = path.strip("/").partition("/v1/")
                if what == "embeddings":
                    await self._embed(below, body, reader, writer)
                else:
                    await self._chat(body, reader, writer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _embed(self, below: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.embeddings[below] = self.embeddings.get(below, 0) + 1
        if below in self.hanging:
            await reader.read()  # until the client gives up
            raise ConnectionError
        unit = [1 / math.sqrt(DIMENSIONS)] * DIMENSIONS
        data = [{"index": at, "embedding": unit} for at, _ in enumerate(orjson.loads(body)["input"])]
        reply = orjson.dumps({"object": "list", "model": "stand-in", "data": data})
        writer.write(JSON % len(reply) + reply)

    async def _chat(self, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        chat = Chat(orjson.loads(body)["messages"][-1]["content"], writer)
        role = {"id": "chat", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}
        writer.write(STREAM + chunk(b"data: " + orjson.dumps(role) + b"\n\n"))
        self.chats.put_nowait(chat)
        leaving = asyncio.create_task(reader.read(1))  # clients say nothing more before the end of a reply
        ending = asyncio.create_task(chat.left.wait())
        try:
            await asyncio.wait({leaving, ending}, return_when=asyncio.FIRST_COMPLETED)
            if leaving.done():
                raise ConnectionError
        finally:
            chat.left.set()
            for task in (leaving, ending):
                task.cancel()
            await asyncio.wait({leaving, ending})


@asynccontextmanager
async def standing_in() -> AsyncIterator[StandIn]:
    """Listen on a free port of loopback until the block ends; what still hangs is broken off."""
    stand_in = StandIn()
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        serving.add(task)
        try:
            await stand_in.serve(reader, writer)
        except asyncio.CancelledError:
            pass  # at the end
        finally:
            serving.discard(task)

    listening = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1_000)
    stand_in.address = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield stand_in
    finally:
        listening.close()
        ending = list(serving)
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)


async def request(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """Path and body of the next request."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.splitlines()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return first.split(" ")[1], await reader.readexactly(int(headers.get("content-length", 0)))


def chunk(data: bytes) -> bytes:
    """A chunk of a body whose length is not told."""
    return b"%x\r\n%b\r\n" % (len(data), data)
