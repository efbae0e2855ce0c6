"""The command line against a database of the test, in this process."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import structlog

from app.cli import main
from retrieval.migrations import prepare
from tests.fixtures.databases import TestServer
from tests.fixtures.openai_server import OpenAIServer

TEMPLATE = "contextql_command_line"


@dataclass(frozen=True)
class Ended:
    """How a command ended: its code, and what it printed where."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def sentence(self) -> str:
        """The one line on stderr of a command that failed."""
        lines = self.err.splitlines()
        assert self.code != 0, self
        assert len(lines) == 1, self.err
        return lines[0]


Run = Callable[..., Ended]


def migrate(url: str) -> None:
    asyncio.run(prepare(url, search_config="russian", embedding_model=None, dimensions=None))


@pytest.fixture
def base(database_server: TestServer) -> Iterator[str]:
    """The URL of a migrated base of this test, without vectors."""
    url = database_server.create(database_server.template_database(TEMPLATE, migrate))
    yield url
    database_server.drop(url)


@pytest.fixture
def settings(base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of the commands."""
    for name, value in {"DATABASE_URL": base, "DATA_DIR": str(tmp_path), "EMBEDDING_PROVIDER": "none", "PORT": "0"}.items():
        monkeypatch.setenv(f"CB_{name}", value)


@pytest.fixture
def run(settings: None, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Calls a command."""
    handlers, level = logging.root.handlers[:], logging.root.level

    def call(*arguments: object) -> Ended:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(int(ended.value.code or 0), out, err)

    yield call
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch, settings: None) -> Iterator[OpenAIServer]:
    """A provider of vectors with eight numbers."""
    server = OpenAIServer()
    names = {"EMBEDDING_PROVIDER": "openai", "OPENAI_BASE_URL": server.url, "EMBEDDING_DIMENSIONS": "8"}
    for name, value in names.items():
        monkeypatch.setenv(f"CB_{name}", value)
    yield server
    server.close()


@pytest.fixture
def database_name(base: str) -> str:
    return urlsplit(base).path.strip("/")
