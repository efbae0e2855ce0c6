"""Writes docs/cli.md out of the commands themselves: `python -m app.cli.reference > docs/cli.md`."""

from __future__ import annotations

from collections.abc import Iterator

import rich_click as click

from app.cli import PROGRAM, cli

OPENING = """# Command line

Settings are `CB_` variables, see [configuration.md](configuration.md). Every command works beside a running server on the same
`CB_DATA_DIR`. Results go to stdout, everything else to stderr; with `--json` stdout holds JSON and nothing else. The exit code is
0 when all is well, 1 with one sentence on stderr when something failed, 2 when the call or the configuration cannot be used.
`--debug` shows where an error comes from. This page is made by `python -m app.cli.reference`.
"""


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with the words that call it, in the order of the help."""
    for name, command in sorted(cli.commands.items()):
        if isinstance(command, click.Group):
            for part, inner in command.commands.items():
                yield f"{name} {part}", inner
        else:
            yield name, command


def example_of(command: click.Command) -> str:
    """The call that its help shows."""
    return (command.epilog or "").removeprefix("Example: ")


def reference_page() -> str:
    """The text of docs/cli.md."""
    return "\n".join([OPENING, *(section(name, command) for name, command in commands())])


def section(name: str, command: click.Command) -> str:
    """One command: how it is called, what it does, its options."""
    context = click.Context(command, info_name=f"{PROGRAM} {name}", show_default=True)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    help = " ".join((command.help or "").replace("\n\n", "\n¶\n").split()).replace(" ¶ ", "\n\n")
    options = [line for parameter in command.params for line in option_line(parameter, context)]
    table = ["| option | meaning |", "|---|---|", *options, ""] if options else []
    return "\n".join(
        [f"## {PROGRAM} {name}", "", help, "", "```console", f"$ {example_of(command)}", "```", "", f"`{usage}`", "", *table]
    )


def option_line(parameter: click.Parameter, context: click.Context) -> Iterator[str]:
    """A row of the table; nothing for arguments and for what every command has."""
    record = parameter.get_help_record(context)
    if record is not None and isinstance(parameter, click.Option) and parameter.name != "debug":
        spelling, meaning = (cell.replace("|", "\\|") for cell in record)
        yield f"| `{spelling}` | {meaning} |"


if __name__ == "__main__":
    print(reference_page(), end="")
