"""The command that puts a file of facts into a namespace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import rich_click as click

from app.cli.command import command, group, json_option
from app.cli.ingest import MANY, ensure_namespace
from app.cli.output import note, print_json, progress_bar, say
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.administration.rights import local_administrator
from retrieval.errors import BadInput
from retrieval.ingest.bulk import refresh_plans
from retrieval.ingest.fact_loading import Loaded, load_facts
from retrieval.outcomes import Outcome

SHOWN = 100
"""So many refused lines are shown one by one; JSON has all."""


@command("load", example="contextql facts load facts.jsonl --namespace team --create-entities thing")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--namespace", "-n", required=True, help="Where to put them.")
@click.option("--create-namespace", "create", is_flag=True, help="Create the namespace if there is none.")
@click.option("--create-entities", "type_", metavar="TYPE", help="Make things of this type for keys that have no entity.")
@json_option
def load(file: Path, namespace: str, create: bool, type_: str | None, as_json: bool) -> None:
    """Assert, change, close and retract the facts in FILE: JSON Lines, one fact a line.

    The same file twice changes nothing. A line that is refused is named, and the others are stored. A line with factId changes
    that fact, with retract as well it retracts it; the ids are in the answer with --json.
    """
    if not file.is_file():
        raise BadInput(f"There is no file {file}.")
    loaded = run(lambda settings: load_file(settings, file, namespace, create, type_), embeds=False)
    if as_json:
        print_json(plain(loaded))
    else:
        show(loaded)
    failed = len(loaded.failed)
    if failed:
        raise click.ClickException(f"{failed:,} of {len(loaded.results):,} lines were refused; the others are stored.")


async def load_file(settings: Settings, file: Path, namespace: str, create: bool, type_: str | None) -> Loaded:
    """Load the file with a bar."""
    async with open_store(settings) as store:
        if create:
            await ensure_namespace(store, namespace)
        with progress_bar() as bar, file.open("rb") as lines:
            task = bar.add_task("Facts", total=None)
            loaded = await load_facts(
                store.database, local_administrator(), namespace, lines, create_type=type_,
                on_progress=lambda done: bar.update(task, completed=done),
            )  # fmt: skip
        if loaded.outcomes[Outcome.CREATED] + loaded.outcomes[Outcome.UPDATED] >= MANY:
            await refresh_plans(store.database)
        return loaded


def plain(loaded: Loaded) -> dict[str, Any]:
    """What became of the lines, as JSON has it."""
    return {
        "outcomes": {outcome.value: loaded.outcomes[outcome] for outcome in Outcome},
        "createdEntities": loaded.created_entities,
        "failed": [{"line": number, "code": one.code, "message": one.message} for number, one in loaded.failed],
        "facts": [
            {"line": number, "factId": one.fact_id, "outcome": one.outcome.value, "conflictsWith": list(one.conflicts_with)}
            for number, one in loaded.results
            if one.fact_id is not None
        ],
    }


def show(loaded: Loaded) -> None:
    """Counts on stdout, refused lines on stderr."""
    for number, one in loaded.failed[:SHOWN]:
        note(one.message or "" if (one.message or "").startswith("Line ") else f"Line {number}: {one.message}")
    if len(loaded.failed) > SHOWN:
        note(f"and {len(loaded.failed) - SHOWN:,} more; --json has all.")
    counts = [f"{loaded.outcomes[outcome]:,} {outcome.value.lower()}" for outcome in Outcome if loaded.outcomes[outcome]]
    conflicts = sum(bool(one.conflicts_with) for _, one in loaded.results)
    counts += [f"{conflicts:,} in conflict"] if conflicts else []
    counts += [f"{loaded.created_entities:,} entities made"] if loaded.created_entities else []
    say((", ".join(counts) or "nothing to store") + ".")


facts = group("facts", load, help="Load facts from files.")
