"""The command that walks from a thing along predicates, as everything was at an instant, through the run that GraphQL uses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import rich_click as click
from rich.text import Text

from app.cli.bearer import identity_of_option, token_option
from app.cli.command import command, json_option
from app.cli.output import note, print_json, printable, results
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.errors import BadInput
from retrieval.primitives.graph import Direction
from retrieval.records import Fact
from retrieval.session import Session
from retrieval.typed.anchors import ResolvedAnchor, UnresolvedAnchor
from retrieval.typed.context import TypedItem, TypedSection
from retrieval.typed.question import Anchor, StepOrigin, TypedQuestion, TypedStep, make_typed_question

WAYS = {one.value.lower(): one for one in Direction}
ORIGINS = {one.value.lower(): one for one in StepOrigin}


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked."""

    anchor: Anchor
    steps: tuple[TypedStep, ...]
    namespaces: tuple[str, ...] | None
    as_of: datetime | None
    allow_semantic: bool
    token: str | None


@dataclass(frozen=True, slots=True)
class Found:
    """What one walk gave."""

    anchors: tuple[ResolvedAnchor, ...]
    unresolved: tuple[UnresolvedAnchor, ...]
    sections: tuple[TypedSection, ...]
    facts: tuple[Fact, ...]
    truncated: bool


@command("typed", example="contextql typed ticket PAY-101 --step concerns --step owned_by,previous --as-of 2026-09-06T00:00:00Z")
@click.argument("kind")
@click.argument("value")
@click.option(
    "--step",
    "steps",
    multiple=True,
    metavar="STEP",
    help="RELATION, then any of in, out, both, depth=1-5, limit=1-200, previous, joined by commas; repeatable, in their order.",
)
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Where to look; repeatable. Left out: everywhere.")
@click.option("--as-of", metavar="INSTANT", help="Instant of validity, such as 2026-09-05T00:00:00Z. Left out: now.")
@click.option("--semantic", is_flag=True, help="Look for VALUE by meaning when nothing else finds it.")
@token_option("Walk")
@json_option
def typed_command(
    kind: str, value: str, steps: tuple[str, ...], namespaces: tuple[str, ...], as_of: str | None, semantic: bool,
    token: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Walk from VALUE, something of the type KIND by its key, another name or a text that holds its identifier."""

    async def walk(settings: Settings) -> Found:
        walked = tuple(step_of(text) for text in steps)
        at = None if as_of is None else instant_of(as_of)
        return await found(settings, Given(Anchor(kind, value), walked, namespaces or None, at, semantic, token))

    answer = run(walk)
    if as_json:
        print_json(plain(answer))
    else:
        show(answer)


def step_of(text: str) -> TypedStep:
    """A step as it is written; raises `BadInput`."""
    relation, *rest = (part.strip() for part in text.split(","))
    given: dict[str, Any] = {}
    for part in rest:
        name, is_number, number = part.partition("=")
        if name in ("depth", "limit") and is_number and number.isdecimal():
            given[name] = int(number)
        elif part in WAYS:
            given["direction"] = WAYS[part]
        elif part in ORIGINS:
            given["origin"] = ORIGINS[part]
        else:
            raise BadInput(f"--step {text!r}: {part!r} is none of in, out, both, depth=N, limit=N, previous, anchors.")
    return TypedStep(relation, **given)


def instant_of(text: str, option: str = "--as-of") -> datetime:
    """An instant as it is written; raises `BadInput`."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{option} {text!r} is no instant; write it like 2026-09-05T00:00:00Z.") from None


async def found(settings: Settings, given: Given) -> Found:
    """One walk in one session."""
    identity = await identity_of_option(settings, given.token)
    async with open_store(settings) as store:
        asked: TypedQuestion = make_typed_question(
            store.tuning, [given.anchor], given.steps, namespaces=given.namespaces, as_of=given.as_of,
            allow_semantic=given.allow_semantic,
        )  # fmt: skip
        deadline = asyncio.get_running_loop().time() + settings.request_timeout
        async with Session(store, identity, deadline=deadline) as session:
            run = await session.typed(asked)
            return Found(await run.anchors, await run.unresolved, await run.sections, await run.facts, await run.truncated)


def show(answer: Found) -> None:
    """Print it for people: a block for each type, and why an anchor stands for nothing."""
    console = results()
    for one in answer.unresolved:
        note(one.reason)
    for section in answer.sections:
        console.print(Text(printable(section.type), style="bold"))
        for item in section.items:
            far = "" if item.distance == 0 else f"  {item.distance} away"
            console.print(Text(printable(f"  [{item.entity.key}] {item.entity.title}{far}")), soft_wrap=True)
            for name, value in item.attributes.items():
                console.print(Text(printable(f"      {name}: {value}"), style="dim"), soft_wrap=True)
    if answer.truncated:
        note("A bound left something out; raise a limit or take smaller steps.")


def plain(answer: Found) -> dict[str, Any]:
    """The answer as JSON has it, with the names of the GraphQL fields."""
    keys = {(one.entity.ns, one.entity.entity_id): one.entity.key for section in answer.sections for one in section.items}
    return {
        "anchors": [
            {"kind": one.kind, "value": one.value, "key": one.entity.key, "namespace": one.entity.namespace,
             "resolvedBy": one.resolved_by.value}
            for one in answer.anchors
        ],
        "unresolved": [{"kind": one.kind, "value": one.value, "reason": one.reason} for one in answer.unresolved],
        "sections": [{"type": one.type, "items": [item_of(item) for item in one.items]} for one in answer.sections],
        "facts": [
            {"subject": keys.get((one.ns, one.subject_id)), "predicate": one.predicate,
             "object": keys.get((one.ns, one.object_id or 0)), "validFrom": one.valid_from, "validTo": one.valid_to}
            for one in answer.facts
        ],
        "truncated": answer.truncated,
    }  # fmt: skip


def item_of(item: TypedItem) -> dict[str, Any]:
    """An item as JSON."""
    return {
        "key": item.entity.key, "namespace": item.entity.namespace, "title": item.entity.title, "attributes": item.attributes,
        "validFrom": item.valid_from, "validTo": item.valid_to, "distance": item.distance,
    }  # fmt: skip
