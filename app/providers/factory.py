"""The embedding provider that the settings name."""

from __future__ import annotations

from app.config import OPENAI_DIMENSIONS, OPENAI_MODEL, Settings
from app.providers.local import LocalEmbedder
from app.providers.openai import OpenAIEmbedder
from retrieval.ports import Embedder


def make_next_embedder(settings: Settings) -> Embedder | None:
    """The provider of the model that the base is re-embedded with, if one is named; whoever makes it closes it."""
    following = settings.next_embedding()
    return None if following is None else make_embedder(following)


def make_embedder(settings: Settings) -> Embedder | None:
    """The provider, or None for `CB_EMBEDDING_PROVIDER=none`; whoever makes it closes it."""
    if settings.embedding_provider == "none":
        return None
    if settings.embedding_provider == "local":
        return LocalEmbedder(settings.embedding_timeout, settings.embedding_batch)
    return OpenAIEmbedder(
        model=settings.embedding_model or OPENAI_MODEL,
        dimensions=settings.embedding_dimensions or OPENAI_DIMENSIONS,
        base_url=settings.openai_base_url,
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else None,
        timeout=settings.embedding_timeout,
        batch_size=settings.embedding_batch,
    )
