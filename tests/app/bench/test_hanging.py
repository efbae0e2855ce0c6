"""What the lines about streams and hanging providers are made of: both sides asked the same in turn, an echo that only echoes."""

from __future__ import annotations

from pathlib import Path

import httpx
import orjson
import psutil
from starlette.testclient import TestClient

from app.bench.corpus import invent
from app.bench.echo import echo_app
from app.bench.hanging import LEXICAL, Pairs
from app.bench.servers import Served
from app.bench.world import World


def served(name: str, asked: list[tuple[str, str]]) -> Served:
    """A server that notes who was asked what, and finds nothing."""

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((name, orjson.loads(request.content)["variables"]["question"]))
        return httpx.Response(200, json={"data": {}})

    client = httpx.AsyncClient(transport=httpx.MockTransport(answer), base_url="http://x")
    return Served(psutil.Process(), "http://x", client)


async def test_both_servers_are_asked_the_same_and_each_is_first_as_often() -> None:
    corpus, asked = invent(3), list[tuple[str, str]]()
    world = World("", Path(), 0, corpus, corpus, 1.0, print)
    pairs, one, other = Pairs(world, LEXICAL), served("one", asked), served("other", asked)
    for _ in range(4):
        await pairs.ask(one, other)
    questions = [question for _, question in asked]
    assert questions[::2] == questions[1::2]
    assert len(set(questions)) == 4
    assert sorted(name for name, _ in asked[::2]) == ["one", "one", "other", "other"]
    assert len(pairs.beside) == len(pairs.alone) == 4


def test_a_line_is_the_ratio_of_the_medians() -> None:
    corpus = invent(1)
    pairs = Pairs(World("", Path(), 0, corpus, corpus, 1.0, print), LEXICAL)
    pairs.beside, pairs.alone = [0.002, 0.026, 5.0], [0.020, 0.020, 0.001]
    assert str(pairs.line("beside", ", of 3")) == "PASS beside 1.30x <= 1.30x  (p50 26.0 ms against 20.0 ms, of 3)"
    pairs.beside = [0.027]
    assert not pairs.line("beside").passes


def test_the_bare_socket_sends_back_what_comes() -> None:
    with TestClient(echo_app()).websocket_connect("/echo") as socket:
        for text in ("первый", "second 🦓"):
            socket.send_text(text)
            assert socket.receive_text() == text
