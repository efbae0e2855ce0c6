"""The command that compiles a pack under a budget of tokens, through the run that GraphQL uses."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import IO, Any

import orjson
import rich_click as click

from app.cli.ask import LOCALES
from app.cli.bearer import identity_of_option, token_option
from app.cli.command import command, json_option
from app.cli.output import note, print_json, results
from app.cli.pack_compiled import Compiled, plain
from app.cli.pack_page import page
from app.cli.pack_table import show
from app.cli.running import run
from app.cli.typed import instant_of
from app.config import Settings
from app.opening import open_store
from retrieval.compilation.question import PackQuestion, Strategy, make_pack_question
from retrieval.errors import BadInput
from retrieval.prompt import language_of
from retrieval.question import Locale
from retrieval.session import Session
from retrieval.subgraph import EntityRef
from retrieval.tuning import Tuning

STRATEGIES = {one.value.lower(): one for one in Strategy}
TRACE_SECONDS = 5.0
"""For storing the trace: who waits for a command waits for a connection too, which is new each time."""


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked, as it was written."""

    question: str
    namespaces: tuple[str, ...] | None
    scopes: tuple[str, ...]
    allowed: tuple[str, ...] | None
    anchors: tuple[EntityRef, ...]
    subject: str | None
    ephemeral: bytes | None
    max_tokens: int | None
    strategy: Strategy
    as_of: str | None
    known_at: str | None
    k: int
    locale: Locale


@command("pack", example='contextql pack "Why do payments time out?" -n team --anchor PAY-101 --max-tokens 600')
@click.argument("question", default="")
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Where to look; repeatable. Left out: everywhere.")
@click.option("--scope", "scopes", multiple=True, metavar="TYPE:ID", help="A relevance scope that counts; repeatable.")
@click.option("--allowed-scope", "allowed", multiple=True, metavar="TYPE:ID", help="Only these scopes, and none; repeatable.")
@click.option("--unscoped", is_flag=True, help="Only what carries no relevance scope.")
@click.option("--anchor", "anchors", multiple=True, metavar="KEY", help="An entity to start facts and graph from; repeatable.")
@click.option("--anchor-in", "placed", multiple=True, nargs=2, metavar="NAMESPACE KEY", help="The same in one namespace.")
@click.option("--subject", metavar="TYPE:ID", help="For whom: an anchor of this key, and a relevance scope.")
@click.option("--ephemeral", type=click.File("rb"), metavar="FILE|-", help="Your own state as a JSON object; goes in first.")
@click.option("--max-tokens", type=int, help="The budget. Left out: CB_CONTEXT_DEFAULT_MAX_TOKENS.")
@click.option("--strategy", type=click.Choice(list(STRATEGIES), False), default="hybrid", help="Which channels run.")
@click.option("--as-of", metavar="INSTANT", help="Instant of validity, such as 2026-09-06T00:00:00Z. Left out: now.")
@click.option("--known-at", metavar="INSTANT", help="Only what was recorded by then. Left out: now.")
@click.option("-k", type=int, default=8, help="What each channel admits, 1 to 100.")
@click.option("--locale", type=click.Choice(list(LOCALES)), default="auto", help="Language of the headings.")
@token_option("Compile")
@click.option("--text", "as_text", is_flag=True, help="Print the text for a prompt instead.")
@click.option(
    "--html", "file", type=click.File("w", encoding="utf-8", lazy=True), metavar="FILE", help="Write a page to look at."
)
@json_option
def pack_command(
    question: str, namespaces: tuple[str, ...], scopes: tuple[str, ...], allowed: tuple[str, ...], unscoped: bool,
    anchors: tuple[str, ...], placed: tuple[tuple[str, str], ...], subject: str | None, ephemeral: IO[bytes] | None,
    max_tokens: int | None, strategy: str, as_of: str | None, known_at: str | None, k: int, locale: str, token: str | None,
    as_text: bool, file: IO[str] | None, as_json: bool,
) -> None:  # fmt: skip
    """Compile what matters to QUESTION, to anchors or in scopes, under a budget, and show how each item got its place.

    The page of --html is one file that needs nothing else and runs no script. The pack is traced: `contextql trace why` says
    why something is not in it.
    """
    if as_text and as_json:
        raise click.UsageError("Give --text or --json, not both.")
    if file is not None and file.name == "-" and (as_text or as_json):
        raise click.UsageError("--html - takes stdout; name a file, or leave --text and --json out.")
    if unscoped and allowed:
        raise click.UsageError("Give --allowed-scope or --unscoped, not both.")
    given = Given(
        question, namespaces or None, scopes, () if unscoped else allowed or None, refs(anchors, placed), subject,
        None if ephemeral is None else ephemeral.read(), max_tokens, STRATEGIES[strategy.lower()], as_of, known_at, k,
        LOCALES[locale],
    )  # fmt: skip
    compiled = run(lambda settings: compile_pack(settings, given, token))
    if file is not None:
        file.write(page(compiled))
        if file.name != "-":
            note(f"{file.name} is written; open it in a browser.")
    if as_json:
        print_json(plain(compiled))
    elif as_text:
        results().file.write(compiled.text + "\n")
    elif file is None:
        show(compiled)


def refs(anchors: Iterable[str], placed: Iterable[tuple[str, str]]) -> tuple[EntityRef, ...]:
    """What to start from."""
    return (*(EntityRef(None, key) for key in anchors), *(EntityRef(namespace, key) for namespace, key in placed))


async def compile_pack(settings: Settings, given: Given, token: str | None) -> Compiled:
    """One pack in one session, with its trace."""
    identity = await identity_of_option(settings, token)
    async with open_store(settings) as store:
        store.tuning = replace(store.tuning, trace_seconds=TRACE_SECONDS)
        asked = question_of(store.tuning, given)
        deadline = asyncio.get_running_loop().time() + settings.request_timeout
        async with Session(store, identity, deadline=deadline) as session:
            pack = await session.pack(asked)
            return Compiled(
                question=asked,
                namespaces=tuple(sorted(space.name for space in pack.spaces)),
                language=language_of(asked.text, asked.locale, store.tuning),
                sections=await pack.sections,
                budget=await pack.budget,
                sources=await pack.sources,
                text=await pack.text,
                text_tokens=await pack.text_token_estimate,
                degraded=await pack.degraded,
                trace_id=await session.tracings.of(pack).stored,
            )


def question_of(tuning: Tuning, given: Given) -> PackQuestion:
    """What was asked, checked; raises `BadInput`."""
    return make_pack_question(
        tuning,
        given.question,
        namespaces=given.namespaces,
        relevance_scopes=given.scopes,
        allowed_scopes=given.allowed,
        anchors=given.anchors,
        subject=None if given.subject is None else subject_of(given.subject),
        ephemeral_context=None if given.ephemeral is None else state_of(given.ephemeral),
        max_tokens=given.max_tokens,
        strategy=given.strategy,
        as_of=instant("--as-of", given.as_of),
        known_at=instant("--known-at", given.known_at),
        k=given.k,
        locale=given.locale,
    )


def subject_of(text: str) -> tuple[str, str]:
    """Type and id of whom the pack is for."""
    kind, colon, id = text.partition(":")
    if not colon:
        raise BadInput(f"--subject {text[:100]!r} has no colon; write it like user:7.")
    return kind, id


def state_of(text: bytes) -> Any:
    """The state of the caller."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadInput(f"--ephemeral holds no JSON ({error}).") from None


def instant(option: str, text: str | None) -> datetime | None:
    """An instant of an option that may be left out."""
    return None if text is None else instant_of(text, option)
