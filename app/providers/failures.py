"""What can go wrong between us and a server of OpenAI's protocol, and how long to wait before another attempt."""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

from openai import APIStatusError

from retrieval.errors import ProviderUnavailable

FIRST_PAUSE_SECONDS = 0.5  # doubled at each further attempt
LONGEST_PAUSE_SECONDS = 30.0


class Failed(ProviderUnavailable):
    """Another attempt would fail as well."""


class Refused(Failed):
    """The provider is well and does not take this input."""


class Passing(ProviderUnavailable):
    """Another attempt may succeed, after `hint` seconds if the provider said so."""

    def __init__(self, message: str, hint: float | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class RateLimited(Passing):
    """The provider is well and asks to wait."""


HEALTHY = (Refused, RateLimited)
"""What a breaker does not count."""


def failure_of(error: APIStatusError, provider: str, *, model: str, shape: str) -> ProviderUnavailable:
    """What a status means; the body is not quoted, because it may hold texts or parts of a key.

    `model` is the variable that names the model, `shape` the variables to check when the input is refused.
    """
    status = error.status_code
    said = f"The {provider} answered {status}"
    if status in (400, 413, 422):
        return Refused(f"{said}: it does not take this input; check {shape}.")
    if status in (401, 403):
        return Failed(f"{said}; check CB_OPENAI_API_KEY.")
    if status == 404:
        return Failed(f"{said}; check CB_OPENAI_BASE_URL and {model}.")
    if status == 429:
        return RateLimited(f"{said}: too many requests.", _hint(error))
    if status in (408, 409) or status >= 500:
        return Passing(f"{said}.", _hint(error))
    return Failed(f"{said}.")


def unreachable(provider: str) -> Passing:
    """No answer at all, or one that broke off."""
    return Passing(f"The {provider} cannot be reached; check CB_OPENAI_BASE_URL.")


def pause_before_next(attempt: int, hint: float | None) -> float:
    """Seconds to the next attempt: the hint and up to a quarter more, so that clients do not come back together."""
    base = FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1) if hint is None else max(hint, 0.0)
    return base * random.uniform(1.0, 1.25)


def _hint(error: APIStatusError) -> float | None:
    """The seconds to wait that a reply names, in any of the three forms in use."""
    headers = error.response.headers
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "")
        return max(0.0, float(value)) if value[:1].isdigit() else parsedate_to_datetime(value).timestamp() - time.time()
    except (ValueError, TypeError):
        return None
