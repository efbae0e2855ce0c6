"""An answer as it is written: what is found first, then its text in pieces, then the whole; rights are looked at before each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from retrieval.access import Space
from retrieval.answering.answer import Answer, answer_of
from retrieval.errors import Forbidden
from retrieval.records import Entity
from retrieval.stage import both

if TYPE_CHECKING:
    from retrieval.search import FragmentHit, Search


@dataclass(frozen=True, slots=True)
class Found:
    """What the answer will rest on."""

    hits: Sequence[FragmentHit]
    sources: Sequence[Entity]


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of the text, which is final."""

    text: str


@dataclass(frozen=True, slots=True)
class Done:
    """The whole answer; its text is that of all pieces."""

    answer: Answer


Event = Found | Delta | Done


async def answer_events(run: Search) -> AsyncGenerator[Event]:
    """The events of one answer; closing the generator ends the call of the model.

    What is written while nobody takes it becomes one piece, so a slow reader holds neither the model nor more than one answer.
    """
    hits, sources = await both(run.hits, run.sources)
    watch = _Watch(run)
    await watch.check()  # a rerank may have taken its time
    yield Found(hits, sources)
    waiting: list[str] = []
    heard = asyncio.Event()

    def say(text: str) -> None:
        waiting.append(text)
        heard.set()

    writing = run.work.start(answer_of(run, say))
    writing.add_done_callback(lambda _: heard.set())
    try:
        while waiting or not writing.done():
            await heard.wait()
            heard.clear()
            if waiting:
                await watch.check()
                text = "".join(waiting)
                waiting.clear()
                yield Delta(text)
        answer = await writing
        await watch.check()
        yield Done(answer)
    finally:
        writing.cancel()
        await asyncio.wait({writing})


class _Watch:
    """Looks whether the caller may still read what an answer rests on; rights that were found good count from then on."""

    def __init__(self, run: Search) -> None:
        self._run = run
        self._since: int | None = None
        """The epoch of the rights that were found good; None is that of the request."""

    async def check(self) -> None:
        """Raise when the caller may no longer read it, or is no longer known."""
        run, rights = self._run, self._run.session.rights
        if await (run.session.rights_hold() if self._since is None else rights.hold_since(self._since)):
            return
        async with run.session.again() as session:
            caller = await session.caller
            spaces = await session.spaces(run.question.namespaces)
            is_less_shown = not showing(run.spaces) <= showing(spaces)
            ids = [(entity.ns, entity.entity_id) for entity in await run.sources]
            if is_less_shown or None in await (await session.catalogue()).entities.many(ids):
                raise Forbidden("Something that this answer rests on is no longer open to you; ask again.")
        self._since = caller.access.epoch


def showing(spaces: Sequence[Space]) -> set[int]:
    """The namespaces whose texts are read with the personal data in them."""
    return {space.ns for space in spaces if space.shows_personal_data}
