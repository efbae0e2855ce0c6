"""A breaker: after several failures in a row a provider is left alone for a while, then tried by one call."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from retrieval.errors import ProviderUnavailable

FAILURES = 5
PAUSE_SECONDS = 5.0


class Breaker:
    """Counts the failures of one provider; `attempt` wraps each call to it."""

    def __init__(self, name: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._name = name
        self._clock = clock
        self._failures = 0
        self._closed_again_at = 0.0

    @property
    def is_open(self) -> bool:
        """Whether calls are refused now without asking the provider."""
        return self._failures >= FAILURES and self._clock() < self._closed_again_at

    @contextlib.contextmanager
    def attempt(self, healthy: tuple[type[Exception], ...] = ()) -> Iterator[None]:
        """Refuse at once while open; else count how the block ends: well, too, with one of `healthy`. A cancelled call counts
        as neither."""
        if self.is_open:
            raise ProviderUnavailable(f"The {self._name} failed {self._failures} times in a row and is left alone for now.")
        is_trial = self._failures >= FAILURES
        if is_trial:  # by one call; should it take long, the next is tried after a pause like this one
            self._closed_again_at = self._clock() + PAUSE_SECONDS
        try:
            yield
        except healthy:
            self._failures = 0
            raise
        except Exception:
            self._failures += 1
            self._closed_again_at = self._clock() + PAUSE_SECONDS
            raise
        except BaseException:
            if is_trial:
                self._closed_again_at = 0.0
            raise
        else:
            self._failures = 0
