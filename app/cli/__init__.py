"""The command line: one command a file, put together here."""

from __future__ import annotations

import sys

import rich_click as click

from app.cli.ask import ask_command
from app.cli.audit import audit
from app.cli.bench import bench_command
from app.cli.command import Invocation
from app.cli.delete import delete_command
from app.cli.demo import demo_command
from app.cli.doctor import doctor_command
from app.cli.domain import domain
from app.cli.evaluation import eval_command
from app.cli.facts import facts
from app.cli.grant import grant
from app.cli.ingest import ingest_command
from app.cli.mask import mask_command
from app.cli.migrate import migrate_command
from app.cli.namespace import namespace
from app.cli.pack import pack_command
from app.cli.principal import principal
from app.cli.reembed import reembed_command
from app.cli.running import explained
from app.cli.schema import schema_command
from app.cli.serve import serve_command, worker_command
from app.cli.token import token
from app.cli.trace import trace
from app.cli.typed import typed_command

PROGRAM = "contextql"

cli = click.RichGroup(
    name=PROGRAM,
    help="ContextQL: ask documents, entities and facts a question, and get back exactly what you select.\n\n"
    "Settings are CB_ variables (docs/configuration.md). Every command works beside a running server.",
    epilog="Example: contextql demo",
)
for one in (
    demo_command, serve_command, ask_command, pack_command, typed_command, trace, ingest_command, facts, delete_command,
    namespace, domain, principal, grant, token, audit, migrate_command, worker_command, reembed_command, mask_command,
    eval_command, bench_command, schema_command, doctor_command,
):  # fmt: skip
    cli.add_command(one)


def main(arguments: list[str] | None = None) -> None:
    """Run one command and end with its code."""
    invocation = Invocation()
    with explained(invocation):
        sys.exit(cli.main(arguments, prog_name=PROGRAM, standalone_mode=False, obj=invocation) or 0)
