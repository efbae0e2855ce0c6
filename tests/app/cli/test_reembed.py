"""The model of a base is changed under two servers: by one command, killed in the middle, while everybody goes on asking."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import asyncpg
import numpy as np
import pytest

from tests.app.cli.conftest import Run
from tests.app.cli.servers import Running, running
from tests.fixtures.openai_server import OpenAIServer, vector_of

DOCUMENTS, OLD, NEW = 60, 8, 12
IN_THE_MIDDLE = 5
"""Calls of the provider that a command makes before it is killed: of 32 and 16 texts, which it does not take, and three of 8."""
NEXT = {"embedding_provider": "openai", "embedding_model": "text-embedding-3-other", "embedding_dimensions": str(NEW)}
SEARCH = """{ search(question: "слово7", k: 5) {
    vector { fragment { card { key } } } lexical { fragment { card { key } } } degraded { part code message } } }"""


@pytest.fixture
def other() -> Iterator[OpenAIServer]:
    """The provider of the new model."""
    server = OpenAIServer()
    yield server
    server.close()


@pytest.fixture
def pages(run: Run, provider: OpenAIServer, tmp_path: Path) -> Path:
    """A base with sixty documents by the first model."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"d{number}.md").write_text(f"# T{number}\n\nслово{number}")
    assert run("ingest", folder, "-n", "pages", "--create-namespace").code == 0
    return folder


def nearest(dimensions: int, most: int = 5) -> list[str]:
    """What a model of so many dimensions finds."""
    vectors = np.array([vector_of(f"T{number}\nслово{number}", dimensions) for number in range(DOCUMENTS)])
    asked = np.array(vector_of("слово7", dimensions))
    return [f"d{number}.md" for number in np.argsort(-(vectors @ asked), kind="stable")[:most]]


def given(base: str, first: OpenAIServer, second: OpenAIServer | None, data_dir: Path) -> dict[str, str]:
    """The settings of a process, with the new model or without."""
    settings = {
        "database_url": base, "embedding_provider": "openai", "openai_base_url": first.url, "embedding_dimensions": str(OLD),
        "local_admin": "true", "data_dir": str(data_dir), "points_per_minute": "0", "embedding_timeout": "60",
    }  # fmt: skip
    if second is not None:
        settings |= {f"next_{name}": value for name, value in NEXT.items()} | {"next_openai_base_url": second.url}
    return settings


class Asking(threading.Thread):
    """Somebody who asks one server again and again, and remembers what kind of answer came."""

    def __init__(self, server: Running) -> None:
        super().__init__(daemon=True)
        self.server, self.kinds, self.wrong, self.stop = server, list[str](), list[Any](), threading.Event()
        self.start()

    def run(self) -> None:
        known = {tuple(nearest(OLD)): "old", tuple(nearest(NEW)): "new", (): "none"}
        while not self.stop.is_set():
            answer = self.server.ask(SEARCH).json()
            found = answer["data"]["search"]
            kind = known.get(tuple(hit["fragment"]["card"]["key"] for hit in found["vector"]), "mixed")
            words = [hit["fragment"]["card"]["key"] for hit in found["lexical"]]
            told = [(one["part"], one["code"]) for one in found["degraded"]]
            right = told == ([("embedding", "PROVIDER_UNAVAILABLE")] if kind == "none" else [])
            if kind == "mixed" or words != ["d7.md"] or not right:
                self.wrong.append(answer)
            self.kinds.append(kind)
            self.stop.wait(0.01)  # the command needs the processor too

    def end(self) -> set[str]:
        """Stop; gives the kinds of answers that came."""
        self.stop.set()
        self.join(90)
        assert self.wrong == []
        return set(self.kinds)


def wait_for(claim: Any, seconds: float = 150) -> None:
    """Wait until a claim holds."""
    end = time.monotonic() + seconds
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.02)


async def shorten_lease(base: str) -> None:
    """Let the lease of the killed command end in two seconds instead of twenty; the next one still has to wait for that."""
    connection = await asyncpg.connect(base)
    try:
        shorten = "update lease set held_until = now() + interval '2 s' where name = 'reembedding' and held_until > now()"
        assert await connection.execute(shorten) == "UPDATE 1"
    finally:
        await connection.close()


def test_the_model_is_changed_under_two_servers_by_a_command_that_is_killed(
    run: Run, pages: Path, provider: OpenAIServer, other: OpenAIServer, base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    both, single = given(base, provider, other, tmp_path), given(base, provider, None, tmp_path)
    with ExitStack() as stack:
        servers = [
            stack.enter_context(running(tmp_path / f"log{number}", "serve", **settings))
            for number, settings in enumerate((both, single))
        ]
        for server in servers:
            server.ready()
        asking = [Asking(server) for server in servers]
        wait_for(lambda: all(one.kinds for one in asking))
        other.faults.most_inputs, other.faults.hang_after = 8, IN_THE_MIDDLE
        with running(tmp_path / "killed", "reembed", **both) as command:
            wait_for(lambda: len(other.calls) > IN_THE_MIDDLE)
            command.end(signal.SIGKILL)
        other.faults.hang_after = None
        asyncio.run(shorten_lease(base))
        assert [set(one.kinds) for one in asking] == [{"old"}, {"old"}]
        ended = stack.enter_context(running(tmp_path / "again", "reembed", **both))
        assert ended.process.wait(200) == 0, ended.text
        assert "text-embedding-3-other (12)" in ended.text
        sofar = [len(one.kinds) for one in asking]
        wait_for(lambda: all(len(one.kinds) > before + 5 for one, before in zip(asking, sofar, strict=True)))
        after = [set(one.kinds[before + 1 :]) for one, before in zip(asking, sofar, strict=True)]
        assert after == [{"new"}, {"none"}], "from the moment of the switch on"
        assert [one.end() for one in asking] == [{"old", "new"}, {"old", "none"}]
        assert "text-embedding-3-other (12 numbers)" in servers[1].ask(SEARCH).json()["data"]["search"]["degraded"][0]["message"]
    sent = [text for call in other.calls for text in call.texts if text.startswith("T")]
    assert len(set(sent)) == DOCUMENTS
    for name, value in NEXT.items():
        monkeypatch.setenv(f"CB_{name.upper()}", value)
    monkeypatch.setenv("CB_OPENAI_BASE_URL", other.url)
    assert run("ask", "слово7", "--json").json["degraded"] == [], "set up for it, all is as ever"


def test_a_dry_run_tells_how_much_there_is_and_does_nothing(run: Run, pages: Path, provider: OpenAIServer, other: OpenAIServer,
                                                            monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    assert run("reembed", "--dry-run").sentence.startswith("Set CB_NEXT_EMBEDDING_PROVIDER")
    for name, value in (NEXT | {"openai_base_url": other.url}).items():
        monkeypatch.setenv(f"CB_NEXT_{name.upper()}", value)
    plan = run("reembed", "--dry-run", "--json").json
    assert (plan["fragments"], plan["done"], plan["calls"]) == (DOCUMENTS, 0, 2)
    assert plan["characters"] == sum(len(f"T{n}слово{n}") for n in range(DOCUMENTS))
    assert run("reembed", "--dry-run").out.startswith("60 of 60 fragments are to be embedded with text-embedding-3-other (12).")
    assert run("reembed", "--abandon").out == "No re-embedding was begun.\n"
    assert run("reembed", "--abandon", "--json").json == {"abandoned": False}
    assert "--dry-run" in run("reembed", "--abandon", "--dry-run").sentence
    assert other.calls == []
    ended = run("reembed", "--json")
    assert ended.json == {"model": "text-embedding-3-other", "dimensions": NEW}
    doctor = {one["name"]: (one["level"], one["found"]) for one in run("doctor", "--json").json["findings"]}
    assert doctor["model"][0] == "OK"
    assert "with NEXT" in doctor["model"][1]
    monkeypatch.delenv("CB_NEXT_EMBEDDING_PROVIDER")
    assert "`contextql reembed` changes the model" in run("ask", "слово7").sentence


def test_a_provider_that_fails_ends_it_with_a_sentence_and_it_can_be_given_up(
    run: Run, pages: Path, provider: OpenAIServer, other: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    for name, value in (NEXT | {"openai_base_url": other.url}).items():
        monkeypatch.setenv(f"CB_NEXT_{name.upper()}", value)
    other.faults.refused_text = "T3\nслово3"
    ended = run("reembed")
    assert ended.code == 1
    assert ended.sentence.startswith("1 fragments were refused by the new model")
    doctor = {one["name"]: (one["level"], one["found"]) for one in run("doctor", "--json").json["findings"]}
    assert doctor["re-embedding"] == ("WARN", "to text-embedding-3-other (12): 59 of 60 vectors are made")
    assert run("reembed", "--abandon").out == "The new vectors are gone; the base stays with its model.\n"
    assert run("ask", "слово7", "--json").json["degraded"] == []
