"""The commands about rights: who may do what in a namespace, and why somebody sees or does not see something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rich_click as click

from app.cli.administration import administer, print_result, refuse_failure
from app.cli.command import command, group, json_option
from app.cli.output import print_json, print_rows, say
from retrieval.access import ROLES
from retrieval.administration import grants
from retrieval.administration.explaining import explain as explain_rights
from retrieval.outcomes import Outcome

namespace_option = click.option("--namespace", "-n", required=True, help="The namespace that it is about.")


def right_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is given or taken back."""
    for option in (
        json_option,
        click.option("--key", help="Only reading of the one restricted entity under this key."),
        click.option("--role", type=click.Choice(ROLES, case_sensitive=False), default="READER", help="The role."),
        namespace_option,
        click.argument("principal"),
    ):
        function = option(function)
    return function


@command("add", example="contextql grant add support-team --namespace support --role READER")
@right_options
def add(principal: str, namespace: str, role: str, key: str | None, as_json: bool) -> None:
    """Give PRINCIPAL a role in a namespace, or reading of one restricted entity."""
    result = administer(lambda database, caller: grants.grant(database, caller, principal, namespace, role, key))
    changed = refuse_failure(result).outcome is Outcome.CREATED
    report(as_json, changed, f"{principal} {'now holds' if changed else 'held already'} {held(role, namespace, key)}.")


@command("revoke", example="contextql grant revoke support-team --namespace support --role READER")
@right_options
def revoke(principal: str, namespace: str, role: str, key: str | None, as_json: bool) -> None:
    """Take back what was given to PRINCIPAL, from the next request on."""
    result = administer(lambda database, caller: grants.revoke(database, caller, principal, namespace, role, key))
    changed = refuse_failure(result).outcome is Outcome.UPDATED
    report(as_json, changed, f"{principal} {'no longer holds' if changed else 'did not hold'} {held(role, namespace, key)}.")


@command("list", example="contextql grant list --namespace support")
@namespace_option
@click.option("--principal", help="Only what this principal holds itself.")
@json_option
def list_(namespace: str, principal: str | None, as_json: bool) -> None:
    """List who holds what in a namespace."""
    found = administer(lambda database, caller: grants.list_grants(database, caller, namespace, principal))
    if as_json:
        print_json([{"principal": one.principal, "kind": one.kind, "role": one.role, "key": one.entity_key} for one in found])
    else:
        rows = [(one.principal, one.kind, one.role, one.entity_key) for one in found]
        print_rows(("principal", "kind", "role", "entity"), rows)


@command("explain", example="contextql grant explain ann salaries.md")
@click.argument("principal")
@click.argument("key", required=False)
@click.option("--namespace", "-n", help="Where it is; left out: the one namespace that has KEY.")
@json_option
def explain(principal: str, key: str | None, namespace: str | None, as_json: bool) -> None:
    """Say why PRINCIPAL sees, or does not see, the entity under KEY, and whether personal data in it are masked.

    Without a key it is about the namespace. Groups that a signed token names are not known here; ask for them by their own name,
    such as https://login.example.org#staff.
    """
    found = administer(lambda database, caller: explain_rights(database, caller, principal, namespace, key))
    if as_json:
        print_json({"visible": found.visible, "masked": found.masked, "sentences": found.sentences})
        return
    say(f"{'Visible' if found.visible else 'Not visible'}: {key or namespace}")
    for sentence in found.sentences:
        say(f"  {sentence}")


def report(as_json: bool, changed: bool, sentence: str) -> None:
    """What became of a right."""
    print_result(as_json, {"changed": changed}, sentence)


def held(role: str, namespace: str, key: str | None) -> str:
    """A right in words."""
    return f"{role} in {namespace}" if key is None else f"reading of {key} in {namespace}"


grant = group("grant", add, revoke, list_, explain, help="Give, take back, list and explain rights.")
