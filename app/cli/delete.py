"""The command that takes one thing out of a namespace."""

from __future__ import annotations

import rich_click as click

from app.cli.administration import administer, print_deletion
from app.cli.command import command, json_option
from retrieval.errors import BadInput
from retrieval.ingest.deleting import delete_entity, delete_source
from retrieval.ingest.erasing import erase_entity


@command("delete", example="contextql delete people/ann --namespace support --erase")
@click.argument("key")
@click.option("--namespace", "-n", required=True, help="Where it is.")
@click.option("--text", is_flag=True, help="Only its text; the entity stays, with the facts that others state.")
@click.option("--erase", is_flag=True, help="Leave nothing: also take the observations about it and the links to it.")
@json_option
def delete_command(key: str, namespace: str, text: bool, erase: bool, as_json: bool) -> None:
    """Delete the entity KEY with its text and its facts.

    docs/entities.md has what each of the three ways takes and leaves.
    """
    if text and erase:
        raise BadInput("--text keeps the entity and --erase leaves nothing of it; give one of them.")
    delete = delete_source if text else erase_entity if erase else delete_entity
    deletion = administer(lambda database, caller: delete(database, caller, namespace, key))
    print_deletion(as_json, deletion, f"text of {key}" if text else key)
