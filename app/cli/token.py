"""The commands about bearer tokens."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import rich_click as click

from app.cli.administration import administer, print_deletion
from app.cli.command import command, group, json_option
from app.cli.output import note, print_json, print_rows, say
from retrieval.administration.tokens import Token, create_token, list_tokens, revoke_token


@command("create", example="contextql token create ann --days 90 --label laptop")
@click.argument("principal")
@click.option("--days", type=click.IntRange(1, 36_500), help="Days that it holds; left out, until it is revoked.")
@click.option("--label", help="What it is for, shown in the list.")
@json_option
def create(principal: str, days: int | None, label: str | None, as_json: bool) -> None:
    """Make a token of PRINCIPAL and print it, the one time that it is shown."""
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    made = administer(lambda database, caller: create_token(database, caller, principal, expires_at, label))
    if as_json:
        print_json({"id": made.token_id, "token": made.token, "principal": principal, "expiresAt": expires_at})
    else:
        say(made.token)
        note(f"Token {made.token_id} of {principal}; it is not shown again. Send it as `Authorization: Bearer <token>`.")


@command("list", example="contextql token list --principal ann")
@click.option("--principal", help="Only tokens of this principal.")
@json_option
def list_(principal: str | None, as_json: bool) -> None:
    """List tokens, newest first, without their secrets."""
    found = administer(lambda database, caller: list_tokens(database, caller, principal))
    if as_json:
        print_json(
            [
                {
                    "id": one.token_id, "principal": one.principal, "label": one.label, "createdAt": one.created_at,
                    "expiresAt": one.expires_at, "revokedAt": one.revoked_at,
                }
                for one in found
            ]
        )  # fmt: skip
    else:
        columns = ("id", "principal", "state", "created", "expires", "label")
        print_rows(
            columns, [(one.token_id, one.principal, state_of(one), one.created_at, one.expires_at, one.label) for one in found]
        )


@command("revoke", example="contextql token revoke 3")
@click.argument("token_id", metavar="ID", type=int)
@json_option
def revoke(token_id: int, as_json: bool) -> None:
    """Let the token with this ID hold no longer, from the next request on."""
    deletion = administer(lambda database, caller: revoke_token(database, caller, token_id))
    print_deletion(as_json, deletion, f"token {token_id} that still holds" if not deletion.deleted else f"token {token_id}")


def state_of(token: Token) -> str:
    """Whether a token holds."""
    if token.revoked_at is not None:
        return "revoked"
    if token.expires_at is not None and token.expires_at <= datetime.now(UTC):
        return "expired"
    return "holds"


token = group("token", create, list_, revoke, help="Make, list and revoke bearer tokens.")
