"""Puts the demo corpus into a base, with a principal that may read half of it; what is there already is left alone."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from app.config import LOCAL_MODEL
from app.demo.corpus import LANGUAGES, TITLES, namespace_of, pages
from app.demo.vectors import file_of, shipped_vectors
from app.sessions import Identity
from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace, list_namespaces
from retrieval.administration.principals import PrincipalInput, upsert_principal
from retrieval.administration.rights import local_administrator
from retrieval.administration.tokens import create_token, list_tokens, revoke_token, token_digest
from retrieval.errors import Conflict, ContextQLError, Unauthenticated
from retrieval.ingest.importing import import_vectors
from retrieval.ingest.source_input import SourceInput
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import connect_links, ingest_source
from retrieval.outcomes import Outcome
from retrieval.session import Session
from retrieval.store import Store

READER = "reader-ru"
LABEL = "demo"
WRITERS = 2
OnPage = Callable[[str, int, int], None]
"""Is told how far a namespace is: its name, pages done, pages in all."""


class CorpusDamaged(ContextQLError):
    """A page that ships could not be stored."""


async def load_corpus(store: Store, on_page: OnPage) -> int:
    """Store both languages, searchable by words and by meaning; gives how many pages were new or had changed."""
    changed = 0
    known = {one.name for one in await list_namespaces(store.database, local_administrator())}
    for language in LANGUAGES:
        name = namespace_of(language)
        if name not in known:
            await create_namespace(store.database, local_administrator(), name, TITLES[language])
        changed += await load_language(store, language, on_page)
    return changed


async def load_language(store: Store, language: str, on_page: OnPage) -> int:
    """Store the pages of a language; their vectors come from the shipped file, so that nothing is embedded."""
    name, caller = namespace_of(language), local_administrator()
    sources = pages(language)
    if store.base.embedding_model == LOCAL_MODEL:
        await import_vectors(store.database, caller, name, shipped_vectors(file_of(language)))
    changed, left = 0, iter(enumerate(sources, 1))

    async def write() -> None:
        nonlocal changed
        for done, source in left:
            is_new = await store_page(store, name, source)
            changed += is_new
            on_page(name, done, len(sources))

    async with asyncio.TaskGroup() as group:
        for _ in range(WRITERS):
            group.create_task(write())
    if changed:
        (ns,) = [one.ns for one in await list_namespaces(store.database, caller) if one.name == name]
        await connect_links(store.database, ns)
        await refresh_statistics(store.database, ns)
    return changed


async def store_page(store: Store, namespace: str, source: SourceInput) -> bool:
    """Store one page; true when it was new or had changed."""
    result = await ingest_source(store.database, store.base, local_administrator(), namespace, source)
    if result.outcome is Outcome.FAILED:
        raise CorpusDamaged(f"The page {source.key} of the demo could not be stored: {result.message}")
    return result.outcome is not Outcome.UNCHANGED


async def reader_token(store: Store, file: Path) -> str:
    """The token of a principal that may read the Russian half only, kept in a file for its owner; a new one when it is void."""
    kept = read_secret(file)
    if kept and await holder_of(store, kept) == READER:
        return kept
    caller, database = local_administrator(), store.database
    result = await upsert_principal(database, caller, PrincipalInput(READER, "USER", "Reads the Russian half of the demo"))
    if result.outcome is Outcome.FAILED:
        raise Conflict(result.message or f"The principal {READER} could not be made.")
    await grant(database, caller, READER, namespace_of("ru"))
    for token in await list_tokens(database, caller, READER):
        if token.label == LABEL and token.revoked_at is None:
            await revoke_token(database, caller, token.token_id)
    made = await create_token(database, caller, READER, label=LABEL)
    write_secret(file, made.token)
    return made.token


async def holder_of(store: Store, token: str) -> str | None:
    """Whose token it is; None when it does not hold."""
    deadline = asyncio.get_running_loop().time() + 10
    async with Session(store, Identity(token_digest(token), False), deadline=deadline) as session:
        try:
            return (await session.caller).name
        except Unauthenticated:
            return None


def read_secret(file: Path) -> str:
    """What the file holds, empty without one; it is closed to others again."""
    if not file.is_file():
        return ""
    file.chmod(0o600)
    return file.read_text(encoding="utf-8", errors="replace").strip()


def write_secret(file: Path, secret: str) -> None:
    """Write a file that only its owner reads, whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    unfinished = file.with_suffix(".new")
    unfinished.unlink(missing_ok=True)
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(secret + "\n")
    unfinished.replace(file)
