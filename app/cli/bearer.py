"""Whose rights a command reads with: those of a bearer token of either kind, or of the administrator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import rich_click as click

from app.config import TOKEN_VARIABLE, Settings
from app.identification import make_signed_tokens
from app.sessions import identity_of_token
from retrieval.identity import Identity

Command = TypeVar("Command", bound=Callable[..., Any])


def token_option(does: str) -> Callable[[Command], Command]:
    """The option of a token; `does` is what the command does with its rights."""
    text = f"{does} with the rights of this bearer token, opaque or signed, instead of as the administrator."
    return click.option("--token", metavar="TOKEN", envvar=TOKEN_VARIABLE, show_envvar=True, help=text)


async def identity_of_option(settings: Settings, token: str | None) -> Identity:
    """Who sends a token, without one the administrator; raises `Unauthenticated`, `ProviderUnavailable`."""
    if token is None:
        return Identity(is_local_administrator=True)
    signed = make_signed_tokens(settings)
    try:
        return await identity_of_token(token, signed)
    finally:
        if signed is not None:
            await signed.close()
