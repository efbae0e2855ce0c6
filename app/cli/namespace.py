"""The commands about namespaces."""

from __future__ import annotations

import sys

import rich_click as click

from app.cli.administration import administer, print_deletion, print_result
from app.cli.command import command, group, json_option
from app.cli.output import print_json, print_rows
from retrieval.administration.namespaces import create_namespace, delete_namespace, list_namespaces
from retrieval.errors import BadInput


@command("create", example='contextql namespace create support --title "Support handbook"')
@click.argument("name")
@click.option("--title", help="Title for people.")
@json_option
def create(name: str, title: str | None, as_json: bool) -> None:
    """Create the namespace NAME, an isolated knowledge base."""
    made = administer(lambda database, caller: create_namespace(database, caller, name, title))
    print_result(as_json, {"name": made.name, "title": made.title}, f"Created namespace {made.name}.")


@command("list", example="contextql namespace list --json")
@json_option
def list_(as_json: bool) -> None:
    """List all namespaces."""
    found = administer(list_namespaces)
    if as_json:
        print_json([{"name": one.name, "title": one.title} for one in found])
    else:
        print_rows(("name", "title"), [(one.name, one.title) for one in found])


@command("delete", example="contextql namespace delete support --confirm support")
@click.argument("name")
@click.option("--confirm", help="The name again; asked for at a terminal when left out.")
@json_option
def delete(name: str, confirm: str | None, as_json: bool) -> None:
    """Delete the namespace NAME with everything in it."""
    if confirm is None:
        if not sys.stdin.isatty():
            raise BadInput(f"Everything in namespace {name!r} would be deleted; repeat its name with --confirm {name}.")
        confirm = click.prompt(f"Everything in {name} will be deleted. Repeat the name", err=True, type=str)
    repeated = str(confirm)
    deletion = administer(lambda database, caller: delete_namespace(database, caller, name, repeated))
    print_deletion(as_json, deletion, f"namespace {name}")


namespace = group("namespace", create, list_, delete, help="Create, list and delete namespaces.")
