"""The command that puts a file or a folder into a namespace and waits until it is searchable by meaning."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rich_click as click
from rich.progress import Progress

from app.cli.command import command, json_option
from app.cli.output import note, print_json, progress_bar, say
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.administration.namespaces import create_namespace, list_namespaces
from retrieval.administration.rights import local_administrator
from retrieval.ingest.bulk import refresh_plans
from retrieval.ingest.folder import SkippedFile
from retrieval.ingest.queue import embed_pending, pending
from retrieval.ingest.sync import Progress as Step
from retrieval.ingest.sync import Report, Shape, ingest_folder
from retrieval.ingest.vector_index import tend_index
from retrieval.outcomes import Outcome
from retrieval.question import EntityKind
from retrieval.store import Store

MANY = 1_000
"""So many new documents at once change what the planner should know."""
KINDS = [kind.value for kind in EntityKind]


@dataclass(frozen=True, slots=True)
class Given:
    """What the command was asked to do."""

    path: Path
    namespace: str
    shape: Shape
    sync: bool
    create: bool
    wait: bool


@command("ingest", example="contextql ingest handbook --namespace support --create-namespace --sync")
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--namespace", "-n", required=True, help="Where to put it.")
@click.option("--create-namespace", "create", is_flag=True, help="Create the namespace if there is none.")
@click.option("--sync", is_flag=True, help="Remove what came from this folder and has gone from it.")
@click.option("--source-path", metavar="PREFIX", help="Shown to people before the path of each file.")
@click.option("--kind", type=click.Choice(KINDS, case_sensitive=False), default="DOCUMENT", help="Kind of the entities.")
@click.option("--type", "type_", default="document", help="Type of the entities, a word of your own.")
@click.option("--restricted/--open", default=None, show_default=False, help="Restrict them, or open them to all readers.")
@click.option("--reader", "readers", multiple=True, metavar="PRINCIPAL", help="Who reads them when restricted; repeatable.")
@click.option("--wait/--no-wait", default=True, help="Embed here what waits, or leave that to the server.")
@json_option
def ingest_command(
    path: Path, namespace: str, create: bool, sync: bool, source_path: str | None, kind: str, type_: str,
    restricted: bool | None, readers: tuple[str, ...], wait: bool, as_json: bool,
) -> None:  # fmt: skip
    """Put the file or folder PATH into a namespace: Markdown, HTML, text and JSON Lines.

    The key of a file is its path inside the folder. What has not changed is left alone. --kind and --type are for files; lines
    of JSON Lines say theirs. A line with `content` is a source (a conversation of kind EPISODE), one with `text` an observation,
    one with neither an entity; `contextql facts load` takes facts.
    """
    restricted = True if readers and restricted is None else restricted
    shape = Shape(kind.upper(), type_, source_path, restricted, tuple(readers) or None)
    report, left = run(lambda settings: ingest(settings, Given(path, namespace, shape, sync, create, wait)), embeds=wait)
    if as_json:
        print_json(plain(report, left))
    else:
        show(report, left)
    failed = len(report.failed) + len(unreadable(report))
    if failed:
        raise click.ClickException(f"{failed} of {failed + stored(report)} could not be stored; the others are.")


async def ingest(settings: Settings, given: Given) -> tuple[Report, int]:
    """Store the folder; gives the report, and how many fragments still wait for their vector."""
    async with open_store(settings) as store:
        if given.create:
            await ensure_namespace(store, given.namespace)
        with progress_bar() as bar:
            report = await store_folder(store, given, bar)
            left = await embed_all(store, given.namespace, bar, given.wait)
            if report.outcomes[Outcome.CREATED] + report.outcomes[Outcome.UPDATED] >= MANY:
                await refresh_plans(store.database)
            if given.wait:
                await tend_index(store, uuid.uuid4().hex, load_is_over=True)
            return report, left


async def ensure_namespace(store: Store, name: str) -> None:
    """Create the namespace unless it is there."""
    known = {one.name for one in await list_namespaces(store.database, local_administrator())}
    if name not in known:
        await create_namespace(store.database, local_administrator(), name)


async def store_folder(store: Store, given: Given, bar: Progress) -> Report:
    """Store the files with a bar."""
    task = bar.add_task("Storing", total=None)

    def advance(step: Step) -> None:
        bar.update(task, completed=step.done, total=step.total)

    return await ingest_folder(
        store.database, store.base, local_administrator(), given.namespace, given.path,
        shape=given.shape, sync=given.sync, on_progress=advance,
    )  # fmt: skip


async def embed_all(store: Store, namespace: str, bar: Progress, wait: bool) -> int:
    """Work on the queue beside whoever else does until nothing of the namespace waits; gives what is left.

    Ends early when nothing is due: what failed is tried again later, by the server or a worker.
    """
    spaces = [one.ns for one in await list_namespaces(store.database, local_administrator()) if one.name == namespace]
    left = total = await pending(store.database, spaces)
    if not wait or store.embedder is None or not left:
        return left
    task, idle = bar.add_task("Embedding", total=total), 0
    while left and idle < 3:
        claimed = await embed_pending(store, store.embedder.batch_size)
        before, left = left, await pending(store.database, spaces)
        idle = 0 if left < before else idle + 1
        bar.update(task, completed=total - left)
        if not claimed:
            await asyncio.sleep(0.5)
    return left


def plain(report: Report, left: int) -> dict[str, Any]:
    """The report as JSON has it."""
    return {
        "outcomes": {outcome.value: report.outcomes[outcome] for outcome in Outcome},
        "failed": [{"key": one.key, "code": one.code, "message": one.message} for one in report.failed],
        "skipped": [{"key": one.key, "reason": one.reason, "expected": one.expected} for one in report.skipped],
        "removed": report.removed,
        "pendingEmbeddings": left,
    }


def show(report: Report, left: int) -> None:
    """The report for people: counts on stdout, what needs attention on stderr."""
    for result in report.failed:
        note(f"{result.key}: {result.message}")
    for file in unreadable(report):
        note(f"{file.key} {file.reason}")
    say((", ".join(counts(report)) or "nothing to store") + ".")
    if left:
        advice = "a server or `contextql worker` makes it, `contextql doctor` says why they wait."
        note(f"{left} fragments wait for their vector; {advice}")


def counts(report: Report) -> list[str]:
    """How many of each, without those that are none."""
    others = len(report.skipped) - len(unreadable(report))
    numbers = {outcome.value.lower(): report.outcomes[outcome] for outcome in Outcome}
    numbers |= {"of other kinds left out": others, "removed": len(report.removed)}
    return [f"{number} {what}" for what, number in numbers.items() if number]


def unreadable(report: Report) -> list[SkippedFile]:
    """Files of a kind that is read which could not be."""
    return [file for file in report.skipped if not file.expected]


def stored(report: Report) -> int:
    """How many sources are stored as they were given."""
    return sum(report.outcomes[outcome] for outcome in Outcome if outcome is not Outcome.FAILED)
