"""What the commands about namespaces, principals, grants and tokens share: the administrator at the machine, and their output."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import rich_click as click

from app.cli.output import print_json, say
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.access import Caller
from retrieval.administration.rights import local_administrator
from retrieval.database import Database
from retrieval.outcomes import Deletion, ItemResult, Outcome

Result = TypeVar("Result")


def administer(work: Callable[[Database, Caller], Awaitable[Result]]) -> Result:
    """Do the work as the administrator, whom whoever can read the configuration is."""

    async def open_and_work(settings: Settings) -> Result:
        async with open_store(settings) as store:
            return await work(store.database, local_administrator())

    return run(open_and_work, embeds=False)


def print_result(as_json: bool, value: dict[str, Any], sentence: str) -> None:
    """One result, as JSON or as a sentence."""
    if as_json:
        print_json(value)
    else:
        say(sentence)


def print_deletion(as_json: bool, deletion: Deletion, what: str) -> None:
    """What a deletion took; nothing to delete is a failure."""
    if not deletion.deleted:
        raise click.ClickException(f"There is no {what}.")
    counts = ", ".join(f"{number} {kind}" for kind, number in deletion.counts.items() if number)
    print_result(
        as_json, {"deleted": True, "counts": dict(deletion.counts)}, f"Deleted {what}" + (f": {counts}." if counts else ".")
    )


def refuse_failure(result: ItemResult) -> ItemResult:
    """The result of one item, or its failure as the command's."""
    if result.outcome is Outcome.FAILED:
        raise click.ClickException(result.message or "It failed.")
    return result
