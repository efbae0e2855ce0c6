"""The command that asks a question through the run that GraphQL uses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import rich_click as click

from app.cli.answer import Answer, plain, show
from app.cli.command import command, json_option
from app.cli.output import print_json
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from app.sessions import Identity
from retrieval.administration.tokens import token_digest
from retrieval.prompt import language_of
from retrieval.question import Locale, make_question
from retrieval.session import Session

LOCALES: dict[str, Locale] = {"auto": "AUTO", "ru": "RU", "en": "EN"}


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked."""

    question: str
    namespaces: tuple[str, ...] | None
    k: int
    hops: int
    token: str | None
    locale: Locale
    context: bool
    rerank: bool | None = None
    """None is as the configuration says."""


@command("ask", example='contextql ask "Как загрузить файл?" --namespace fastapi-ru')
@click.argument("question")
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Where to look; repeatable. Left out: everywhere.")
@click.option("-k", type=int, default=5, help="How many fragments, 1 to 50.")
@click.option("--hops", type=int, default=1, help="Steps to neighbours, 1 or 2.")
@click.option("--token", metavar="TOKEN", help="Ask with the rights of this bearer token instead of as the administrator.")
@click.option("--locale", type=click.Choice(list(LOCALES)), default="auto", help="Language of the headings.")
@click.option("--context", is_flag=True, help="Print the text for a prompt instead.")
@click.option("--rerank/--no-rerank", default=None, help="Let a chat model order the hits. Left out: CB_RERANK_ENABLED.")
@json_option
def ask_command(
    question: str,
    namespaces: tuple[str, ...],
    k: int,
    hops: int,
    token: str | None,
    locale: str,
    context: bool,
    rerank: bool | None,
    as_json: bool,
) -> None:
    """Search for QUESTION and print what is found: fragments, how each got its score, and entities around them."""
    given = Given(question, namespaces or None, k, hops, token, LOCALES[locale], context, rerank)
    answer = run(lambda settings: ask(settings, given))
    if as_json:
        print_json(plain(answer))
    else:
        show(answer)


async def ask(settings: Settings, given: Given) -> Answer:
    """One search in one session."""
    identity = Identity(None, True) if given.token is None else Identity(token_digest(given.token), False)
    async with open_store(settings) as store:
        deadline = asyncio.get_running_loop().time() + settings.request_timeout
        question = make_question(
            store.tuning,
            given.question,
            namespaces=given.namespaces,
            k=given.k,
            hops=given.hops,
            locale=given.locale,
            rerank=store.tuning.rerank if given.rerank is None else given.rerank,
        )
        async with Session(store, identity, deadline=deadline) as session:
            found = await session.search(question)
            hits, neighbours, degraded = await asyncio.gather(found.hits, found.neighbors, found.degraded)
            marks = await asyncio.gather(*(hit.highlights() for hit in hits))
            context = await found.context if given.context else None
            language = language_of(question.text, question.locale, store.tuning)
            return Answer(question.text, language, hits, marks, neighbours, degraded, context)
