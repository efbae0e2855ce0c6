"""Runs what a command does: settings, logging, an event loop that ends in order, one sentence when something fails."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine, Iterator
from types import FrameType
from typing import Any, TypeVar

import rich_click as click
import uvloop

from app.cli.command import Invocation, is_debugging
from app.cli.output import note
from app.config import BadConfiguration, Settings, load_settings
from app.logs import configure_logging
from retrieval.errors import ContextQLError

Result = TypeVar("Result")


class Terminated(Exception):
    """SIGTERM came while a command was at work."""


def run(work: Callable[[Settings], Coroutine[Any, Any, Result]], *, embeds: bool = True, quiet: bool = True) -> Result:
    """Do the work of a command with the settings of the environment; Ctrl+C and SIGTERM let it clean up.

    `embeds` is whether it needs the provider of vectors; the local model takes a second to load. `quiet` commands log
    warnings only.
    """
    settings = load_settings()
    if not embeds:
        settings = settings.model_copy(update={"embedding_provider": "none", "next_embedding_provider": None})
    set_up_logging(settings, quiet)
    return run_async(work(settings))


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end on a loop of its own."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(ended_by_sigterm(work))


async def ended_by_sigterm(work: Coroutine[Any, Any, Result]) -> Result:
    """Let SIGTERM cancel the work, as Ctrl+C does, so that it cleans up; raises `Terminated` then."""
    task, came = asyncio.current_task(), []
    assert task is not None

    def end(number: int, frame: FrameType | None) -> None:
        came.append(number)
        task.cancel()

    before = signal.signal(signal.SIGTERM, end)
    try:
        return await work
    except asyncio.CancelledError:
        if came:
            raise Terminated from None
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def set_up_logging(settings: Settings, quiet: bool) -> None:
    """Log as the settings say; a command that prints its own result only says what is wrong."""
    debugging = is_debugging()
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    if quiet:
        level = max(level, logging.WARNING)
    configure_logging(settings.log_format, logging.getLevelName(logging.DEBUG if debugging else level))


@contextlib.contextmanager
def explained(invocation: Invocation) -> Iterator[None]:
    """Turn whatever ends a command into one sentence on stderr and an exit code."""
    try:
        yield
    except click.ClickException as error:
        fail(invocation, error, error.format_message(), error.exit_code)
    except BadConfiguration as error:
        fail(invocation, error, "\n".join(error.mistakes), 2)
    except ContextQLError as error:
        fail(invocation, error, error.message, 1)
    except Terminated as error:
        fail(invocation, error, "Stopped by SIGTERM.", 128 + signal.SIGTERM)
    except (click.Abort, KeyboardInterrupt, asyncio.CancelledError) as error:
        fail(invocation, error, "Stopped.", 128 + signal.SIGINT)
    except BrokenPipeError:
        sys.stdout = None  # whoever read the output has gone; nothing may be flushed at the end
        sys.exit(1)
    except ExceptionGroup as group:
        explain_first(group, invocation)
    except Exception as error:
        sentence = f"Something unexpected went wrong ({type(error).__name__}: {first_line(error)}); --debug shows where."
        fail(invocation, error, sentence, 1)


def explain_first(group: ExceptionGroup[Exception], invocation: Invocation) -> None:
    """Of several things that went wrong at once, the first is the cause."""
    with explained(invocation):
        raise group.exceptions[0]


def fail(invocation: Invocation, error: BaseException, sentence: str, code: int) -> None:
    """Say why and end."""
    if invocation.debug:
        traceback.print_exception(error)
    for line in sentence.splitlines():
        note(line)
    sys.exit(code)


def first_line(error: BaseException) -> str:
    """What an error says about itself, on one line."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else "no message"
