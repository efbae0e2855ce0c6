"""The stages of a run: those that it needed for some of its fields, or all that were started."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from retrieval.errors import ContextQLError
from retrieval.stage import Running
from retrieval.text_lists import Degradation
from retrieval.tracing.record import StageTrace

MILLISECONDS = 1_000.0


def started(*owners: object) -> list[Running[Any]]:
    """The stages of some objects that were started."""
    return [value for owner in owners for value in vars(owner).values() if isinstance(value, Running)]


def reached(stages: Iterable[Running[Any]]) -> list[Running[Any]]:
    """Stages with all that they waited for, in the order in which they were started."""
    found: dict[int, Running[Any]] = {}
    front = list(stages)
    while front:
        found |= {id(one): one for one in front}
        needs = {id(need): need for one in front for need in one.needs}
        front = [need for key, need in needs.items() if key not in found]
    return sorted(found.values(), key=lambda one: one.record.started)


def traced(stages: Iterable[Running[Any]]) -> tuple[StageTrace, ...]:
    """Stages that have ended, as a trace tells of them."""
    ended = [one for one in reached(stages) if one.done and one.record.seconds is not None]
    first = min((one.record.started for one in ended), default=0.0)
    return tuple(
        StageTrace(
            one.record.name,
            tuple(dict.fromkeys(one.record.needs)),
            MILLISECONDS * (one.record.started - first),
            MILLISECONDS * (one.record.seconds or 0.0),
            counted(one.value),
            note_of(one),
        )
        for one in ended
    )


def counted(value: Any) -> int | None:
    """How many rows a stage gave, where it gave a list."""
    return len(value) if isinstance(value, list | tuple) and not hasattr(value, "_fields") else None


def seconds_of(named: Mapping[str, Any], own: str, shared: str) -> float:
    """How long a list took: by itself, or with the others that it was ranked with."""
    alone, together = named.get(own), named.get(shared)
    if isinstance(alone, Running) and not (isinstance(together, Running) and together in alone.needs):
        return alone.record.seconds or 0.0
    return (together.record.seconds or 0.0) if isinstance(together, Running) else 0.0


def note_of(stage: Running[Any]) -> str | None:
    """The stable code of what broke a stage, or of the helper that did not help it."""
    if isinstance(stage.value, Degradation):
        return stage.value.code
    if stage.failure is None:
        return None
    return stage.failure.code if isinstance(stage.failure, ContextQLError) else "INTERNAL"
