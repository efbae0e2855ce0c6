"""Which chat model reranks: the one that answers, or one of its own at the same server."""

from __future__ import annotations

from typing import Any

import pytest

from app.config import BadConfiguration, Settings, load_settings
from app.opening import tuning_of
from app.providers.factory import make_chat, make_rerank_chat


def settings(**more: Any) -> Settings:
    return Settings(llm_provider="openai", llm_model="talker", openai_base_url="http://127.0.0.1:9/v1", **more)


async def test_the_model_that_answers_reranks_unless_another_is_named() -> None:
    for same in (settings(), settings(rerank_model="talker")):
        chat = make_chat(same)
        assert chat is not None
        assert make_rerank_chat(same, chat) is chat
        await chat.close()
    other = settings(rerank_model="judge")
    chat = make_chat(other)
    judge = make_rerank_chat(other, chat)
    assert chat is not None
    assert judge is not None
    assert (chat.model, judge.model) == ("talker", "judge")
    await chat.close()
    await judge.close()


def test_without_a_chat_model_nobody_reranks() -> None:
    echo = Settings(llm_provider="echo", rerank_model="judge", rerank_enabled=True)
    assert make_rerank_chat(echo, make_chat(echo)) is None


def test_settings_of_a_rerank_reach_the_numbers() -> None:
    assert (tuning_of(Settings()).rerank, tuning_of(Settings()).rerank_pool) == (False, 24)
    tuning = tuning_of(Settings(rerank_enabled=True, rerank_pool=8))
    assert (tuning.rerank, tuning.rerank_pool) == (True, 8)


@pytest.mark.parametrize("pool", ["0", "101", "many"])
def test_a_pool_out_of_its_bounds_is_refused(monkeypatch: pytest.MonkeyPatch, pool: str) -> None:
    monkeypatch.setenv("CB_RERANK_POOL", pool)
    with pytest.raises(BadConfiguration, match="CB_RERANK_POOL"):
        load_settings()
