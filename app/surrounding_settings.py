"""The settings about what stands around the server: proxies before it, a collector of spans beside it."""

from __future__ import annotations

import ipaddress
import re

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from app.identity_settings import Names, separated_by_commas


class SurroundingSettings(BaseSettings):
    """The fields about proxies and the collector."""

    trusted_proxies: Names = Field(
        default=(),
        description="Addresses or networks of proxies, separated by commas, whose `Forwarded` or `X-Forwarded-*` say which "
        "scheme and host a client asked for. From everyone else these headers change nothing.",
    )
    base_path: str = Field(
        default="", description="Path that everything is served under, such as `/kb`, for a proxy that passes it on. Empty: none."
    )
    opentelemetry: bool = Field(
        default=False,
        description="Send spans of operations to an OpenTelemetry collector; `OTEL_*` says where. Needs `contextql[otel]`.",
    )

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def _addresses(cls, value: object) -> object:
        return separated_by_commas(value)

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for one in value:
            try:
                ipaddress.ip_network(one)
            except ValueError:
                raise ValueError(f"{one!r} is no address or network; write 10.0.0.7 or 10.0.0.0/24") from None
        return value

    @field_validator("base_path")
    @classmethod
    def _is_a_path(cls, value: str) -> str:
        if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*", value) or re.search(r"/\.{1,2}(/|$)", value):
            raise ValueError("must look like /kb or /tools/kb, without a slash at the end")
        return value
