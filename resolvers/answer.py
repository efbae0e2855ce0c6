"""What the subscription about answers does."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from resolvers.arguments import Info
from retrieval.answering.streaming import Event, answer_events
from retrieval.question import Question


async def events(info: Info, asked: Question) -> AsyncGenerator[Event, None]:
    """The events of one answer; closing the generator ends the call of the model."""
    run = await info.context.search(asked)
    async with aclosing(answer_events(run)) as told:
        async for event in told:
            yield event
