"""A line of the report: what was promised, what was measured, whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A value and the bound that it must not go over; `unit` is part of the text only, `note` says how it came about."""

    name: str
    value: float
    bound: float
    unit: str = "x"
    note: str = ""

    @property
    def passes(self) -> bool:
        """True when the promise is kept."""
        return self.value <= self.bound

    def __str__(self) -> str:
        verdict = "PASS" if self.passes else "FAIL"
        note = f"  ({self.note})" if self.note else ""
        return f"{verdict} {self.name} {self.value:.2f}{self.unit} <= {self.bound:.2f}{self.unit}{note}"
