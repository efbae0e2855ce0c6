"""The commands about principals: users, groups and services."""

from __future__ import annotations

import rich_click as click

from app.cli.administration import administer, print_deletion, print_result, refuse_failure
from app.cli.command import command, group, json_option
from app.cli.output import print_json, print_rows
from retrieval.access import Caller
from retrieval.administration.members import list_members, set_members
from retrieval.administration.principals import (
    PrincipalInput,
    delete_principal,
    let_act,
    list_principals,
    make_administrator,
    upsert_principal,
)
from retrieval.database import Database
from retrieval.errors import BadInput
from retrieval.outcomes import Outcome


@command("add", example='contextql principal add ann --title "Ann Lee"')
@click.argument("name")
@click.option("--group", "is_group", is_flag=True, help="A group of principals.")
@click.option("--service", "is_service", is_flag=True, help="A program.")
@click.option("--title", help="Title for people.")
@click.option("--administrator", is_flag=True, help="Let it do everything everywhere; only the command line can say so.")
@json_option
def add(name: str, is_group: bool, is_service: bool, title: str | None, administrator: bool, as_json: bool) -> None:
    """Add the principal NAME, a user unless said otherwise, or change its title."""
    if is_group and is_service:
        raise BadInput("--group and --service contradict each other; give one of them.")
    given = PrincipalInput(name, "GROUP" if is_group else "SERVICE" if is_service else "USER", title)

    async def store(database: Database, caller: Caller) -> Outcome:
        if administrator:
            return await make_administrator(database, given)
        return refuse_failure(await upsert_principal(database, caller, given)).outcome

    outcome = administer(store)
    value = {"name": name, "kind": given.kind, "administrator": administrator, "outcome": outcome.value}
    what = f"{'administrator' if administrator else given.kind.lower()} {name}"
    print_result(as_json, value, f"{outcome.value.capitalize()}: {what}.")


@command("list", example="contextql principal list")
@json_option
def list_(as_json: bool) -> None:
    """List all principals with the groups they are members of themselves."""
    found = administer(list_principals)
    if as_json:
        print_json(
            [
                {
                    "name": one.name,
                    "kind": one.kind,
                    "title": one.title,
                    "administrator": one.administrator,
                    "actsForUsers": one.acts_for_users,
                    "groups": one.groups,
                }
                for one in found
            ]
        )
    else:
        columns = ("name", "kind", "administrator", "acts for users", "groups", "title")
        print_rows(
            columns,
            [(one.name, one.kind, one.administrator, one.acts_for_users, ", ".join(one.groups), one.title) for one in found],
        )


@command("delete", example="contextql principal delete ann")
@click.argument("name")
@json_option
def delete(name: str, as_json: bool) -> None:
    """Delete the principal NAME with its tokens, memberships, grants and traces.

    Of a name that only signed tokens have had, it takes the traces.
    """
    deletion = administer(lambda database, caller: delete_principal(database, caller, name))
    print_deletion(as_json, deletion, f"principal {name}")


@command("members", example="contextql principal members support-team --set ann --set bob")
@click.argument("name", metavar="GROUP")
@click.option("--set", "members", multiple=True, metavar="NAME", help="Give the group exactly the members named; repeatable.")
@click.option("--none", "empty", is_flag=True, help="Take all members out.")
@json_option
def members(name: str, members: tuple[str, ...], empty: bool, as_json: bool) -> None:
    """List the members of GROUP, or set them."""
    if members and empty:
        raise BadInput("--set and --none contradict each other; give one of them.")

    async def change(database: Database, caller: Caller) -> tuple[str, ...]:
        if members or empty:
            await set_members(database, caller, name, members)
        return await list_members(database, caller, name)

    found = administer(change)
    if as_json:
        print_json({"group": name, "members": found})
    else:
        print_rows(("member",), [(one,) for one in found])


@command("acting", example="contextql principal acting bot --allow")
@click.argument("name", metavar="SERVICE")
@click.option("--allow/--forbid", "allowed", required=True, help="Whether it may.")
@json_option
def acting(name: str, allowed: bool, as_json: bool) -> None:
    """Let SERVICE ask for users by `X-On-Behalf-Of`, or let it no more: it then sees what the user sees, and no more."""
    outcome = administer(lambda database, caller: let_act(database, caller, name, allowed))
    value = {"name": name, "actsForUsers": allowed, "outcome": outcome.value}
    print_result(as_json, value, f"{outcome.value.capitalize()}: {name} may {'' if allowed else 'not '}act for users.")


principal = group("principal", add, list_, delete, members, acting, help="Add, list and delete users, groups and services.")
