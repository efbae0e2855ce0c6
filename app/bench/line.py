"""A line of the report: what was promised, what was measured, whether it holds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A value and its bound: it must not go over it, or with `least` not under it.

    `unit` and `digits` are part of the text only, `note` says how the value came about.
    """

    name: str
    value: float
    bound: float
    unit: str = "x"
    note: str = ""
    least: bool = False
    digits: int = 2

    @property
    def passes(self) -> bool:
        """True when the promise is kept."""
        return self.value >= self.bound if self.least else self.value <= self.bound

    def __str__(self) -> str:
        verdict, sign = "PASS" if self.passes else "FAIL", ">=" if self.least else "<="
        value, bound = (f"{number:.{self.digits}f}{self.unit}" for number in (self.value, self.bound))
        note = f"  ({self.note})" if self.note else ""
        return f"{verdict} {self.name} {value} {sign} {bound}{note}"
