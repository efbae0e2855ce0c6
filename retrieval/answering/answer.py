"""An answer to what was asked, out of what was found; what goes wrong with the chat model is a status of it, never an error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval.answering.markers import MarkedText
from retrieval.answering.prompt import ECHO, NOTHING_FOUND, messages_of
from retrieval.errors import ContextQLError, DeadlineExceeded
from retrieval.personal.prompts import entity_for_chat, fragment_for_chat, question_for_chat
from retrieval.personal.streaming import MaskedStream
from retrieval.ports import ChatModel, Finish, Message
from retrieval.prompt import language_of
from retrieval.records import Entity, Fragment
from retrieval.stage import both
from retrieval.tuning import ANSWER_TEMPERATURE, ANSWER_TIME_SHARE

if TYPE_CHECKING:
    from retrieval.search import Search

Say = Callable[[str], None]
PART = "answer"
GRACE_SECONDS = 1.0
"""What a call may take past its time: the provider ends it itself, and counts it, when it can."""


class AnswerStatus(StrEnum):
    """What became of an answer."""

    ANSWERED = "ANSWERED"
    NOTHING_FOUND = "NOTHING_FOUND"
    ECHO = "ECHO"
    REFUSED = "REFUSED"
    TRUNCATED = "TRUNCATED"
    UNAVAILABLE = "UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Citation:
    """A place of an answer that points to what was given; offsets count UTF-16 code units of its text."""

    marker: str
    start: int
    end: int
    fragment: Fragment

    @property
    def card(self) -> Entity:
        """What an interface shows as the source."""
        return self.fragment.entity


@dataclass(frozen=True, slots=True)
class Answer:
    """What is answered, and what it rests on; `model` is None when none was asked."""

    text: str
    status: AnswerStatus
    citations: Sequence[Citation] = ()
    removed_citations: int = 0
    model: str | None = None


FINISHED = {
    Finish.STOP: AnswerStatus.ANSWERED,
    Finish.LENGTH: AnswerStatus.TRUNCATED,
    Finish.REFUSED: AnswerStatus.REFUSED,
}


def silent(text: str) -> None:
    """Tell nobody."""


async def answer_of(run: Search, say: Say = silent) -> Answer:
    """Answer the question of a search; `say` is told each piece of the text once it is final, and their sum is the text.

    Raises what breaks the hits or the neighbours, never what befalls the model.
    """
    hits, around = await both(run.hits, run.neighbors)
    store = run.session.store
    language = language_of(run.question.text, run.question.locale, store.tuning)
    if not hits and not around:
        return said(NOTHING_FOUND[language], AnswerStatus.NOTHING_FOUND, say)
    if store.chat is None:
        return said(f"{ECHO[language]}\n\n{await run.context}", AnswerStatus.ECHO, say)
    fragments = [hit.fragment for hit in hits if hit.fragment is not None]
    allowed = store.tuning.chat_personal_data
    given = [fragment_for_chat(one, allowed) for one in fragments]
    neighbours = [entity_for_chat(one.entity, allowed) for one in around]
    messages = messages_of(question_for_chat(run.question.text, allowed), given, neighbours, language)
    return await _Writing(run, store.chat, fragments, say).written(messages)


def said(text: str, status: AnswerStatus, say: Say) -> Answer:
    """A text that needs no model."""
    say(text)
    return Answer(text, status)


class _Writing:
    """One answer while a model writes it."""

    def __init__(self, run: Search, chat: ChatModel, fragments: Sequence[Fragment], say: Say) -> None:
        self._run = run
        self._chat = chat
        self._fragments = fragments
        self._say = say
        shows = all(map(run.reader.shows, run.reader.names))
        self._marked = MarkedText(len(fragments), None if shows else MaskedStream())
        self._texts: list[str] = []
        self._left = run.session.store.tuning.answer_characters

    async def written(self, messages: Sequence[Message]) -> Answer:
        """The answer when the model is done, was cut off, would not, or could not."""
        store, started = self._run.session.store, perf_counter()
        try:
            status = await self._call(messages)
        except Exception as error:  # helpers never break the search
            status = AnswerStatus.TRUNCATED
            store.observer.degraded(PART, error.code if isinstance(error, ContextQLError) else ContextQLError.code)
        finally:
            store.observer.provider_call(PART, 1, perf_counter() - started)
        self._tell(self._marked.finish())
        text = "".join(self._texts)
        if not text and status is not AnswerStatus.REFUSED:
            status = AnswerStatus.UNAVAILABLE
        return Answer(text, status, self._citations(), self._marked.removed, self._chat.model)

    async def _call(self, messages: Sequence[Message]) -> AnswerStatus:
        session = self._run.session
        left = session.deadline - asyncio.get_running_loop().time()
        seconds = min(session.store.tuning.answer_seconds, left * ANSWER_TIME_SHARE)
        if seconds <= 0:
            raise DeadlineExceeded("The request has no time left for an answer.")
        with session.store.calls.of((await session.caller).name):
            session.spent.call_provider()
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                return await self._listen(messages, seconds)

    async def _listen(self, messages: Sequence[Message], seconds: float) -> AnswerStatus:
        async with aclosing(self._chat.stream(messages, temperature=ANSWER_TEMPERATURE, seconds=seconds)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Finish):
                    return FINISHED[piece]
                self._tell(self._marked.feed(piece[: self._left]))
                self._left -= len(piece)
                if self._left < 0:
                    return AnswerStatus.TRUNCATED
        return AnswerStatus.TRUNCATED

    def _tell(self, text: str) -> None:
        if text:
            self._texts.append(text)
            self._say(text)

    def _citations(self) -> list[Citation]:
        return [Citation(mark.text, mark.start, mark.end, self._fragments[mark.number - 1]) for mark in self._marked.marks]
