"""The command that prints the GraphQL schema."""

from __future__ import annotations

from difflib import unified_diff
from pathlib import Path

import rich_click as click

from app.cli.command import command, json_option
from app.cli.output import print_json, results
from schema.api import make_schema

COMMITTED = Path(__file__).parents[2] / "schema" / "schema.graphql"


@command("schema", example="contextql schema > schema.graphql")
@click.option("--check", type=click.Path(exists=True, dir_okay=False, path_type=Path), is_flag=False, flag_value=COMMITTED,
              help="Compare with a file, by default the committed one; exit code 1 when they differ.")  # fmt: skip
@json_option
def schema_command(check: Path | None, as_json: bool) -> None:
    """Print the GraphQL schema with all its descriptions, or check that a file agrees with it."""
    printed = make_schema().as_str().rstrip() + "\n"
    if check is None:
        if as_json:
            print_json({"schema": printed})
        else:
            results().file.write(printed)
        return
    before = check.read_text(encoding="utf-8")
    differs = list(unified_diff(before.splitlines(), printed.splitlines(), str(check), "this release", lineterm="", n=1))
    if as_json:
        print_json({"agrees": not differs, "differences": differs})
    if differs:
        if not as_json:
            results().file.write("\n".join(differs) + "\n")
        raise click.ClickException(f"{check} differs from the schema of this release; `contextql schema > {check}` renews it.")
