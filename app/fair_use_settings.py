"""The settings about how much of a server one principal may take."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings

MOST = 1_000_000_000


class FairUseSettings(BaseSettings):
    """The fields about budgets."""

    points_per_minute: int = Field(
        default=10_000,
        ge=0,
        le=MOST,
        description="Points (`extensions.cost`) that one principal may use a minute, in all server processes together; after a "
        "minute of rest all at once. 0: no bound.",
    )
    concurrent_requests: int = Field(
        default=20,
        ge=1,
        le=MOST,
        description="Requests of one principal at once in each server process; all principals together may have 200.",
    )
    concurrent_streams: int = Field(
        default=50,
        ge=1,
        le=MOST,
        description="Subscriptions of one principal at once in each server process, over events and sockets together.",
    )
    concurrent_sockets: int = Field(
        default=50,
        ge=1,
        le=MOST,
        description="Open sockets of one principal at once in each server process; all principals together may have 500.",
    )
