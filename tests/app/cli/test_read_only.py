"""Commands that only look answer over a database that takes no writes, such as a standby."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg

from tests.app.cli.conftest import Run
from tests.app.cli.test_audit import LOOKING
from tests.app.cli.test_domain import PACK


async def change(url: str, statement: str, *values: object) -> object:
    """Run one statement over a connection of its own; gives the first value."""
    connection = await asyncpg.connect(url)
    try:
        return await connection.fetchval(statement, *values)
    finally:
        await connection.close()


def filled(run: Run, folder: Path) -> dict[str, tuple[object, ...]]:
    """A base with something of everything, and for each command that only looks what it is asked for."""
    page, pack, newer = folder / "pay.md", folder / "books.yaml", folder / "newer.yaml"
    page.write_text("# Pay\n\nSecret zebra.")
    pack.write_text(PACK)
    newer.write_text(PACK.replace("version: 1.0.0", "version: 1.0.1"))
    for command in (
        ("namespace", "create", "docs"), ("principal", "add", "ann"), ("grant", "add", "ann", "-n", "docs"),
        ("domain", "apply", pack, "-n", "docs"), ("token", "create", "ann"), ("ingest", page, "-n", "docs"),
    ):  # fmt: skip
        assert run(*command).code == 0, command
    trace = run("pack", "zebra", "--json").json["traceId"]
    assert trace
    return {
        "ask": ("zebra",), "audit list": (), "doctor": (), "domain check": (newer, "-n", "docs"), "domain show": ("docs",),
        "grant explain": ("ann", "pay.md", "-n", "docs"), "grant list": ("-n", "docs"), "namespace list": (), "pack": ("zebra",),
        "principal list": (), "schema": (), "token list": (), "trace replay": (trace,), "trace show": (trace,),
        "trace why": (trace, "--key", "pay.md"), "typed": ("book", "the whale", "-n", "docs"),
    }  # fmt: skip


def test_commands_that_only_look_answer_where_nothing_can_be_written(
    run: Run, base: str, database_name: str, tmp_path: Path
) -> None:
    asked = filled(run, tmp_path)
    assert set(asked) == LOOKING
    asyncio.run(change(base, f'alter database "{database_name}" set default_transaction_read_only = on'))
    assert run("principal", "add", "bob").sentence == "The database takes no writes now; try again later."
    ended = {name: run(*name.split(), *given) for name, given in asked.items()}
    assert {name: (one.code, one.err) for name, one in ended.items() if one.code or "writes" in one.err} == {}
