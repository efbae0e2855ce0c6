"""Every command that writes leaves its rows in the audit, and `audit list` shows them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import asyncpg
import pytest

from app.cli.reference import commands
from retrieval.auditing.actions import Action
from tests.app.cli.conftest import Run

LOOKING = {
    "ask", "audit list", "doctor", "domain check", "domain show", "grant explain", "grant list", "namespace list", "pack",
    "principal list", "schema", "token list", "trace replay", "trace show", "trace why", "typed",
}  # fmt: skip
"""Commands that change nothing; those that trace store what they did themselves, for the one who asked."""
ELSEWHERE = {
    "bench": "fills bases of its own",
    "demo": "writes by the same functions as `ingest`, `domain apply` and `token create`, into its own namespaces",
    "eval": "fills a scratch database that goes when it ends",
    "migrate": "its record is the table of migrations",
    "reembed": "tests/retrieval/ingest/test_reembedding.py has two models",
    "serve": "the mutations are those above",
    "worker": "makes vectors and statistics of what was written before",
}
WRITING: Mapping[str, tuple[tuple[str, ...], set[Action]]] = {
    "namespace create": (("docs",), {Action.CREATE_NAMESPACE}),
    "principal add": (("ann",), {Action.UPSERT_PRINCIPAL}),
    "principal add --administrator": (("root",), {Action.MAKE_ADMINISTRATOR}),
    "principal add --service": (("bot",), {Action.UPSERT_PRINCIPAL}),
    "principal add --group": (("team",), {Action.UPSERT_PRINCIPAL}),
    "principal members": (("team", "--set", "ann"), {Action.SET_MEMBERS}),
    "principal acting": (("bot", "--allow"), {Action.LET_ACT}),
    "grant add": (("ann", "-n", "docs"), {Action.GRANT}),
    "grant revoke": (("ann", "-n", "docs"), {Action.REVOKE}),
    "token create": (("ann",), {Action.CREATE_TOKEN}),
    "token revoke": (("1",), {Action.REVOKE_TOKEN}),
    "ingest": (
        ("FOLDER", "-n", "docs", "--no-wait"),
        {Action.INGEST_SOURCES, Action.UPSERT_ENTITIES, Action.RECORD_OBSERVATIONS},
    ),
    "facts load": (("FACTS", "-n", "docs", "--create-entities", "thing"), {Action.ASSERT_FACTS, Action.UPSERT_ENTITIES}),
    "mask": ((), {Action.MASK}),
    "delete": (("a.md", "-n", "docs"), {Action.DELETE_ENTITY}),
    "delete --text": (("b.md", "-n", "docs"), {Action.DELETE_SOURCE}),
    "delete --erase": (("b.md", "-n", "docs"), {Action.ERASE_ENTITY}),
    "domain apply": (("PACK", "-n", "other"), {Action.CREATE_NAMESPACE, Action.APPLY_DOMAIN_PACK}),
    "principal delete": (("ann",), {Action.DELETE_PRINCIPAL}),
    "namespace delete": (("docs", "--confirm", "docs"), {Action.DELETE_NAMESPACE}),
}
"""Every command that writes, in an order in which each finds something to do."""


@pytest.fixture
def files(tmp_path: Path) -> Mapping[str, Path]:
    """What the commands read."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nAlpha.")
    (folder / "b.md").write_text("# B\n\nWrite to ann@example.org.")
    lines = [
        {"key": "svc", "type": "service", "title": "S"},
        {"key": "note", "text": "Seen.", "observedAt": "2026-01-01T00:00:00Z"},
    ]
    (folder / "lines.jsonl").write_text("\n".join(map(json.dumps, lines)))
    facts, pack = tmp_path / "facts.jsonl", tmp_path / "pack.json"
    facts.write_text(json.dumps({"subject": "svc", "predicate": "runs_on", "object": "host-1"}))
    pack.write_text(json.dumps({"name": "team", "version": "1.0.0", "types": {"t": {}}}))
    return {"FOLDER": folder, "FACTS": facts, "PACK": pack}


def unflag(url: str) -> None:
    """Let the base be as one that was filled before personal data were found."""

    async def work() -> None:
        connection = await asyncpg.connect(url)
        try:
            await connection.execute("update source set personal_data = '[]'")
        finally:
            await connection.close()

    asyncio.run(work())


def test_every_command_that_writes_leaves_its_rows(run: Run, base: str, files: Mapping[str, Path]) -> None:
    written = {name.split(" --")[0] for name in WRITING}
    known = [*LOOKING, *ELSEWHERE, *written]
    assert sorted(known) == sorted(name for name, _ in commands()), "give a new command its place in one of the three"
    seen = 0
    for name, (arguments, actions) in WRITING.items():
        if name == "mask":
            unflag(base)
        if name == "domain apply":
            assert run("namespace", "create", "other").code == 0
        ended = run(*name.split(), *(files.get(one, one) for one in arguments))
        assert ended.code == 0, (name, ended)
        rows = run("audit", "list", "--json").json
        assert {row["action"] for row in rows[: len(rows) - seen]} == {action.value for action in actions}, name
        assert {row["principal"] for row in rows} == {"administrator"}
        seen = len(rows)
    erased, *_, stored = run("audit", "list", "--key", "b.md").out.splitlines()
    assert [line.split("\t")[1:5] for line in (erased, stored)] == [
        ["administrator", "", action, "docs"] for action in ("ERASE_ENTITY", "INGEST_SOURCES")
    ]
    assert run("audit", "list", "--action", "grant").out.split("\t")[3:6] == ["GRANT", "docs", "role: READER; principal: ann"]
    assert len(run("audit", "list", "--limit", 2, "--since", "2020-01-01", "--namespace", "docs", "--json").json) == 2
    assert run("audit", "list", "--since", "2999-01-01T00:00:00Z").out == ""
    assert "is no instant" in run("audit", "list", "--since", "yesterday").sentence
