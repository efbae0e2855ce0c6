"""Each thing is broken once, and the doctor says which, and what to do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from app.doctor import extension_finding, folder_findings, server_findings
from app.findings import Level
from retrieval.diagnosis import Extension, ServerState
from tests.app.cli.conftest import Ended, Run
from tests.fixtures.openai_server import OpenAIServer, says

Execute = Callable[..., None]


@pytest.fixture
def execute(base: str) -> Execute:
    """Runs SQL on the base."""

    async def work(statements: tuple[str, ...]) -> None:
        connection = await asyncpg.connect(base)
        for statement in statements:
            await connection.execute(statement)
        await connection.close()

    return lambda *statements: asyncio.run(work(statements))


def line(ended: Ended, name: str) -> tuple[str, str, str | None]:
    """Level, what was found and advice of one finding."""
    found: list[dict[str, Any]] = [one for one in ended.json["findings"] if one["name"] == name]
    assert len(found) == 1, ended.out
    return found[0]["level"], found[0]["found"], found[0]["advice"]


def with_fragments(run: Run, folder: Path, *more: str) -> None:
    """A namespace with two fragments."""
    folder = folder / "pages"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nFirst text.")
    (folder / "two.md").write_text("# Two\n\nSecond text.")
    assert run("ingest", folder, "-n", "pages", "--create-namespace", *more).code == 0


def test_all_is_well(run: Run, provider: OpenAIServer, tmp_path: Path) -> None:
    with_fragments(run, tmp_path)
    ended = run("doctor")
    assert ended.code == 0, ended.out
    assert {text.split()[0] for text in ended.out.splitlines()} == {"OK"}
    assert run("doctor", "--json").json["ok"] is True


def test_a_database_that_is_away(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CB_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/nothing")
    ended = run("doctor", "--json")
    assert ended.code == 1
    assert line(ended, "database")[0] == "FAIL"
    assert "CB_DATABASE_URL" in (line(ended, "database")[2] or "")
    assert ended.sentence == "1 of 4 checks failed."


def test_a_database_that_was_never_set_up(run: Run, monkeypatch: pytest.MonkeyPatch, database_url: str) -> None:
    monkeypatch.setenv("CB_DATABASE_URL", database_url)
    ended = run("doctor", "--json")
    assert line(ended, "migrations") == ("WARN", "the database was never set up", "Run `contextql migrate`.")
    assert line(ended, "extension vector")[0] == "WARN"
    assert line(run("doctor", "--json"), "migrations")[0] == "WARN", "looking changes nothing"


def test_a_migration_that_is_missing_or_was_altered(run: Run, execute: Execute) -> None:
    execute("update migration set digest = 'other' where number = 1")
    assert line(run("doctor", "--json"), "migrations")[:2] == ("WARN", "0001_base was applied in another form")
    execute("delete from migration where number = 1")
    ended = run("doctor", "--json")
    assert line(ended, "migrations")[:2] == ("FAIL", "0001_base not applied")
    assert ended.code == 1


def test_an_index_that_is_missing_or_invalid(run: Run, execute: Execute) -> None:
    execute("drop index fragment_meta", "update pg_index set indisvalid = false where indexrelid = 'entity_recent'::regclass")
    ended = run("doctor")
    assert ended.code == 1
    assert "FAIL indexes: entity_recent is invalid\n      reindex index concurrently entity_recent\n" in ended.out
    assert "FAIL indexes: fragment_meta missing\n" in ended.out


def test_a_role_setting_that_is_not_in_force(run: Run, execute: Execute, database_name: str) -> None:
    run("migrate")  # a clone of a database does not have the settings of its roles
    execute(f"alter role current_user in database {database_name} set jit to on")
    assert line(run("doctor", "--json"), "role settings")[:2] == ("WARN", "jit is on, not off")


def test_fragments_that_wait_too_long_and_one_that_fails_again_and_again(
    run: Run, provider: OpenAIServer, execute: Execute, tmp_path: Path
) -> None:
    run("migrate")
    with_fragments(run, tmp_path, "--no-wait")
    assert line(run("doctor", "--json"), "embeddings")[:2] == ("OK", "2 fragments without a vector yet")
    execute("update embedding_queue set available_at = now() - interval '2 hours'")
    level, found, advice = line(run("doctor", "--json"), "embeddings")
    assert (level, found) == ("WARN", "2 fragments without a vector, one for 120 minutes")
    assert advice is not None
    assert "contextql worker" in advice
    execute(
        "update embedding_queue set attempts = 7, last_error = 'ProviderUnavailable: 400' "
        "where fragment_id = (select max(fragment_id) from embedding_queue)"
    )
    level, found, _ = line(run("doctor", "--json"), "poisoned fragments")
    assert level == "WARN"
    assert "pages/" in found
    assert "after 7 attempts: ProviderUnavailable: 400" in found


def test_a_provider_that_fails(run: Run, provider: OpenAIServer) -> None:
    run("migrate")
    provider.faults.status = 401
    level, found, advice = line(run("doctor", "--json"), "embedding provider")
    assert level == "FAIL"
    assert found
    assert "CB_OPENAI_BASE_URL" in (advice or "")


def test_no_provider_at_all(run: Run) -> None:
    ended = run("doctor", "--json")
    assert line(ended, "embedding provider")[0] == "WARN"
    assert ended.code == 0


def test_a_chat_model_that_answers_and_one_that_fails(run: Run, provider: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    run("migrate")
    assert "echo" in line(run("doctor", "--json"), "chat provider")[1]
    monkeypatch.setenv("CB_LLM_PROVIDER", "openai")
    monkeypatch.setenv("CB_LLM_MODEL", "large")
    level, found, advice = line(run("doctor", "--json"), "chat provider")
    assert (level, "400" in found) == ("FAIL", True)
    assert "CB_LLM_MODEL" in (advice or "")
    provider.mind = says("ready")
    level, found, _ = line(run("doctor", "--json"), "chat provider")
    assert level == "OK"
    assert found.startswith("large, ")


def test_another_model_than_that_of_the_base(run: Run, provider: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    run("migrate")
    monkeypatch.setenv("CB_EMBEDDING_MODEL", "another")
    level, found, _ = line(run("doctor", "--json"), "model")
    assert level == "FAIL"
    assert "another" in found


def test_statistics_that_nobody_refreshes(run: Run, execute: Execute, tmp_path: Path) -> None:
    with_fragments(run, tmp_path)
    assert line(run("doctor", "--json"), "statistics")[0] == "OK"
    execute("insert into statistics_due (ns) select ns from namespace")
    assert line(run("doctor", "--json"), "statistics")[:2] == ("WARN", "out of date in 1 namespace")
    execute("insert into lease values ('statistics', 'somebody', now() + interval '1 minute')")
    assert line(run("doctor", "--json"), "statistics")[0] == "OK"


def test_tokens_that_have_expired(run: Run, execute: Execute) -> None:
    run("principal", "add", "ann")
    run("token", "create", "ann", "--days", 1)
    assert line(run("doctor", "--json"), "tokens")[0] == "OK"
    execute("update token set expires_at = now() - interval '1 day'")
    assert line(run("doctor", "--json"), "tokens")[:2] == ("WARN", "1 token expired and not revoked")


def test_a_variable_that_is_no_setting(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CB_PROT", "1")
    level, found, _ = line(run("doctor", "--json"), "settings")
    assert level == "WARN"
    assert "did you mean CB_PORT?" in found


def test_a_data_folder_that_others_can_read(tmp_path: Path) -> None:
    (only,) = folder_findings(tmp_path)
    assert only.level is Level.OK
    token = tmp_path / "reader-ru.token"
    token.write_text("secret")
    token.chmod(0o644)
    (opened,) = folder_findings(tmp_path)
    assert opened.level is Level.WARN
    assert opened.advice == f"chmod go-rwx {token}"
    (missing,) = folder_findings(tmp_path / "nowhere")
    assert missing.level is Level.WARN


def test_a_server_that_cannot_carry_a_base() -> None:
    extensions = (Extension("vector", None, None, (0, 8)), Extension("vector", "0.7.4", "0.7.4", (0, 8)))
    found = list(server_findings(ServerState("15.3", 150_003, False, extensions, (), 1.0)))
    assert [finding.level for finding in found] == [Level.FAIL] * 4 + [Level.OK]
    assert found[0].found == "PostgreSQL 15.3 is too old"
    assert "alter extension vector update" in (found[3].advice or "")
    assert extension_finding(Extension("vector", "0.10.0", "0.10.0", (0, 8))).level is Level.OK


def test_tables_that_need_care(run: Run, execute: Execute, tmp_path: Path) -> None:
    run("migrate")
    execute(
        "alter table link set (autovacuum_enabled = false)",
        "insert into embedding_queue (ns, fragment_id) select 1, g from generate_series(1, 20000) g",
        "delete from embedding_queue",
        "insert into statistics_due (ns, marked_at) select 1, now() - interval '1 hour' from generate_series(1, 2000)",
        "select pg_stat_force_next_flush()",
    )
    ended = run("doctor", "--json")
    found = [(one["found"], one["advice"]) for one in ended.json["findings"] if one["name"] == "tables"]
    assert ("embedding_queue has 20,000 dead rows beside 0", "vacuum (analyze) embedding_queue") in found
    assert ("statistics_due has 2,000 rows and was never analysed", "analyze statistics_due") in found
    assert line(ended, "autovacuum")[:2] == ("WARN", "is off for link")
    assert line(ended, "statistics")[:2] == ("WARN", "out of date in 1 namespace, for 60 minutes")


def test_a_build_of_the_vector_index_that_was_cut_off(run: Run, provider: OpenAIServer, execute: Execute) -> None:
    run("migrate")
    assert line(run("doctor", "--json"), "vector index")[0] == "OK"
    execute(
        "create index fragment_vector_near on fragment_vector using hnsw (embedding halfvec_cosine_ops)",
        "update pg_index set indisvalid = false where indexrelid = 'fragment_vector_near'::regclass",
    )
    ended = run("doctor", "--json")
    assert line(ended, "vector index")[:2] == ("WARN", "half built: a build was cut off")
    assert line(ended, "indexes")[0] == "OK"
