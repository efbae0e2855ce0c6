"""Says what is wrong with an installation, and what to do about each thing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from app.config import Settings, unknown_variables
from app.findings import Finding, counted, fail, ok, warn
from app.opening import database_url
from app.providers.factory import make_chat, make_embedder, make_next_embedder
from app.upkeep import STALE_SECONDS, upkeep_findings
from retrieval.diagnosis import BaseState, Extension, ServerState, examine
from retrieval.errors import ContextQLError
from retrieval.ports import ChatModel, Embedder, Message
from retrieval.tuning import Tuning

OLD_QUEUE_SECONDS = 600
CHAT_SECONDS = 12.0
EXACT_MOST = Tuning().exact_most
BUILT_BY_WORKERS = ("fragment_vector_near", "fragment_vector_next_near")
"""Invalid while they are being built; `vector index` speaks of them."""
FILES_OF_ITS_OWN = ("*.token", "postgres/cluster")


async def examine_all(settings: Settings) -> list[Finding]:
    """Everything that can be looked at without changing it; what cannot be reached is one finding."""
    findings = [*settings_findings(), *(folder_findings(settings.data_dir) if settings.database_url is None else ())]
    embedder, following, chat = make_embedder(settings), make_next_embedder(settings), make_chat(settings)
    try:
        findings += await database_findings(settings, embedder, following)
        findings.append(await provider_finding(embedder))
        if following is not None:
            findings.append(await provider_finding(following, "next embedding provider"))
        findings.append(await chat_finding(chat))
    finally:
        for one in (embedder, following, chat):
            if one is not None:
                await one.close()
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


async def database_findings(settings: Settings, embedder: Embedder | None, following: Embedder | None) -> list[Finding]:
    """Everything about the database; one finding when it does not answer."""
    try:
        async with database_url(settings) as url:
            server, base = await examine(settings.database_direct_url or url, jit=settings.db_jit, counted=EXACT_MOST + 1)
    except ContextQLError as error:
        return [fail("database", error.message, "Check that PostgreSQL runs and that CB_DATABASE_URL is right.")]
    findings = list(server_findings(server))
    if base is None:
        return [*findings, warn("migrations", "the database was never set up", "Run `contextql migrate`.")]
    findings += [*base_findings(base), model_finding(base, embedder, following)]
    return [*findings, *(upkeep_findings(base.upkeep, EXACT_MOST) if base.upkeep else ())]


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
    yield statistics_finding(base)
    if base.expired_tokens:
        advice = "`contextql token list` shows them; `contextql token revoke ID` clears one away."
        yield warn("tokens", f"{counted(base.expired_tokens, 'token')} expired and not revoked", advice)
    else:
        yield ok("tokens", "none has expired")


def statistics_finding(base: BaseState) -> Finding:
    """Whether words are weighed by what is stored now."""
    seconds = base.upkeep.statistics_seconds if base.upkeep else 0.0
    if not base.refresh_due:
        return ok("statistics", "up to date")
    if base.refreshing and seconds <= STALE_SECONDS:
        return ok("statistics", f"{counted(base.refresh_due, 'namespace')} being refreshed")
    since = f", for {seconds / 60:.0f} minutes" if seconds >= 60 else ""
    advice = "A running server or `contextql worker` refreshes them within seconds; start one, or look at its log."
    return warn("statistics", f"out of date in {counted(base.refresh_due, 'namespace')}{since}", advice)


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
    invalid = [name for name in base.invalid_indexes if name not in BUILT_BY_WORKERS]
    for name in invalid:
        yield fail("indexes", f"{name} is invalid", f"reindex index concurrently {name}")
    if base.missing_indexes:
        names = ", ".join(base.missing_indexes)
        yield fail("indexes", f"{names} missing", "Create them again as retrieval/migrations does, or restore a backup.")
    if not invalid and not base.missing_indexes:
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


def model_finding(base: BaseState, embedder: Embedder | None, following: Embedder | None = None) -> Finding:
    """Whether the base and the configuration speak of one model."""
    held = f"{base.embedding_model} ({base.dimensions})"
    if embedder is None or base.embedding_model is None:
        return ok("model", "no vectors yet" if base.embedding_model is None else f"vectors of {held}")
    if following is not None and (base.embedding_model, base.dimensions) == (following.model, following.dimensions):
        return ok("model", f"{held}, which the settings with NEXT name; make them those without in your own time")
    if (base.embedding_model, base.dimensions) != (embedder.model, embedder.dimensions):
        configured = f"{embedder.model} ({embedder.dimensions})"
        advice = "Set CB_EMBEDDING_PROVIDER and CB_EMBEDDING_MODEL back; `contextql reembed` changes the model of a base."
        return fail("model", f"the base holds vectors of {held}, the configuration names {configured}", advice)
    return ok("model", held)


async def provider_finding(embedder: Embedder | None, name: str = "embedding provider") -> Finding:
    """Whether a text can be embedded now, and how fast."""
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


async def chat_finding(chat: ChatModel | None) -> Finding:
    """Whether the chat model answers now, and how fast."""
    name = "chat provider"
    if chat is None:
        return ok(name, "echo: the context itself is shown in place of an answer")
    started = perf_counter()
    try:
        await chat.complete([Message("user", "Answer with one word: ready.")], temperature=0, seconds=CHAT_SECONDS)
    except ContextQLError as error:
        advice = "Check CB_LLM_MODEL, CB_OPENAI_BASE_URL and the key; search goes on without answers."
        return fail(name, error.message, advice)
    return ok(name, f"{chat.model}, a word in {(perf_counter() - started) * 1_000:.0f} ms")
