"""Fixtures of every test: one embedded PostgreSQL a run, and databases on it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fixtures.databases import TestServer

RUN_FOLDER = "CONTEXTQL_TEST_RUN"


def pytest_configure(config: pytest.Config) -> None:
    """The first process of the run makes its folder; workers inherit the name."""
    if not hasattr(config, "workerinput"):
        os.environ[RUN_FOLDER] = tempfile.mkdtemp(prefix="contextql-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """The first process is the last to end, and takes the folder away."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(RUN_FOLDER), ignore_errors=True)


@pytest.fixture(scope="session")
def database_server() -> Iterator[TestServer]:
    """The PostgreSQL of this run, started by the first test that asks for it."""
    server = TestServer(Path(os.environ[RUN_FOLDER]))
    yield server
    server.close()


@pytest.fixture
def fresh_database(database_server: TestServer) -> Iterator[Callable[[], str]]:
    """Makes an empty database at each call and gives its URL; all are dropped after the test."""
    made: list[str] = []

    def make() -> str:
        made.append(database_server.create())
        return made[-1]

    yield make
    for url in made:
        database_server.drop(url)


@pytest.fixture
def database_url(fresh_database: Callable[[], str]) -> str:
    """The URL of an empty database of this test."""
    return fresh_database()
