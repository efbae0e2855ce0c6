"""Turns what the domain reports into metrics."""

from __future__ import annotations

from app.telemetry import Telemetry


class Watching:
    """An observer that times statements and provider calls as stages."""

    def __init__(self, telemetry: Telemetry) -> None:
        self._telemetry = telemetry

    def statement(self, name: str, seconds: float) -> None:
        """A statement, by the name of its file."""
        self._telemetry.stage(f"sql:{name}", seconds)

    def provider_call(self, name: str, texts: int, seconds: float) -> None:
        """A call to a provider."""
        self._telemetry.stage(f"provider:{name}", seconds)

    def unindexed(self, vectors: int) -> None:
        """Vectors that are compared one by one for want of an index."""
        self._telemetry.unindexed_vectors.set(vectors)

    def degraded(self, part: str, code: str) -> None:
        """A helper that did not help a search."""
        self._telemetry.degraded.labels(part, code).inc()
