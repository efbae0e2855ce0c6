"""The providers that the settings name; only theirs is imported, because a library of providers takes longer than a command."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from app.config import OPENAI_DIMENSIONS, OPENAI_MODEL, Settings
from retrieval.ports import ChatModel, Embedder


def make_next_embedder(settings: Settings) -> Embedder | None:
    """The provider of the model that the base is re-embedded with, if one is named; whoever makes it closes it."""
    following = settings.next_embedding()
    return None if following is None else make_embedder(following)


def make_embedder(settings: Settings) -> Embedder | None:
    """The provider, or None for `CB_EMBEDDING_PROVIDER=none`; whoever makes it closes it."""
    if settings.embedding_provider == "none":
        return None
    made: Embedder
    if settings.embedding_provider == "local":
        made = _provider("local").LocalEmbedder(settings.embedding_timeout, settings.embedding_batch)
    else:
        made = _provider("openai").OpenAIEmbedder(
            model=settings.embedding_model or OPENAI_MODEL,
            dimensions=settings.embedding_dimensions or OPENAI_DIMENSIONS,
            timeout=settings.embedding_timeout,
            batch_size=settings.embedding_batch,
            **_server(settings),
        )
    return made


def make_chat(settings: Settings) -> ChatModel | None:
    """The chat model, or None for `CB_LLM_PROVIDER=echo`; whoever makes it closes it."""
    if settings.llm_provider == "echo":
        return None
    made: ChatModel = _provider("chat").OpenAIChat(model=settings.llm_model, **_server(settings))
    return made


def make_rerank_chat(settings: Settings, chat: ChatModel | None) -> ChatModel | None:
    """The chat model that reranks: `chat` itself unless CB_RERANK_MODEL names another; whoever makes another closes it."""
    if chat is None or settings.rerank_model in (None, chat.model):
        return chat
    made: ChatModel = _provider("chat").OpenAIChat(model=settings.rerank_model, **_server(settings))
    return made


def _server(settings: Settings) -> dict[str, str | None]:
    key = settings.openai_api_key
    return {"base_url": settings.openai_base_url, "api_key": key.get_secret_value() if key else None}


def _provider(module: str) -> Any:
    return import_module(f"app.providers.{module}")
