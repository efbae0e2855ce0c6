"""Log lines are JSON where machines read them, and every library goes through the same handler."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import logging, sys, structlog
from app.logs import configure_logging
configure_logging(sys.argv[1], "INFO")
structlog.contextvars.bind_contextvars(request_id="r1")
structlog.stdlib.get_logger("contextql.access").info("operation", ms=1.5, name="Поиск")
logging.getLogger("uvicorn.error").warning("from %s", "a library")
logging.getLogger("x").debug("hidden")
logging.getLogger("retrieval.ingest.worker").warning("worker_waits", extra={"reason": "no model", "key": "hidden"})
try:
    1 / 0
except ZeroDivisionError:
    logging.getLogger("y").exception("failed")
logging.getLogger("strawberry.execution").error("repeats the document")
"""


def lines(log_format: str, program: str = PROGRAM) -> list[str]:
    command = [sys.executable, "-c", program, log_format]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stderr.splitlines()


def test_json_lines_hold_fields_and_the_id_of_the_request() -> None:
    access, library, waiting, failure = map(json.loads, lines("json"))
    assert {"event": "operation", "ms": 1.5, "name": "Поиск", "request_id": "r1", "level": "info"}.items() <= access.items()
    assert access["logger"] == "contextql.access"
    assert library["event"] == "from a library"
    assert waiting["reason"] == "no model", "what it waits for is for whoever runs it"
    assert "ZeroDivisionError" in failure["exception"]


def test_a_failure_that_holds_half_a_character_is_still_a_line() -> None:
    program = PROGRAM.replace("1 / 0", "raise ZeroDivisionError(chr(0xDC80))").replace("ms=1.5", "ms=2**70")
    access, _, _, failure = map(json.loads, lines("json", program))
    assert access["ms"] == 2**70
    assert "ZeroDivisionError" in failure["exception"]


def test_no_line_repeats_the_message_of_an_exception_or_what_libraries_write_to_find_faults() -> None:
    program = PROGRAM.replace("1 / 0", "raise ZeroDivisionError('ann@example.com') from ValueError('7707083893')")
    program = program.replace('"INFO")', '"DEBUG")').replace('getLogger("x")', 'getLogger("openai._base_client")')
    program += (
        "logging.getLogger('retrieval.x').debug('ours')\nlogging.getLogger('y').error('told', exc_info=ValueError('4012 8888'))\n"
    )
    said = lines("json", program)
    events = [json.loads(line)["event"] for line in said]
    assert events == ["operation", "from a library", "worker_waits", "failed", "ours", "told"]
    failure = json.loads(said[3])["exception"]
    assert failure.endswith("builtins.ZeroDivisionError < builtins.ValueError")
    assert "<module>" in failure
    for secret in ("ann@", "7707083893", "4012 8888", "hidden"):
        assert secret not in "".join([*said, *lines("console", program)])


def test_fields_that_a_client_left_behind_are_no_line_but_what_we_forget_to_await_is() -> None:
    program = """
from app.logs import configure_logging
configure_logging("json", "INFO")
class Executor:
    def execute_fields(self):
        async def get_results(): ...
        return get_results()
    async def complete_awaitable_value(self): ...
async def ours(): ...
Executor().execute_fields()
Executor().complete_awaitable_value()
ours()
"""
    told = [line for line in lines("json", program) if "never awaited" in line]
    assert len(told) == 1
    assert "coroutine 'ours'" in told[0]


def test_lines_are_json_by_themselves_where_no_terminal_is() -> None:
    assert json.loads(lines("auto")[0])["event"] == "operation"


def test_console_lines_are_for_reading() -> None:
    text = "\n".join(lines("console"))
    assert "operation" in text
    assert "ms=1.5" in text
    assert "repeats the document" not in text


def test_a_line_that_nobody_can_read_any_more_costs_no_answer() -> None:
    program = """
import os, sys, structlog
from app.logs import configure_logging
configure_logging("json", "WARNING")
log = structlog.stdlib.get_logger("contextql.access")
log.info("below the level")
log.warning("read")
read, write = os.pipe()
os.dup2(write, 2)
os.close(read), os.close(write)
log.warning("written to nobody")
print("went on")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=30)
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == ["read"]
    assert done.stdout == "went on\n"
