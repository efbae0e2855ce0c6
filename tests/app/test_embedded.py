"""The embedded PostgreSQL starts, is shared, survives being killed and stops with its last user."""

from __future__ import annotations

import multiprocessing
import os
import pwd
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import asyncpg
import psutil
import pytest

from app.embedded import EmbeddedDatabase, embedded_database_url
from retrieval.errors import DatabaseUnavailable
from tests.app.edge_world import wait_until
from tests.fixtures.processes import has_ended

QUICK = {"fsync": "off", "shared_buffers": "16MB", "max_connections": "20"}
HOLD = textwrap.dedent(
    """
    import sys, pathlib
    from app.embedded import embedded_database_url
    handle = embedded_database_url(pathlib.Path(sys.argv[1]), {"shared_buffers": "16MB", "fsync": "off"})
    print(handle.url, flush=True)
    sys.stdin.read()
    handle.close()
    """
)


def postmaster(data_dir: Path) -> psutil.Process | None:
    """The running server of a data folder."""
    folder = data_dir.resolve() / "postgres" / "cluster"
    for process in psutil.process_iter():
        try:
            if process.name() == "postgres" and Path(process.cwd()) == folder and process.parent().name() != "postgres":  # type: ignore[union-attr]
                return process
        except (psutil.Error, AttributeError):
            continue
    return None


def is_gone(data_dir: Path) -> bool:
    """Whether the server of a data folder ends; it takes its number away a moment before it is gone itself."""
    wait_until(lambda: postmaster(data_dir) is None)
    return True


def hold(data_dir: Path) -> subprocess.Popen[str]:
    """Another process that uses the database until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return process


def let_go(process: subprocess.Popen[str]) -> None:
    process.communicate(timeout=60)
    assert process.returncode == 0


async def ask(url: str, question: str) -> object:
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(question)
    finally:
        await connection.close()


@pytest.fixture
def data_dir(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    if left := postmaster(tmp_path):
        left.send_signal(signal.SIGQUIT)
        assert is_gone(tmp_path)


@pytest.fixture
def database(data_dir: Path) -> Iterator[EmbeddedDatabase]:
    with embedded_database_url(data_dir, QUICK) as handle:
        yield handle


async def test_the_database_folds_cyrillic_and_has_the_extensions(database: EmbeddedDatabase) -> None:
    assert await ask(database.url, "select lower('ПРИВЕТ')") == "привет"
    assert await ask(database.url, "select count(*) from pg_available_extensions "
                     "where name in ('vector', 'pg_trgm', 'btree_gin')") == 3  # fmt: skip
    assert await ask(database.url, "show listen_addresses") == ""


async def test_the_last_handle_stops_the_server(data_dir: Path) -> None:
    first = embedded_database_url(data_dir, QUICK)
    second = embedded_database_url(data_dir, QUICK)
    first.close()
    first.close()
    assert await ask(second.url, "select 1") == 1
    second.close()
    assert is_gone(data_dir)


async def test_a_process_that_ends_leaves_the_server_to_the_others(data_dir: Path, database: EmbeddedDatabase) -> None:
    other = hold(data_dir)
    assert other.stdout is not None
    assert other.stdout.readline().strip() == database.url
    let_go(other)
    assert await ask(database.url, "select 1") == 1


def test_several_first_starts_at_once_make_one_server(data_dir: Path) -> None:
    processes = [hold(data_dir) for _ in range(3)]
    urls = {process.stdout.readline() for process in processes if process.stdout}
    assert len(urls) == 1
    assert urls != {""}
    for process in processes:
        let_go(process)
    assert is_gone(data_dir)


async def test_data_survives_when_user_and_server_are_killed(data_dir: Path) -> None:
    user = hold(data_dir)
    assert user.stdout is not None
    url = user.stdout.readline().strip()
    await ask(url, "create table kept as select 42 as answer")
    user.kill()
    user.communicate()
    server = postmaster(data_dir)
    assert server is not None
    server.kill()
    wait_until(lambda: has_ended(server))
    with embedded_database_url(data_dir, QUICK) as again:
        assert await ask(again.url, "select answer from kept") == 42
    assert is_gone(data_dir)


async def test_a_killed_user_does_not_keep_the_server_alive(data_dir: Path) -> None:
    user = hold(data_dir)
    assert user.stdout is not None
    user.stdout.readline()
    user.kill()
    user.communicate()
    with embedded_database_url(data_dir, QUICK) as joined:
        assert await ask(joined.url, "select 1") == 1
    assert is_gone(data_dir)


def test_the_number_of_a_dead_server_may_belong_to_another_process(data_dir: Path) -> None:
    embedded_database_url(data_dir, QUICK).close()
    cluster = data_dir / "postgres" / "cluster"
    owner = cluster.stat().st_uid if os.geteuid() == 0 else None
    sleeper = subprocess.Popen(["sleep", "60"], user=owner)
    try:
        lines = [str(sleeper.pid), str(cluster), str(int(time.time())), "5432", str(cluster), "", "1 1", "ready"]
        (cluster / "postmaster.pid").write_text("\n".join(lines) + "\n")
        (cluster / ".s.PGSQL.5432.lock").write_text("\n".join(lines[:5]) + "\n")
        with embedded_database_url(data_dir, QUICK) as again:
            assert again.sql("select 1").strip() == "1"
    finally:
        sleeper.kill()
        sleeper.wait()


@pytest.mark.parametrize("name", ["Папка с пробелом", 'it\'s "$HOME" 100%, `x`', "long-" * 40])
async def test_the_data_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    with embedded_database_url(folder, QUICK) as handle:
        assert await ask(handle.url, "select 1") == 1
    assert is_gone(folder)


def test_a_half_made_data_directory_is_made_anew(data_dir: Path) -> None:
    half = data_dir / "postgres" / "cluster.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    embedded_database_url(data_dir, QUICK).close()
    assert not half.exists()


def test_settings_of_the_caller_do_not_reach_the_server(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "nowhere", "PGDATA": "/nowhere", "LC_ALL": "xx_YY"}.items():
        monkeypatch.setenv(name, value)
    with embedded_database_url(data_dir, QUICK) as handle:
        assert handle.sql("show port").strip() == "5432"


@pytest.mark.parametrize("inside", ["", "deeper"])
def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path, inside: str) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(DatabaseUnavailable, match=r"The data folder .*file.* cannot be used: .*Set CB_DATA_DIR"):
        embedded_database_url(tmp_path / "file" / inside)


def test_a_server_that_cannot_start_says_why(data_dir: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match=r"did not start.*shared_buffers.*server\.log"):
        embedded_database_url(data_dir, {**QUICK, "shared_buffers": "many"})


def test_a_cluster_of_another_version_is_refused(data_dir: Path) -> None:
    embedded_database_url(data_dir, QUICK).close()
    version = data_dir / "postgres" / "cluster" / "PG_VERSION"
    version.write_text("12\n")
    with pytest.raises(DatabaseUnavailable, match="made by PostgreSQL 12"):
        embedded_database_url(data_dir, QUICK)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_needs_no_rights(tmp_path: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    for folder in (tmp_path, *tmp_path.parents):
        folder.chmod(folder.stat().st_mode | 0o001)
    embedded_database_url(tmp_path / "of root", QUICK).close()  # also loads all that is loaded late
    home = tmp_path / "home"
    home.mkdir()
    os.chown(home, nobody.pw_uid, nobody.pw_gid)

    def as_nobody() -> None:
        os.setgroups([])
        os.setgid(nobody.pw_gid)
        os.setuid(nobody.pw_uid)
        with embedded_database_url(home, QUICK) as handle:
            assert handle.sql("select 1").strip() == "1"

    # A fork, because the interpreter itself may lie where `nobody` cannot read it.
    process = multiprocessing.get_context("fork").Process(target=as_nobody)
    process.start()
    process.join(120)
    assert process.exitcode == 0
    assert (home / "postgres" / "cluster").stat().st_uid == nobody.pw_uid


async def test_fresh_databases_are_apart_and_empty(fresh_database: Callable[[], str]) -> None:
    one, two = fresh_database(), fresh_database()
    await ask(one, "create table here()")
    assert await ask(one, "select to_regclass('here') is not null")
    assert await ask(two, "select to_regclass('here') is null")
    assert await ask(two, "select lower('Ё')") == "ё"
