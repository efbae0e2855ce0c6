"""Opens what a process works with: the database (our own or a given one), migrated, and the provider of vectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import structlog

from app.config import Settings
from app.embedded import EmbeddedDatabase, embedded_database_url
from app.providers.factory import make_chat, make_embedder, make_next_embedder, make_rerank_chat
from app.providers.tokenizer import make_tokenizer
from retrieval.database import Database
from retrieval.errors import DatabaseUnavailable
from retrieval.migrations import prepare
from retrieval.store import Observer, QuestionVectors, Store, Unobserved
from retrieval.tuning import Tuning

log = structlog.stdlib.get_logger("contextql.database")
WATCH_SECONDS = 1.0


def tuning_of(settings: Settings) -> Tuning:
    """The numbers of the domain with the deployment's limits."""
    return Tuning(
        question_most=settings.max_question,
        filter_values_most=settings.max_filter_values,
        page_most=settings.max_page,
        buckets_most=settings.max_buckets,
        typed_anchors=settings.max_anchors,
        typed_steps=settings.max_steps,
        embedding_seconds=settings.embedding_timeout,
        statement_seconds=settings.statement_timeout,
        search_config=settings.fts_config,
        locale=settings.locale,
        fusion=settings.fusion,
        characters_per_token=settings.context_chars_per_token,
        context_default_max_tokens=settings.context_default_max_tokens,
        context_tokens_most=settings.max_tokens,
        context_scopes_most=settings.max_relevance_scopes,
        context_state_bytes=settings.max_ephemeral_context,
        context_max_depth=settings.context_max_depth,
        context_max_nodes=settings.context_max_nodes,
        context_max_edges=settings.context_max_edges,
        rerank=settings.rerank_enabled,
        rerank_pool=settings.rerank_pool,
        chat_personal_data=settings.llm_personal_data,
        chat_calls=settings.llm_concurrency,
        chat_calls_of_one=settings.llm_concurrency_per_principal,
        trace_days=settings.trace_ttl_days,
        audit_days=settings.audit_ttl_days,
    )


@asynccontextmanager
async def database_url(settings: Settings) -> AsyncIterator[str]:
    """The URL of the configuration, or that of the embedded server, which runs while somebody uses it."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    embedded = await asyncio.to_thread(embedded_database_url, settings.data_dir)
    watcher = asyncio.create_task(watch(embedded))
    try:
        yield embedded.url
    finally:
        watcher.cancel()
        await asyncio.gather(watcher, return_exceptions=True)
        await asyncio.to_thread(embedded.close)


async def watch(embedded: EmbeddedDatabase) -> None:
    """Start the embedded server again whenever it was killed, so that nobody has to."""
    while True:
        await asyncio.sleep(WATCH_SECONDS)
        try:
            await asyncio.to_thread(embedded.keep_running)
        except DatabaseUnavailable as error:
            log.warning("embedded_database_stays_down", reason=error.message)


@asynccontextmanager
async def open_store(settings: Settings, observer: Observer | None = None) -> AsyncIterator[Store]:
    """A store over a database that is checked and migrated; everything is closed at the end."""
    tokenizer = make_tokenizer(settings.context_tokenizer)
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(database_url(settings))
        direct = settings.database_direct_url or url
        embedder = make_embedder(settings)
        if embedder is not None:
            stack.push_async_callback(embedder.close)
        following = make_next_embedder(settings)
        if following is not None:
            stack.push_async_callback(following.close)
        chat = make_chat(settings)
        if chat is not None:
            stack.push_async_callback(chat.close)
        judge = make_rerank_chat(settings, chat)
        if judge is not None and judge is not chat:
            stack.push_async_callback(judge.close)
        base = await prepare(
            direct,
            search_config=settings.fts_config,
            embedding_model=embedder.model if embedder else None,
            dimensions=embedder.dimensions if embedder else None,
            jit=settings.db_jit,
            also=(following.model, following.dimensions) if following else None,
        )
        database = await Database.open(url, direct_url=direct, size=settings.pool_size, statement_cache=settings.statement_cache)
        stack.push_async_callback(database.close)
        tuning = tuning_of(settings)
        vectors = QuestionVectors(tuning.question_vectors)
        yield Store(database, base, tuning, embedder, observer or Unobserved(), vectors, following, tokenizer, chat, judge)
