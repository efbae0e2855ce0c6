"""What the doctor finds: one line a thing, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad a finding is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: what was looked at, what was found, and what to do about it unless all is well."""

    level: Level
    name: str
    found: str
    advice: str | None = None


def ok(name: str, found: str) -> Finding:
    """All is well."""
    return Finding(Level.OK, name, found)


def warn(name: str, found: str, advice: str) -> Finding:
    """It works, and should be looked at."""
    return Finding(Level.WARN, name, found, advice)


def fail(name: str, found: str, advice: str) -> Finding:
    """It does not work."""
    return Finding(Level.FAIL, name, found, advice)


def counted(number: int, noun: str) -> str:
    """A number of things.

    >>> counted(1, "token"), counted(2, "token")
    ('1 token', '2 tokens')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
