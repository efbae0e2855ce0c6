"""The command that asks a question through the run that GraphQL uses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import rich_click as click

from app.cli.answer import Answer, plain, show
from app.cli.answered import Printed, plain_answer, show_end
from app.cli.bearer import identity_of_option, token_option
from app.cli.command import command, json_option
from app.cli.output import note, print_json
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.answering.answer import answer_of
from retrieval.prompt import language_of
from retrieval.question import Locale, make_question
from retrieval.search import Search
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
    answer: bool | None = None
    """None is as the configuration says."""
    as_json: bool = False


@command("ask", example='contextql ask "Как загрузить файл?" --namespace fastapi-ru')
@click.argument("question")
@click.option("--namespace", "-n", "namespaces", multiple=True, help="Where to look; repeatable. Left out: everywhere.")
@click.option("-k", type=int, default=5, help="How many fragments, 1 to 50.")
@click.option("--hops", type=int, default=1, help="Steps to neighbours, 1 or 2.")
@token_option("Ask")
@click.option("--locale", type=click.Choice(list(LOCALES)), default="auto", help="Language of the headings.")
@click.option("--context", is_flag=True, help="Print the text for a prompt instead.")
@click.option("--rerank/--no-rerank", default=None, help="Let a chat model order the hits. Left out: CB_RERANK_ENABLED.")
@click.option(
    "--answer/--no-answer", default=None, help="Let a chat model answer, with citations. Left out: CB_QUERY_SYNTHESIZE_DEFAULT."
)
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
    answer: bool | None,
    as_json: bool,
) -> None:
    """Search for QUESTION and print what is found: fragments, how each got its score, and entities around them.

    With `--answer` a chat model answers instead: its text as it is written, then the sources that it cites.
    """
    if context and answer:
        raise click.UsageError("--context prints what a model would be given, --answer what it makes of it; choose one.")
    given = Given(question, namespaces or None, k, hops, token, LOCALES[locale], context, rerank, answer, as_json)
    run(lambda settings: ask(settings, given))


async def ask(settings: Settings, given: Given) -> None:
    """One search in one session, printed."""
    identity = await identity_of_option(settings, given.token)
    answers = settings.query_synthesize_default and not given.context if given.answer is None else given.answer
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
            if answers and not given.as_json:
                await answer_aloud(found)
                return
            searched = await everything(found, given.context)
            if not given.as_json:
                show(searched)
            else:
                answer = {"answer": plain_answer(await found.answer)} if answers else {}
                print_json(plain(searched) | answer)


async def everything(found: Search, context: bool) -> Answer:
    """What a search gives without a model's words."""
    hits, neighbours, degraded = await asyncio.gather(found.hits, found.neighbors, found.degraded)
    marks = await asyncio.gather(*(hit.highlights() for hit in hits))
    text = await found.context if context else None
    question = found.question
    language = language_of(question.text, question.locale, found.session.store.tuning)
    return Answer(question.text, language, hits, marks, neighbours, degraded, text)


async def answer_aloud(found: Search) -> None:
    """Print an answer as it is written, then what it cites; raises `ProviderUnavailable` when there is none."""
    for one in await found.degraded:
        note(one.message)
    language = language_of(found.question.text, found.question.locale, found.session.store.tuning)
    printed = Printed()
    answer = await answer_of(found, printed.say)
    printed.end()
    show_end(answer, language)
