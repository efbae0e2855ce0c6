"""The rerank of one search as lazy stages: what is judged, what the model says of it, and the order that follows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from retrieval.errors import ContextQLError, DeadlineExceeded, ProviderUnavailable
from retrieval.personal.prompts import question_for_chat
from retrieval.ports import ChatModel, Message, Reply
from retrieval.ranking import Candidate
from retrieval.reranking.pool import Placed, Pooled, for_chat, placed, pool_of
from retrieval.reranking.prompt import messages_of
from retrieval.reranking.scores import scores_of
from retrieval.stage import Work, stage
from retrieval.subgraph import FoundNeighbour
from retrieval.text_lists import Degradation

if TYPE_CHECKING:
    from retrieval.search import Search

PART = "rerank"
GRACE_SECONDS = 1.0
"""What a call may take past its time: the provider ends it itself, and counts it, when it can."""


class Rerank:
    """The rerank of a search; nothing of it runs unless the question asks for it and what depends on it is asked for."""

    def __init__(self, run: Search) -> None:
        self.run = run
        self.work: Work = run.session.work

    @stage
    async def pool(self) -> list[Pooled]:
        """What is judged: the first fused fragments, then the neighbours, each entity once."""
        fused, catalogue = await self.run.lists.fused, await self.run.session.catalogue()
        tuning, k = self.run.session.store.tuning, self.run.question.k
        head = min(tuning.rerank_pool, tuning.rerank_found)
        # With those that may follow unjudged, so that all texts come out of one statement.
        places = [(one.hit.ns, one.hit.item_id) for one in fused[: max(head, k)]]
        fragments, around = await asyncio.gather(catalogue.fragments.many(places), self.run.neighbors)
        found = [Pooled(one.entity, one, at) for one, at in zip(fragments[:head], fused, strict=False) if one is not None]
        return pool_of(found, await self._around(around, fused[head:]), max(tuning.rerank_pool, k))

    async def _around(self, around: list[FoundNeighbour], later: Sequence[Candidate]) -> list[Pooled]:
        """Neighbours with their best fragment: the one that was found highest, else the first of the text."""
        catalogue = await self.run.session.catalogue()
        known = {(one.entity.ns, one.entity.entity_id) for one in around}
        speakers: dict[tuple[int, int], Candidate] = {}
        for one in later:
            if (place := (one.hit.ns, one.hit.entity_id)) in known:
                speakers.setdefault(place, one)
        fragments = await catalogue.fragments.many((one.hit.ns, one.hit.item_id) for one in speakers.values())
        best = {place: fragment for place, fragment in zip(speakers, fragments, strict=True) if fragment is not None}
        entities = [one.entity for one in around]
        silent = [one for one in entities if (one.ns, one.entity_id) not in best]
        pages = await asyncio.gather(*(catalogue.fragments_of(one, -1, 1) for one in silent))
        best |= {(one.ns, one.entity_id): page[0] for one, page in zip(silent, pages, strict=True) if page}
        return [Pooled(one, best.get((one.ns, one.entity_id))) for one in entities]

    @stage
    async def scores(self) -> list[float] | Degradation:
        """A score for each of the pool, from 0 to 1, or why there is none: the search goes on without."""
        chat = self.run.session.store.rerank_chat
        if chat is None:
            return Degradation(PART, ProviderUnavailable.code, "CB_LLM_PROVIDER is echo: there is no model that reranks.")
        await self.run.lists.fused  # what breaks it is told by the hits
        try:
            pool = await self.pool
            return await self._judged(chat, pool) if pool else []
        except ContextQLError as error:
            lost = Degradation(PART, error.code, error.message)
        except Exception:
            lost = Degradation(PART, ContextQLError.code, "The rerank failed.")
        self.run.session.store.observer.degraded(PART, lost.code)
        return lost

    async def placed(self, most: int | None = None) -> list[Placed]:
        """The first candidates, or all, in the order of the answer; as they were fused where nothing was judged."""
        fused = await self.run.lists.fused
        scores = await self.scores if self.run.question.rerank else []
        if isinstance(scores, Degradation) or not scores:
            return [Placed(one) for one in fused[:most]]
        return placed(fused, await self.pool, scores)[:most]

    async def _judged(self, chat: ChatModel, pool: list[Pooled]) -> list[float]:
        session = self.run.session
        tuning = session.store.tuning
        allowed = tuning.chat_personal_data
        question = question_for_chat(self.run.question.text, allowed)
        messages = messages_of(question, [for_chat(one, allowed) for one in pool], tuning.rerank_characters)
        # At most half of what is left, so that a search that waited in vain still has time to be answered.
        left = session.deadline - asyncio.get_running_loop().time()
        seconds = min(session.store.tuning.rerank_seconds, max(0.0, left / 2))
        started = perf_counter()
        try:
            with session.store.calls.of((await session.caller).name):
                session.spent.call_provider()
                reply = await answered(chat, messages, seconds)
        finally:
            session.store.observer.provider_call(PART, len(pool), perf_counter() - started)
        return scores_of(reply, len(pool))


async def answered(chat: ChatModel, messages: list[Message], seconds: float) -> Reply:
    """One completion; whatever the provider raises becomes `ProviderUnavailable`, `DeadlineExceeded` or `Overloaded`."""
    try:
        async with asyncio.timeout(seconds + GRACE_SECONDS):
            return await chat.complete(messages, temperature=0, seconds=seconds, json=True)
    except TimeoutError:
        raise DeadlineExceeded(f"The rerank took longer than {seconds:.3g} s.") from None
    except ContextQLError:
        raise
    except Exception as error:
        raise ProviderUnavailable("The rerank failed.") from error
