"""The command about the audit: who wrote what, and what services read for users."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime

import rich_click as click

from app.cli.administration import administer
from app.cli.command import command, group, json_option
from app.cli.output import print_json, print_rows
from retrieval.auditing.actions import Action
from retrieval.auditing.listing import Entry, Wanted, list_audit
from retrieval.errors import BadInput

KEYS_SHOWN = 3


@command("list", example="contextql audit list --namespace support --key salaries.md")
@click.option("--namespace", "-n", help="Only what was done or read there.")
@click.option("--principal", help="Only of this principal, or of this service for somebody.")
@click.option("--key", help="Only what was done to the entity under this key, also when it is gone or erased.")
@click.option("--action", type=click.Choice([one.value for one in Action], case_sensitive=False), help="Only this.")
@click.option(
    "--since", metavar="INSTANT", help="Only from then on, such as 2026-09-05 or 2026-09-05T12:00:00Z; UTC without a zone."
)
@click.option("--limit", type=click.IntRange(1, 100_000), default=100, help="How many at most.")
@json_option
def list_(
    namespace: str | None, principal: str | None, key: str | None, action: str | None, since: str | None, limit: int,
    as_json: bool,
) -> None:  # fmt: skip
    """List who wrote what, and what services read for users, newest first.

    Shows the keys of entities that are still there; docs/operation.md says what leaves a row.
    """
    chosen = None if action is None else Action(action.upper())
    wanted = Wanted(namespace, principal, key, chosen, None if since is None else instant(since), limit)
    found = administer(lambda database, caller: list_audit(database, caller, wanted))
    if as_json:
        print_json([plain(one) for one in found])
    else:
        columns = ("at", "principal", "service", "action", "namespaces", "what", "outcome", "request")
        print_rows(columns, [row(one) for one in found])


def instant(text: str) -> datetime:
    """An instant out of its text."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"--since {text!r} is no instant; write 2026-09-05 or 2026-09-05T12:00:00Z.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def plain(entry: Entry) -> dict[str, object]:
    """A row as JSON has it."""
    value = asdict(entry)
    return {"requestId" if name == "request_id" else name: part for name, part in value.items()}


def row(entry: Entry) -> tuple[object, ...]:
    """A row for people."""
    keys = list(entry.keys[:KEYS_SHOWN]) + (["…"] if entry.items > KEYS_SHOWN and entry.keys else [])
    what = [f"{name}: {', '.join(part) if isinstance(part, list) else part}" for name, part in entry.what.items() if part != []]
    outcome = ", ".join(f"{number} {name}" for name, number in entry.outcome.items() if number)
    return (
        f"{entry.at:%Y-%m-%d %H:%M:%S}", entry.principal, entry.service, entry.action, ", ".join(entry.namespaces),
        "; ".join([", ".join(keys), *what] if keys else what), outcome, entry.request_id,
    )  # fmt: skip


audit = group("audit", list_, help="List who wrote what, and what services read for users.")
