"""Lets a bounded number of operations run at once and refuses the surplus at once."""

from __future__ import annotations

from app.telemetry import Telemetry


class Admission:
    """A counter with a ceiling; nobody waits, because a queue would only grow under overload."""

    def __init__(self, most: int, telemetry: Telemetry) -> None:
        self._most = most
        self._running = 0
        self._gauge = telemetry.in_flight
        self._refusals = telemetry.refusals.labels("server")

    def enter(self) -> Slot | None:
        """Take a slot, or None when all are taken."""
        if self._running >= self._most:
            self._refusals.inc()
            return None
        self._running += 1
        self._gauge.set(self._running)
        return Slot(self)

    def leave(self) -> None:
        """Give a slot back."""
        self._running -= 1
        self._gauge.set(self._running)


class Slot:
    """One taken place; giving it back twice is harmless."""

    def __init__(self, admission: Admission) -> None:
        self._admission: Admission | None = admission

    def leave(self) -> None:
        """Make room for another operation."""
        admission, self._admission = self._admission, None
        if admission is not None:
            admission.leave()
