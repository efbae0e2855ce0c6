"""Fixtures of every test: one embedded PostgreSQL a run, and databases on it."""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from retrieval.database import Database
from retrieval.migrations import Base, prepare
from retrieval.store import Store
from retrieval.tuning import Tuning
from tests.fixtures.databases import TestServer
from tests.fixtures.embedders import DIMENSIONS, MODEL, HashEmbedder
from tests.fixtures.patience import PATIENCE
from tests.fixtures.run_folder import RunFolder

# How long examples take to be drawn or tried says how busy the machine is.
settings.register_profile("new examples", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same examples", settings.get_profile("new examples"), derandomize=True, database=None)

RUN_FOLDER = "CONTEXTQL_TEST_RUN"
MADE = pytest.StashKey[RunFolder]()
LONGEST = (
    "test_faults.py", "test_faults_in_code.py", "test_histories.py", "test_access.py", "test_serve.py", "test_reembed.py",
    "test_walking.py", "test_providers_failing.py", "test_embedded.py", "test_facts_over_time.py", "test_database_in_trouble.py",
    "test_laws.py", "test_graph.py", "test_demo.py", "test_outage.py", "test_leaving.py", "test_races.py", "test_quality.py",
)  # fmt: skip
"""Files begun first, so that no worker is left alone with a long one at the end."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """A part of what takes hours may be run by itself."""
    parser.addoption("--shard", help="run only this part of the long tests with seeds, such as 1/4")


def pytest_configure(config: pytest.Config) -> None:
    """The first process of the run makes its folder; workers, and runs that a test starts, inherit the name."""
    # A run starts some hundred processes: each saves a second when the bytecode of the product and the tests is kept.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # A default run judges a change, so each tries the same examples; the long run is there to look for new ones.
    settings.load_profile("same examples" if "not long" in config.option.markexpr else "new examples")
    if not hasattr(config, "workerinput") and RUN_FOLDER not in os.environ:
        config.stash[MADE] = RunFolder()
        os.environ[RUN_FOLDER] = str(config.stash[MADE].path)


def pytest_unconfigure(config: pytest.Config) -> None:
    """The first process is the last to end, and takes the folder away."""
    if MADE in config.stash:
        del os.environ[RUN_FOLDER]
        config.stash[MADE].close()


@pytest.fixture
def no_collector() -> Iterator[None]:
    """No collection of cycles while time is measured: it goes through what all tests before have left, as one here would."""
    gc.disable()
    yield
    gc.enable()


def pytest_collection_finish() -> None:
    """Keep the collector of cycles off what all tests share: one look at it takes a tenth of a second."""
    gc.collect()
    gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, and keep one part of the long tests with seeds, when one is asked for."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))
    shard = config.getoption("--shard")
    if shard is None:
        return
    part, parts = (int(number) for number in shard.split("/"))
    kept = []
    for item in items:
        seed = item.callspec.params.get("seed") if isinstance(item, pytest.Function) and hasattr(item, "callspec") else None
        if seed is None or item.get_closest_marker("long") is None or seed % parts == part % parts:
            kept.append(item)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many answers were compared with the oracle of access."""
    reports = terminalreporter.getreports("passed")
    done = [value for one in reports for name, value in one.user_properties if name == "comparisons"]
    if done:
        terminalreporter.write_line(f"{sum(done):,} answers compared with the oracle of access")


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


@pytest.fixture
def migrated(database_server: TestServer) -> Iterator[tuple[str, Base]]:
    """A migrated base of this test, by its URL: Russian words, vectors of `tests.fixtures.embedders.HashEmbedder`."""
    url = database_server.create(database_server.template_database("contextql_base", prepare_base))
    yield url, prepare_base(url)  # settings of a role belong to one database and are not cloned
    database_server.drop(url)


@pytest.fixture
def base_url(migrated: tuple[str, Base]) -> str:
    """The URL of a migrated base of this test."""
    return migrated[0]


def prepare_base(url: str) -> Base:
    """Migrate a database as the tests expect it."""
    return asyncio.run(prepared(url))


async def prepared(url: str) -> Base:
    """What a base of the tests was made with; made now when it is not yet."""
    return await prepare(url, search_config="russian", embedding_model=MODEL, dimensions=DIMENSIONS)


@pytest.fixture
async def store(migrated: tuple[str, Base]) -> AsyncIterator[Store]:
    """An open base with an embedder of hashes."""
    url, base = migrated
    database = await Database.open(url, acquire_seconds=20, connect_seconds=30)
    yield Store(database, base, Tuning(**PATIENCE), HashEmbedder())
    await database.close()
