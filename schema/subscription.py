"""What can be followed."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import strawberry

from resolvers import answer as resolve
from resolvers import ingest
from resolvers.arguments import AsOf, Info, Namespaces
from resolvers.query import channels as named_channels
from resolvers.query import locale_named
from retrieval.answering.streaming import Event
from retrieval.question import make_question
from schema.answer_events import AnswerEvent
from schema.entity import field
from schema.enums import Locale
from schema.query import Channels, Filter, Fusion, Hops, InLocale, K, QuestionText, Reranked


@strawberry.type(description="How far a namespace is.")
class IngestionProgress:
    namespace: str = field("The namespace.")
    fragments: int = field("Fragments that you may see.")
    pending_embeddings: int = field("How many of them wait for their vector.")


@strawberry.type(description="Everything that can be followed.")
class Subscription:
    @strawberry.subscription(
        description="An answer while it is written: what it rests on, its text in pieces, the whole, as `Search.answer` is.",
        graphql_type=AnswerEvent,
    )
    async def answer(
        self,
        info: Info,
        question: QuestionText,
        namespaces: Namespaces = None,
        k: K = 8,
        hops: Hops = 1,
        filter: Filter = None,
        channels: Channels = None,
        fusion: Fusion = None,
        rerank: Reranked = None,
        as_of: AsOf = None,
        locale: InLocale = Locale.AUTO,
    ) -> AsyncGenerator[Event, None]:
        tuning = info.context.store.tuning
        method, weights = (None, None) if fusion is None else fusion.values()
        asked = make_question(
            tuning,
            question,
            namespaces=namespaces,
            k=k,
            hops=hops,
            filter=None if filter is None else filter.value(tuning),
            channels=named_channels(None if channels is None else [channel.name for channel in channels]),
            fusion=method,
            weights=weights,
            as_of=as_of,
            locale=locale_named(locale.name),
            rerank=tuning.rerank if rerank is None else rerank,
        )
        async with aclosing(resolve.events(info, asked)) as events:
            async for event in events:
                yield event

    @strawberry.subscription(
        description="The state of a namespace now and after each change; ends when it is closed to you.",
        graphql_type=IngestionProgress,
    )
    async def ingestion(
        self, info: Info, namespace: Annotated[str, strawberry.argument(description="The namespace.")]
    ) -> AsyncGenerator[ingest.Progress, None]:
        async with aclosing(ingest.progress(info, namespace)) as events:
            async for event in events:
                yield event
