"""Pages, and what stands for values that only the server can make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

OPAQUE = object()
"""A value that only the server can make; any will do, and nothing is compared with it."""
ANYTHING = object()
"""The same of a value that may also be missing, or of a whole that is not looked into."""


@dataclass(frozen=True)
class Page:
    """A page of a list: `items` is all of it, `start` where the page begins."""

    items: list[Any]
    first: int
    start: int = 0
    is_later: bool = False

    @property
    def shown(self) -> list[Any]:
        return self.items[self.start : self.start + self.first]
