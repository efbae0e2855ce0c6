"""Bases for the tests of the laws: migrated, cloned, and served."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable, Iterator

import pytest
import structlog

from app.logs import NOISY, configure_logging
from tests.fixtures.bases import Bases
from tests.fixtures.databases import TestServer


class Comparisons:
    """Counts the comparisons of a test with the oracle; the run prints how many there were in all."""

    def __init__(self, record: Callable[[str, object], None]) -> None:
        self._record = record

    def __call__(self, done: int) -> None:
        self._record("comparisons", done)


@pytest.fixture
def comparisons(record_property: Callable[[str, object], None]) -> Comparisons:
    """Where a test says how much it compared."""
    return Comparisons(record_property)


@pytest.fixture
def bases(database_server: TestServer) -> Iterator[Bases]:
    """Databases of one test."""
    made = Bases(database_server)
    yield made
    made.drop()


@pytest.fixture(scope="module")
def shared_bases(database_server: TestServer) -> Iterator[Bases]:
    """Databases of one module, for tests that only read."""
    made = Bases(database_server)
    yield made
    made.drop()


@pytest.fixture
def log_text() -> Iterator[Callable[[], str]]:
    """Logging as the server sets it up; gives what was written since the last call."""
    root = logging.getLogger()
    before, level, written = root.handlers[:], root.level, io.StringIO()
    configure_logging("json")
    (ours,) = root.handlers
    assert isinstance(ours, logging.StreamHandler)
    ours.setStream(written)
    root.handlers[:] = [*before, ours]

    def text() -> str:
        found = written.getvalue()
        written.seek(0)
        written.truncate()
        return found

    yield text
    root.removeHandler(ours)
    root.setLevel(level)
    structlog.reset_defaults()
    for name in NOISY:
        logging.getLogger(name).disabled = False
