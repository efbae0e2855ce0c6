"""Sets up logging: readable lines for a terminal or JSON lines for machines, with the request's id in each."""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Literal, TextIO

import orjson
import structlog

from schema.errors import describe

LogFormat = Literal["auto", "json", "console"]
NOISY = ("uvicorn.access", "strawberry.execution", "strawberry.ws.task")
# A client that leaves cancels fields of its operation that were named and not begun. Nothing of them runs; Python tells of each.
DROPPED = r"coroutine '(GraphQLCoreConverter|Executor|PlainFieldsFirst)\.[\w.<>]+' was never awaited"
OURS = ("contextql", "app", "schema", "resolvers", "retrieval")
TOLD = ("reason", "namespace", "table", "seconds")
"""What our own lines of the standard library say beside their event; nothing that is stored is among it."""


def configure_logging(log_format: LogFormat = "auto", level: str = "INFO") -> None:
    """Send structlog and the standard library through one handler on stderr."""
    handler, renderer = logging.StreamHandler(sys.stderr), _renderer(log_format)
    structlog.configure(
        processors=[*SHARED, renderer],
        logger_factory=cache(lambda name="contextql": LineLogger(name, handler)),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.ExtraAdder(TOLD), *SHARED],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    if level == "DEBUG":  # libraries write out frames and prompts then
        logging.getLogger().setLevel("INFO")
        for name in OURS:
            logging.getLogger(name).setLevel(level)
    warnings.filterwarnings("ignore", DROPPED, RuntimeWarning)
    # These repeat requests line by line, or print values that a caller sent.
    for name in NOISY:
        logging.getLogger(name).disabled = True


class LineLogger:
    """Writes lines of our own where those of libraries go; records of the standard library cost as much as all the rest."""

    def __init__(self, name: str, handler: logging.StreamHandler[TextIO]) -> None:
        self.name = name
        self._levels = logging.getLogger(name)
        self._handler = handler

    def debug(self, line: str) -> None:
        """Write a line of level DEBUG."""
        self._write(logging.DEBUG, line)

    def info(self, line: str) -> None:
        """Write a line of level INFO."""
        self._write(logging.INFO, line)

    def warning(self, line: str) -> None:
        """Write a line of level WARNING."""
        self._write(logging.WARNING, line)

    def error(self, line: str) -> None:
        """Write a line of level ERROR."""
        self._write(logging.ERROR, line)

    exception = critical = error

    def _write(self, level: int, line: str) -> None:
        if self._levels.isEnabledFor(level):
            with suppress(OSError, ValueError):  # where nobody reads any more: it must not cost an answer
                self._handler.stream.write(f"{line}\n")
                self._handler.flush()


def without_messages(logger: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Where an exception came from, without its message: those of databases and parsers repeat texts and values."""
    raised = event.pop("exc_info", None)
    error = raised if isinstance(raised, BaseException) else raised[1] if isinstance(raised, tuple) else sys.exception()
    if raised and error is not None:
        found = describe(error)
        state = [f"SQLSTATE {found['sqlstate']}"] if found["sqlstate"] else []
        event["exception"] = "\n".join([*found["frames"], " < ".join(found["raised"]), *state])
    return event


SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    without_messages,
]


def _renderer(log_format: LogFormat) -> structlog.typing.Processor:
    if log_format == "console" or (log_format == "auto" and sys.stderr.isatty()):
        return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    return structlog.processors.JSONRenderer(serializer=_json)


def _json(event: object, default: Callable[[object], object], **_: object) -> str:
    try:
        return orjson.dumps(event, default).decode()
    except orjson.JSONEncodeError:  # half a character, or a number beyond 64 bits: it must not cost the line
        return json.dumps(event, default=default)
