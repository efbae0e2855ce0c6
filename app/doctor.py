"""Says what is wrong with an installation, and what to do about each thing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import perf_counter

from app.config import Settings, unknown_variables
from app.opening import database_url
from app.providers.factory import make_embedder
from retrieval.diagnosis import BaseState, Extension, ServerState, examine
from retrieval.errors import ContextQLError
from retrieval.ports import Embedder

OLD_QUEUE_SECONDS = 600
FILES_OF_ITS_OWN = ("*.token", "postgres/cluster")


class Level(StrEnum):
    """How bad a finding is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, what was found, and what to do about it unless all is well."""

    level: Level
    name: str
    found: str
    advice: str | None = None


def ok(name: str, found: str) -> Finding:
    """All is well."""
    return Finding(Level.OK, name, found)


def warn(name: str, found: str, advice: str) -> Finding:
    """It works, and should be looked at."""
    return Finding(Level.WARN, name, found, advice)


def fail(name: str, found: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(Level.FAIL, name, found, advice)


async def examine_all(settings: Settings) -> list[Finding]:
    """Everything that can be looked at without changing it; what cannot be reached is one finding."""
    findings = [*settings_findings(), *(folder_findings(settings.data_dir) if settings.database_url is None else ())]
    embedder = make_embedder(settings)
    try:
        findings += await database_findings(settings, embedder)
        findings.append(await provider_finding(embedder))
    finally:
        if embedder is not None:
            await embedder.close()
    return findings


def settings_findings() -> Iterator[Finding]:
    """Variables that look like settings and are none."""
    lines = unknown_variables()
    if lines:
        yield warn("settings", " ".join(lines), "Correct or unset them; docs/configuration.md lists all settings.")
    else:
        yield ok("settings", "every CB_ variable is a setting")


def folder_findings(folder: Path) -> Iterator[Finding]:
    """Whether the data folder can be written, and only its owner reads what is in it."""
    name = "data folder"
    if not folder.is_dir():
        yield warn(name, f"{folder} does not exist yet", "`contextql demo` or `contextql migrate` makes it.")
        return
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield fail(name, f"{folder} cannot be written", f"Run as its owner, or: chown -R $(id -un) {folder}")
        return
    open_to_others = [path for pattern in FILES_OF_ITS_OWN for path in folder.glob(pattern) if path.stat().st_mode & 0o077]
    if folder.stat().st_mode & stat.S_IWOTH:
        open_to_others.append(folder)
    if open_to_others:
        names = ", ".join(str(path) for path in open_to_others)
        yield warn(name, f"others can read or change {names}", f"chmod go-rwx {names}")
    else:
        yield ok(name, str(folder))


async def database_findings(settings: Settings, embedder: Embedder | None) -> list[Finding]:
    """Everything about the database; one finding when it does not answer."""
    try:
        async with database_url(settings) as url:
            server, base = await examine(settings.database_direct_url or url, jit=settings.db_jit)
    except ContextQLError as error:
        return [fail("database", error.message, "Check that PostgreSQL runs and that CB_DATABASE_URL is right.")]
    findings = list(server_findings(server))
    if base is None:
        return [*findings, warn("migrations", "the database was never set up", "Run `contextql migrate`.")]
    return [*findings, *base_findings(base), model_finding(base, embedder)]


def server_findings(server: ServerState) -> Iterator[Finding]:
    """Version, locale, extensions, settings."""
    if server.version_number < 160_000:
        yield fail("database", f"PostgreSQL {server.version} is too old", "Use PostgreSQL 16 or newer.")
    else:
        yield ok("database", f"PostgreSQL {server.version} answers in {server.milliseconds:.0f} ms")
    if server.folds_cyrillic:
        yield ok("locale", "folds Cyrillic")
    else:
        create = "ENCODING UTF8 LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' TEMPLATE template0"
        yield fail("locale", "does not fold Cyrillic", f"Create the database with {create} and load the data into it.")
    for extension in server.extensions:
        yield extension_finding(extension)
    if server.differing:
        found = ", ".join(f"{name} is {is_}, not {should}" for name, is_, should in server.differing)
        yield warn("role settings", found, "Run `contextql migrate` as the role that the server connects as.")
    else:
        yield ok("role settings", "all in force")


def extension_finding(extension: Extension) -> Finding:
    """Whether an extension is there and new enough."""
    name, version = f"extension {extension.name}", extension.installed or extension.offered
    if version is None:
        return fail(name, "is not installed on the database server", "Install its package there, then `contextql migrate`.")
    numbers = tuple(int(part) for part in version.split(".")[:2])
    if numbers < extension.least:
        least = ".".join(map(str, extension.least))
        return fail(name, f"is {version}, {least} is needed", f"Install a newer one; `alter extension {extension.name} update`.")
    if extension.installed is None:
        return warn(name, f"{version} is offered but not in this database", "Run `contextql migrate`.")
    return ok(name, version)


def base_findings(base: BaseState) -> Iterator[Finding]:
    """Migrations, indexes, queue, statistics, tokens."""
    yield from migration_findings(base)
    yield from index_findings(base)
    yield from queue_findings(base)
    if not base.refresh_due:
        yield ok("statistics", "up to date")
    elif base.refreshing:
        yield ok("statistics", f"{counted(base.refresh_due, 'namespace')} being refreshed")
    else:
        advice = "A running server or `contextql worker` refreshes them within seconds; start one."
        yield warn("statistics", f"out of date in {counted(base.refresh_due, 'namespace')}", advice)
    if base.expired_tokens:
        advice = "`contextql token list` shows them; `contextql token revoke ID` clears one away."
        yield warn("tokens", f"{counted(base.expired_tokens, 'token')} expired and not revoked", advice)
    else:
        yield ok("tokens", "none has expired")


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "token"), counted(2, "token")
    ('1 token', '2 tokens')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def migration_findings(base: BaseState) -> Iterator[Finding]:
    """Whether the schema is that of this release."""
    if base.unapplied:
        yield fail("migrations", f"{', '.join(base.unapplied)} not applied", "Run `contextql migrate`.")
    elif base.altered:
        advice = "The database was set up by another build of this release; restore a backup, or load into a new database."
        yield warn("migrations", f"{', '.join(base.altered)} was applied in another form", advice)
    else:
        yield ok("migrations", "current")


def index_findings(base: BaseState) -> Iterator[Finding]:
    """Whether every index is there and usable."""
    for name in base.invalid_indexes:
        yield fail("indexes", f"{name} is invalid", f"reindex index concurrently {name}")
    if base.missing_indexes:
        names = ", ".join(base.missing_indexes)
        yield fail("indexes", f"{names} missing", "Create them again as retrieval/migrations does, or restore a backup.")
    if not base.invalid_indexes and not base.missing_indexes:
        yield ok("indexes", "all there and valid")


def queue_findings(base: BaseState) -> Iterator[Finding]:
    """Whether fragments wait for their vector too long."""
    if base.pending and base.oldest_pending_seconds > OLD_QUEUE_SECONDS:
        minutes = base.oldest_pending_seconds / 60
        found = f"{counted(base.pending, 'fragment')} without a vector, one for {minutes:.0f} minutes"
        yield warn("embeddings", found, "Start a server or `contextql worker`, and look at the line about the provider.")
    else:
        yield ok("embeddings", f"{counted(base.pending, 'fragment')} without a vector yet" if base.pending else "none waits")
    if base.poisoned:
        first = base.poisoned[0]
        found = (
            f"{counted(len(base.poisoned), 'fragment')} failed again and again; the first is {first.namespace}/{first.key}, "
            f"piece {first.ordinal}, after {first.attempts} attempts: {first.last_error or 'the worker ended each time'}"
        )
        yield warn(
            "poisoned fragments", found, "Mend what the error names, or change or delete the source; they are tried hourly."
        )


def model_finding(base: BaseState, embedder: Embedder | None) -> Finding:
    """Whether the base and the configuration speak of one model."""
    held = f"{base.embedding_model} ({base.dimensions})"
    if embedder is None or base.embedding_model is None:
        return ok("model", "no vectors yet" if base.embedding_model is None else f"vectors of {held}")
    if (base.embedding_model, base.dimensions) != (embedder.model, embedder.dimensions):
        configured = f"{embedder.model} ({embedder.dimensions})"
        advice = "Set CB_EMBEDDING_PROVIDER and CB_EMBEDDING_MODEL back, or use a new base."
        return fail("model", f"the base holds vectors of {held}, the configuration names {configured}", advice)
    return ok("model", held)


async def provider_finding(embedder: Embedder | None) -> Finding:
    """Whether a text can be embedded now, and how fast."""
    name = "embedding provider"
    if embedder is None:
        return warn(name, "none: there is no search by meaning", "Set CB_EMBEDDING_PROVIDER=local, which needs nothing else.")
    try:
        await embedder.embed_passages(["ready"])
        started = perf_counter()
        await embedder.embed_questions(["Is the provider there?"])
    except ContextQLError as error:
        advice = "Check CB_EMBEDDING_PROVIDER, CB_OPENAI_BASE_URL and the key; search by words goes on."
        return fail(name, error.message, advice)
    return ok(name, f"{embedder.model}, a question in {(perf_counter() - started) * 1_000:.0f} ms")
