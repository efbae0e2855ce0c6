"""The commands about traces: what happened in a request, why something was found or was not, and the same pack again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import rich_click as click

from app.cli.bearer import identity_of_option, token_option
from app.cli.command import command, group, json_option
from app.cli.output import note, print_json, printable
from app.cli.running import run
from app.cli.trace_output import plain_decision, plain_replay, print_decision, print_replay, print_trace, whole
from app.config import Settings
from app.opening import open_store
from retrieval.administration.rights import local_administrator
from retrieval.administration.tokens import digest_that_holds
from retrieval.errors import BadInput
from retrieval.identity import Identity
from retrieval.session import Session
from retrieval.store import Store
from retrieval.tracing.reading import ShownTrace, stored_trace
from retrieval.tracing.replaying import Replay, replay
from retrieval.tracing.why import Decision

trace_argument = click.argument("trace_id", metavar="ID")


@command("show", example="contextql trace show ctx-0123456789abcdefghijklmn")
@trace_argument
@click.option("--candidates", "first", type=click.IntRange(0), default=20, help="How many candidates to show.")
@token_option("Read")
@json_option
def show_command(trace_id: str, first: int, token: str | None, as_json: bool) -> None:
    """Show what happened: channels, stages, and what was scored."""

    async def look(settings: Settings) -> dict[str, Any]:
        async with reading(settings, trace_id, await identity_of_option(settings, token)) as (_, trace):
            return await whole(trace, first)

    found = run(look, embeds=False)
    print_json(found) if as_json else print_trace(found)


@command("why", example="contextql trace why ctx-0123456789abcdefghijklmn --key docs/search.md")
@trace_argument
@click.option("--key", help="The key of an entity: the best of it and its fragments is told.")
@click.option("--namespace", "-n", help="Where the key is; left out: the namespaces of the trace.")
@click.option("--item", "item_id", metavar="ITEM", help="The id of one item, or `current`.")
@token_option("Read")
@json_option
def why_command(
    trace_id: str, key: str | None, namespace: str | None, item_id: str | None, token: str | None, as_json: bool
) -> None:
    """Say why something is in the answer, or is not."""
    if (key is None) == (item_id is None):
        raise click.UsageError("Give either --key or --item.")

    async def look(settings: Settings) -> Decision:
        async with reading(settings, trace_id, await identity_of_option(settings, token)) as (_, trace):
            return await trace.why(namespace, key, item_id)

    found = run(look, embeds=False)
    print_json(plain_decision(found)) if as_json else print_decision(found)


@command("replay", example="contextql trace replay ctx-0123456789abcdefghijklmn")
@trace_argument
@click.option("--all", "everything", is_flag=True, help="Show also what has not changed.")
@token_option("Read")
@json_option
def replay_command(trace_id: str, everything: bool, token: str | None, as_json: bool) -> None:
    """Compile a pack again with what was asked then, as of then, and show what has changed since, item by item.

    It has the rights that its maker has now, or those of --token. The ephemeral context is not kept; as much as it took is left
    free.
    """

    async def compile_again(settings: Settings) -> Replay:
        identity = await identity_of_option(settings, token)
        async with reading(settings, trace_id, identity) as (store, trace):
            if token is None:
                identity = await maker_of(store, trace)
            async with session_of(store, settings, identity, trace.record.created_at) as session:
                return await replay(trace, session)

    found = run(compile_again)
    print_json(plain_replay(found)) if as_json else print_replay(found, everything)


async def maker_of(store: Store, trace: ShownTrace) -> Identity:
    """Who made a trace, or the administrator when that one is let in no longer."""
    maker, name = trace.record.principal_id, trace.record.made_by
    if maker is None:
        return Identity(is_local_administrator=True)
    digest = await digest_that_holds(store.database, local_administrator(), maker)
    if digest is None:
        note(f"{name} made it and has no token that holds; it is compiled again with the rights of the administrator.")
        return Identity(is_local_administrator=True)
    return Identity(digest)


@asynccontextmanager
async def reading(settings: Settings, trace_id: str, identity: Identity) -> AsyncIterator[tuple[Store, ShownTrace]]:
    """A trace in a session of its reader; raises `BadInput` for one that is not there."""
    async with open_store(settings) as store, session_of(store, settings, identity) as session:
        trace = await stored_trace(session, trace_id)
        if trace is None:
            raise BadInput(f"There is no trace {printable(trace_id)[:100]!r}; it is another's, it was too old, or it never was.")
        yield store, trace


def session_of(store: Store, settings: Settings, identity: Identity, clock: datetime | None = None) -> Session:
    """A session of somebody, now or with the clock of a trace."""
    deadline = asyncio.get_running_loop().time() + settings.request_timeout
    return Session(store, identity, deadline=deadline, clock=clock)


trace = group("trace", show_command, why_command, replay_command, help="Say what happened in a request, and do it again.")
