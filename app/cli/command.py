"""How each command is declared: with an example in its help, and with --debug."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import rich_click as click


@dataclass(slots=True)
class Invocation:
    """What holds for one call of the program."""

    debug: bool = False


Declared = Callable[[Callable[..., Any]], click.RichCommand]


def command(name: str, *, example: str) -> Declared:
    """Declare a command under this name; the docstring of the function is its help."""

    def declare(function: Callable[..., Any]) -> click.RichCommand:
        made = click.command(name, epilog=f"Example: {example}", context_settings={"show_default": True})
        return made(debug_option(function))

    return declare


def group(name: str, *commands: click.RichCommand, help: str) -> click.RichGroup:
    """A command with commands of its own."""
    example = (commands[0].epilog or "").removeprefix("Example: ")
    made = click.RichGroup(name=name, help=help, epilog=f"Example: {example}")
    for one in commands:
        made.add_command(one)
    return made


def debug_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --debug, which any command takes."""

    def remember(context: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            context.find_root().obj.debug = True

    help = "Show where an error comes from, and log everything."
    return click.option("--debug", is_flag=True, expose_value=False, is_eager=True, callback=remember, help=help)(function)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, and nothing else, on stdout.")


def is_debugging() -> bool:
    """Whether the running command was called with --debug."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().obj.debug)
