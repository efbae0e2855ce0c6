"""Bounds how many calls to a chat model are under way at once, in all and of one caller."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

from retrieval.errors import Overloaded


class Calls:
    """Room for calls of one process: `most` in all, `most_of_one` of one caller; nobody waits for it."""

    def __init__(self, most: int, most_of_one: int) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._under_way: Counter[str] = Counter()

    @contextlib.contextmanager
    def of(self, caller: str) -> Iterator[None]:
        """Hold room for one call of the caller, by name, while the block runs; `Overloaded` at once when there is none."""
        if self._under_way[caller] >= self._most_of_one:
            raise Overloaded(f"You have {self._most_of_one} calls to the chat model under way; ask again when one is done.")
        if self._under_way.total() >= self._most:
            raise Overloaded("All calls to the chat model that the server allows are under way; ask again later.")
        self._under_way[caller] += 1
        try:
            yield
        finally:
            self._under_way[caller] -= 1
            if not self._under_way[caller]:
                del self._under_way[caller]
