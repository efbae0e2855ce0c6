"""Embeddings over OpenAI's protocol: what is sent, what is repeated, and which replies are refused."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import numpy as np
import pytest

from app.config import Settings
from app.providers.breaker import FAILURES, PAUSE_SECONDS, Breaker
from app.providers.factory import make_embedder
from app.providers.openai import OpenAIEmbedder
from retrieval.errors import ProviderUnavailable
from tests.fixtures.openai_server import Faults, Items, OpenAIServer, vector_of

PATIENT = 15
"""Seconds that no machine is too busy for; less than the pause that a provider asks for here."""
TEXTS = [f"текст {number}" for number in range(25)]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    running = OpenAIServer()
    yield running
    running.close()


@pytest.fixture
async def embedder(server: OpenAIServer) -> AsyncIterator[OpenAIEmbedder]:
    server.reset()
    made = OpenAIEmbedder(model="m", dimensions=8, base_url=server.url, timeout=PATIENT, batch_size=10)
    yield made
    server.reset()
    await made.close()


def expected(texts: list[str]) -> np.ndarray[Any, Any]:
    return np.array([vector_of(text, 8) for text in texts], dtype=np.float32)


async def test_each_text_gets_its_own_vector_in_bounded_batches(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    vectors = await embedder.embed_passages(TEXTS)
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, expected(TEXTS), atol=1e-6)
    assert [len(call.texts) for call in server.calls] == [10, 10, 5]
    assert all("dimensions" not in call.body for call in server.calls)


async def test_no_text_is_no_call(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    assert (await embedder.embed_passages([])).shape == (0, 8)
    assert server.calls == []


async def test_batches_are_bounded_by_bytes(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    long = [letter * 60_000 for letter in "абвгд"]  # 120 KB each
    assert np.allclose(await embedder.embed_passages(long), expected(long), atol=1e-6)
    assert [len(call.texts) for call in server.calls] == [2, 2, 1]


async def test_items_are_placed_by_their_index(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults.items = lambda items: items[::-1]
    assert np.allclose(await embedder.embed_questions(TEXTS[:5]), expected(TEXTS[:5]), atol=1e-6)


async def refusal(server: OpenAIServer, faults: Faults) -> str:
    """Why a reply is refused, in so little time that it is not asked for again, and in more where the machine is busy."""
    message = ""
    for seconds in (0.45, 5.0, PATIENT):
        server.reset()
        server.faults = faults
        embedder = OpenAIEmbedder(model="m", dimensions=8, base_url=server.url, timeout=seconds)
        with pytest.raises(ProviderUnavailable) as refused:
            await embedder.embed_questions(TEXTS[:3])
        await embedder.close()
        message = refused.value.message
        if "did not answer" not in message:
            break
    server.reset()
    return message


def set_index(value: object) -> Callable[[Items], Any]:
    return lambda items: [{**items[0], "index": value}, *items[1:]]


def set_vector(value: object) -> Callable[[Items], Any]:
    return lambda items: [{**items[0], "embedding": value}, *items[1:]]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda items: items[:-1], id="fewer"),
        pytest.param(lambda items: [*items, items[0]], id="more"),
        pytest.param(lambda items: [], id="none"),
        pytest.param(lambda items: None, id="null"),
        pytest.param(set_index(1), id="duplicate"),
        pytest.param(set_index(-1), id="negative"),
        pytest.param(set_index(99), id="out of range"),
        pytest.param(set_index("0"), id="text"),
        pytest.param(set_index(False), id="boolean"),
        pytest.param(set_index(None), id="null index"),
        pytest.param(lambda items: [{"embedding": item["embedding"]} for item in items], id="missing index"),
        pytest.param(set_vector([0.0] * 8), id="zero"),
        pytest.param(set_vector([float("nan")] + [1.0] * 7), id="NaN"),
        pytest.param(set_vector([1e308] * 8), id="overflow"),
        pytest.param(set_vector([float("inf")] + [1.0] * 7), id="infinite"),
        pytest.param(set_vector([1.0] * 7), id="too short"),
        pytest.param(set_vector(["1"] * 8), id="texts"),
        pytest.param(set_vector("AAAA"), id="base64"),
        pytest.param(set_vector([[1.0]] * 8), id="nested"),
        pytest.param(lambda items: [{**item, "embedding": [1.0] * 16} for item in items], id="other dimensions"),
    ],
)
async def test_a_reply_that_does_not_fit_the_texts_is_refused(server: OpenAIServer, change: Callable[[Items], Any]) -> None:
    assert "cannot be used" in await refusal(server, Faults(items=change))


@pytest.mark.parametrize("body", [b'{"data": [{"index": 0, "embed', b"", b"[]", b'{"data": 1}', b"\xff\xfe"])
async def test_a_body_that_is_no_list_of_vectors_is_refused(server: OpenAIServer, body: bytes) -> None:
    assert "cannot be used" in await refusal(server, Faults(body=body))


async def test_a_page_of_html_is_refused(server: OpenAIServer) -> None:
    assert "cannot be used" in await refusal(server, Faults(html=True))


async def test_a_short_reply_is_asked_again(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(items=lambda items: items[:-1], first=1)
    assert np.allclose(await embedder.embed_passages(TEXTS[:10]), expected(TEXTS[:10]), atol=1e-6)
    assert len(server.calls) == 2


async def test_a_rate_limit_repeats_only_its_batch_and_obeys_the_hint(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(status=429, headers={"retry-after-ms": "60"}, every=3)
    texts = [f"{number}" for number in range(120)]
    assert np.allclose(await embedder.embed_passages(texts), expected(texts), atol=1e-6)
    assert len(server.calls) <= 1.5 * 12
    for refused, again in zip(server.calls[2::3], server.calls[3::3], strict=False):
        assert again.texts == refused.texts
        assert again.at - refused.at >= 0.06


async def test_retry_after_in_seconds_is_obeyed(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(status=429, headers={"retry-after": "1"}, first=1)
    await embedder.embed_passages(["a"])
    assert 1.0 <= server.calls[1].at - server.calls[0].at < 60


async def test_a_question_does_not_wait_past_its_timeout(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(status=429, headers={"retry-after": "29"})
    begun = time.monotonic()
    with pytest.raises(ProviderUnavailable, match="429"):
        await embedder.embed_questions(["q"])
    assert time.monotonic() - begun < 25, "it would be tried again after half a minute"
    assert len(server.calls) == 1


async def test_a_hint_of_an_hour_is_not_waited_for(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(status=503, headers={"retry-after": "3600"})
    with pytest.raises(ProviderUnavailable, match="503"):
        await asyncio.wait_for(embedder.embed_passages(["a"]), 60)


async def test_a_hanging_provider_is_given_up_at_the_timeout(server: OpenAIServer) -> None:
    server.reset()
    server.faults = Faults(hang=True)
    embedder = OpenAIEmbedder(model="m", dimensions=8, base_url=server.url, timeout=0.5)
    begun = time.monotonic()
    with pytest.raises(ProviderUnavailable, match=r"0\.5 s"):
        await embedder.embed_questions(["q"])
    assert 0.45 <= time.monotonic() - begun < 30
    server.reset()
    await embedder.close()


async def test_a_server_error_is_tried_again(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(status=500, headers={"retry-after-ms": "1"}, first=2)
    assert np.allclose(await embedder.embed_questions(["q"]), expected(["q"]), atol=1e-6)
    assert len(server.calls) == 3


@pytest.mark.parametrize(("status", "hint"), [(401, "CB_OPENAI_API_KEY"), (404, "CB_EMBEDDING_MODEL")])
async def test_a_refusal_for_good_is_not_repeated_and_says_what_to_check(
    embedder: OpenAIEmbedder, server: OpenAIServer, status: int, hint: str
) -> None:
    server.faults = Faults(status=status)
    with pytest.raises(ProviderUnavailable, match=hint):
        await embedder.embed_passages(TEXTS)
    assert len(server.calls) == 1


async def test_batches_shrink_to_what_the_provider_takes(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(most_inputs=3)
    assert np.allclose(await embedder.embed_passages(TEXTS), expected(TEXTS), atol=1e-6)
    assert embedder.batch_size == 3
    begun = len(server.calls)
    await embedder.embed_passages(TEXTS)
    assert len(server.calls) - begun == 9


async def test_one_refused_text_fails_alone_and_does_not_shrink_the_batches(
    embedder: OpenAIEmbedder, server: OpenAIServer
) -> None:
    server.faults = Faults(refused_text=TEXTS[7])
    with pytest.raises(ProviderUnavailable, match="400"):
        await embedder.embed_passages(TEXTS)
    assert embedder.batch_size == 10
    assert (await embedder.embed_passages(TEXTS[:7] + TEXTS[8:])).shape == (24, 8)


async def test_after_five_failures_the_provider_is_left_alone(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    server.faults = Faults(status=500, headers={"retry-after": "100"})
    for _ in range(FAILURES + 3):
        with pytest.raises(ProviderUnavailable):
            await embedder.embed_questions(["q"])
    assert len(server.calls) == FAILURES


async def test_timeouts_open_the_breaker_too(server: OpenAIServer) -> None:
    server.reset()
    server.faults = Faults(hang=True)
    embedder = OpenAIEmbedder(model="m", dimensions=8, base_url=server.url, timeout=0.05)
    for _ in range(FAILURES + 3):
        with pytest.raises(ProviderUnavailable):
            await embedder.embed_questions(["q"])
    assert len(server.calls) <= FAILURES
    server.reset()
    await embedder.close()


async def test_a_provider_that_cannot_be_reached_is_one_clear_line() -> None:
    embedder = OpenAIEmbedder(model="m", dimensions=8, base_url="http://127.0.0.1:9/v1", timeout=0.45)
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await embedder.embed_questions(["q"])
    await embedder.close()


async def test_a_lone_surrogate_is_replaced(embedder: OpenAIEmbedder, server: OpenAIServer) -> None:
    await embedder.embed_questions(["a\ud800"])
    assert server.calls[0].texts == ["a?"]


async def test_the_settings_name_the_provider(server: OpenAIServer) -> None:
    server.reset()
    assert make_embedder(Settings(embedding_provider="none")) is None
    made = make_embedder(
        Settings(
            embedding_provider="openai", openai_base_url=server.url, openai_api_key="sk-test",
            embedding_model="text-embedding-3-large", embedding_dimensions=16,
        )  # type: ignore[arg-type]
    )  # fmt: skip
    assert made is not None
    assert (made.model, made.dimensions) == ("text-embedding-3-large", 16)
    assert (await made.embed_questions(["q"])).shape == (1, 16)
    assert server.calls[0].body["dimensions"] == 16
    assert server.calls[0].headers["authorization"] == "Bearer sk-test"
    await made.close()


def test_the_breaker_lets_one_call_try_after_its_pause() -> None:
    now = [0.0]
    breaker = Breaker("provider", lambda: now[0])
    for _ in range(FAILURES):
        with pytest.raises(ValueError, match="down"), breaker.attempt():
            raise ValueError("down")
    with pytest.raises(ProviderUnavailable, match="left alone"), breaker.attempt():
        pass
    now[0] = PAUSE_SECONDS
    with breaker.attempt(), pytest.raises(ProviderUnavailable, match="left alone"), breaker.attempt():
        pass  # the second while the first is on trial
    assert not breaker.is_open
    with breaker.attempt():
        pass


def test_the_breaker_opens_again_when_the_trial_fails_and_not_when_it_is_cancelled() -> None:
    now = [0.0]
    breaker = Breaker("provider", lambda: now[0])
    for _ in range(FAILURES):
        with pytest.raises(ValueError, match="down"), breaker.attempt():
            raise ValueError("down")
    now[0] = PAUSE_SECONDS
    with pytest.raises(asyncio.CancelledError), breaker.attempt():
        raise asyncio.CancelledError
    assert not breaker.is_open
    with pytest.raises(ValueError, match="down"), breaker.attempt():
        raise ValueError("down")
    assert breaker.is_open
