"""Streams of answers: how soon the first piece of text is there, beside a bare echo, and whether many at once come whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from statistics import median
from time import perf_counter

from websockets.asyncio.client import ClientConnection, connect

from app.bench.following import follow, greeted
from app.bench.line import Line
from app.bench.servers import Served, serving, started
from app.bench.stand_in import Chat, StandIn, standing_in
from app.bench.world import SMALL, World
from app.config import variable_of

DELTA = "Zebras live in the savannas of eastern and southern Africa, "
PAIRS = 150
PAUSE_SECONDS = 0.02
"""Before each piece, on both sides: a model takes its time, and whoever waits for it sleeps meanwhile."""
BOUND = 3.0

STREAMS = 200
PIECES = 25
AT_ONCE = ("llm_concurrency", "llm_concurrency_per_principal", "concurrent_requests", "concurrent_streams", "concurrent_sockets")
SETTINGS = dict.fromkeys(AT_ONCE, str(STREAMS))
"""What a deployment that wants so many streams sets; they are all of one caller here. Everything else is as it comes."""


@asynccontextmanager
async def answering(world: World, stand_in: StandIn, **settings: str) -> AsyncIterator[Served]:
    """The server with the stand-in as its chat model."""
    chat = {"llm_provider": "openai", "llm_model": "stand-in", "openai_base_url": f"{stand_in.address}/answers/v1"}
    async with serving(world, **chat, **settings) as served:
        yield served


async def first_delta_against_an_echo(world: World) -> list[Line]:
    """The median from the moment of sending until the client has it, a stream and an echo in turn."""
    pairs = world.times(PAIRS)
    spent: tuple[list[float], list[float]] = ([], [])
    async with (
        standing_in() as stand_in,
        answering(world, stand_in) as served,
        started(["-m", "app.bench.echo"], {}, "BENCH_PORT") as bare,
        greeted(served.address) as socket,
        connect(bare.address.replace("http", "ws", 1) + "/echo", proxy=None) as echo,
    ):
        for number in range(-5, pairs):  # the first ones warm up
            each = (await first_delta(stand_in, socket, world.small.question(max(number, 0) % 20)), await echoed(echo))
            if number >= 0:
                for seconds, value in zip(spent, each, strict=True):
                    seconds.append(value)
    ours, other = (1000 * median(seconds) for seconds in spent)
    return [Line("first-delta-of-echo", ours / other, BOUND, note=f"p50 {ours:.2f} ms against {other:.2f} ms")]


async def first_delta(stand_in: StandIn, socket: ClientConnection, question: str) -> float:
    """Seconds that the first piece of one answer took."""
    async with aclosing(follow(socket, question, SMALL)) as events:
        await anext(events)
        chat = await stand_in.chats.get()
        await asyncio.sleep(PAUSE_SECONDS)
        began = perf_counter()
        chat.say(DELTA)
        event = await anext(events)
        seconds = perf_counter() - began
        if DELTA.rstrip() != event["text"]:  # the space waits, in case a citation follows that goes
            raise RuntimeError(f"the first piece came as {event}")
        chat.end()
        async for _ in events:
            pass
    return seconds


async def echoed(socket: ClientConnection) -> float:
    """Seconds that the same text takes when it is only sent back."""
    await asyncio.sleep(PAUSE_SECONDS)
    began = perf_counter()
    await socket.send(DELTA)
    await socket.recv()
    return perf_counter() - began


async def many_streams_at_once(world: World) -> list[Line]:
    """Streams of one worker that are all open before the first piece is said; then each must come whole and in order."""
    count, began = world.times(STREAMS), perf_counter()
    async with standing_in() as stand_in, answering(world, stand_in, **SETTINGS) as served:
        reading = [asyncio.create_task(received(served, number, world.small.question(number))) for number in range(count)]
        chats = [await asyncio.wait_for(stand_in.chats.get(), 60) for _ in reading]
        opened = perf_counter() - began
        await said_in_turn(chats)
        found = await asyncio.gather(*reading, return_exceptions=True)
    lost = sum(text != text_of(number) for number, text in enumerate(found))
    settings = ", ".join(f"{variable_of(name)}={value}" for name, value in SETTINGS.items())
    note = f"of {count} with {PIECES} pieces each, all open after {opened:.1f} s; {settings}"
    return [Line("streams-not-whole", lost, 0, "", note, digits=0)]


async def received(served: Served, number: int, question: str) -> str:
    """The text of one answer, joined from its pieces in the order in which they came; raises when the whole is another."""
    async with greeted(served.address) as socket, aclosing(follow(socket, f"{question} stream {number}", SMALL)) as events:
        names, text = [], ""
        async for event in events:
            names.append(event["__typename"])
            text += event.get("text", "")
    if names[0] != "AnswerFound" or names[-1] != "AnswerDone" or set(names[1:-1]) != {"AnswerDelta"}:
        raise RuntimeError(f"the events came as {names}")
    if event["answer"] != {"text": text, "status": "ANSWERED"}:
        raise RuntimeError("the answer is not what its pieces were")
    return text


async def said_in_turn(chats: Sequence[Chat]) -> None:
    """Say the first piece of each, then the second of each, to their end."""
    numbers = [number_of(chat) for chat in chats]
    for place in range(PIECES):
        for chat, number in zip(chats, numbers, strict=True):
            chat.say(piece(number, place))
        await asyncio.gather(*(chat.writer.drain() for chat in chats))
        await asyncio.sleep(PAUSE_SECONDS)
    for chat in chats:
        chat.end()


def number_of(chat: Chat) -> int:
    """Which stream a chat belongs to: its question says so."""
    return int(chat.told.rpartition("stream ")[2].split()[0])


def piece(number: int, place: int) -> str:
    """A piece that no other stream and no other place has."""
    return f"{number}.{place}, зебра 🦓 "


def text_of(number: int) -> str:
    """All pieces of a stream."""
    return "".join(piece(number, place) for place in range(PIECES))
