"""A provider of vectors that fails in every way it can: nothing wrong is stored, nothing is lost, every question is answered."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import numpy as np
import pytest

from app.providers.openai import OpenAIEmbedder
from retrieval.ingest.queue import embed_pending
from retrieval.migrations import Unfit, prepare
from tests.fixtures.desk import Desk, desk_at, with_namespace
from tests.fixtures.embedders import MODEL
from tests.fixtures.openai_server import Faults, OpenAIServer, vector_of
from tests.fixtures.patience import SECONDS
from tests.fixtures.writing import rows, values

SEARCH = (
    '{ search(question: "слово7 пропуск") { lexical { score } vector { score } hits { score } degraded { part code message } } }'
)
STATE = "{ knowledge { pendingEmbeddings } }"


@pytest.fixture
async def desk(base_url: str, server: OpenAIServer) -> AsyncIterator[Desk]:
    """A desk whose provider is the stand-in, with batches of ten and a minute's patience."""
    server.reset()
    embedder = OpenAIEmbedder(model=MODEL, dimensions=8, base_url=server.url, timeout=SECONDS, batch_size=10)
    async with desk_at(base_url, embedder) as desk:
        yield await with_namespace(desk)
    server.reset()
    await embedder.close()


@pytest.fixture
async def hurried(desk: Desk, server: OpenAIServer) -> AsyncIterator[Desk]:
    """The desk, that waits a second for a provider."""
    patient, desk.store.embedder = (
        desk.store.embedder,
        OpenAIEmbedder(model=MODEL, dimensions=8, base_url=server.url, timeout=1.0, batch_size=10),
    )
    yield desk
    await desk.store.embedder.close()
    desk.store.embedder = patient


async def work(desk: Desk) -> None:
    """Embed what is due, as a worker does."""
    while await embed_pending(desk.store, 50):
        pass


async def check_vectors(desk: Desk) -> int:
    """Every vector is that of its own text; gives how many there are."""
    found = await rows(
        desk.store,
        "select f.title || E'\\n' || f.text, v.embedding from fragment_vector v join fragment f using (ns, fragment_id)",
    )
    for text, embedding in found:
        assert np.allclose(embedding.to_numpy(), vector_of(text, 8), atol=2e-3), text
    return len(found)


async def fill(desk: Desk, count: int) -> None:
    await desk.fill({f"k{number}": f"слово{number} пропуск" for number in range(count)})


REPLIES: dict[str, Callable[[Any], Any]] = {
    "too few": lambda items: items[: len(items) * 4 // 5],
    "one twice": lambda items: [*items, items[0]],
    "no index": lambda items: [{"embedding": item["embedding"]} for item in items],
    "zeros": lambda items: [{**item, "embedding": [0.0] * 8} for item in items],
}


@pytest.mark.parametrize("reply", REPLIES)
async def test_a_reply_that_does_not_fit_is_never_stored_and_is_asked_for_again(
    hurried: Desk, server: OpenAIServer, reply: str
) -> None:
    await fill(hurried, 25)
    server.faults = Faults(items=REPLIES[reply], first=1)
    await work(hurried)
    assert await check_vectors(hurried) == 25
    assert (await hurried.ask(STATE))["knowledge"]["pendingEmbeddings"] == 0
    server.faults = Faults(items=REPLIES[reply])
    found = (await hurried.ask(SEARCH))["search"]
    assert (found["vector"], [one["code"] for one in found["degraded"]]) == ([], ["PROVIDER_UNAVAILABLE"])
    assert len(found["lexical"]) == len(found["hits"]) == 8


async def test_vectors_in_any_order_go_to_their_texts(desk: Desk, server: OpenAIServer) -> None:
    await fill(desk, 25)
    server.faults = Faults(items=lambda items: items[::-1])
    await work(desk)
    assert await check_vectors(desk) == 25
    assert (await desk.ask(SEARCH))["search"]["degraded"] == []


FAULTS = {
    "429": Faults(status=429, headers={"retry-after": "30"}),
    "500": Faults(status=500, headers={"retry-after": "30"}),
    "half a body": Faults(body=b'{"data": [{"index": 0, "embed'),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_question_is_answered_by_words_while_the_provider_fails(hurried: Desk, server: OpenAIServer, fault: str) -> None:
    await fill(hurried, 12)
    await work(hurried)
    server.faults = FAULTS[fault]
    for query in (SEARCH, SEARCH.replace("слово7", "слово8")):
        started = time.monotonic()
        found = (await hurried.ask(query))["search"]
        assert time.monotonic() - started < 15
        assert len(found["lexical"]) == len(found["hits"]) == 8
        assert found["vector"] == []
        (entry,) = found["degraded"]
        assert (entry["part"], entry["code"]) == ("embedding", "PROVIDER_UNAVAILABLE")
        assert server.url not in entry["message"]
        assert "слово" not in entry["message"]
    server.reset()


async def test_a_provider_that_hangs_costs_its_time_and_holds_nobody_else(desk: Desk, server: OpenAIServer) -> None:
    await fill(desk, 12)
    server.faults = Faults(hang=True)
    asked = [asyncio.create_task(desk.ask(SEARCH.replace("слово7", f"слово{number}"))) for number in range(12)]
    async with asyncio.timeout(SECONDS):
        while len(server.calls) < 12:  # all at once: none comes to its end yet
            await asyncio.sleep(0.01)
    await desk.ask("{ viewer { principal } }")
    assert not any(one.done() for one in asked)
    server.faults = Faults()
    assert {len((await one)["search"]["hits"]) for one in asked} == {8}


async def test_a_provider_that_hangs_is_left_alone_after_five_questions(hurried: Desk, server: OpenAIServer) -> None:
    await fill(hurried, 12)
    server.faults = Faults(hang=True)
    for answer in await asyncio.gather(*(hurried.ask(SEARCH.replace("слово7", f"слово{number}")) for number in range(5))):
        assert len(answer["search"]["hits"]) == 8
        assert answer["search"]["degraded"][0]["code"] in {"DEADLINE_EXCEEDED", "PROVIDER_UNAVAILABLE"}
    assert 0 < len(server.calls) <= 5
    for _ in range(5):  # a machine may stop for longer than a provider is left alone, and then it is tried once
        asked = len(server.calls)
        answer = await hurried.ask(SEARCH)
        if "5 times in a row" in answer["search"]["degraded"][0]["message"]:
            break
    assert answer["search"]["degraded"][0]["code"] == "PROVIDER_UNAVAILABLE"
    assert "5 times in a row" in answer["search"]["degraded"][0]["message"]
    assert len(answer["search"]["hits"]) == 8
    assert len(server.calls) == asked


async def test_a_rate_limit_repeats_only_what_failed(desk: Desk, server: OpenAIServer) -> None:
    await desk.fill({"long.md": "\n\n".join(f"# Раздел {number}\n\nслово{number} пропуск" for number in range(300))})
    server.faults = Faults(status=429, headers={"retry-after-ms": "30"}, every=3)
    while (await desk.ask(STATE))["knowledge"]["pendingEmbeddings"]:
        await work(desk)
    assert await values(desk.store, "select count(*) from fragment_vector") == [300]
    assert len(server.calls) <= 1.5 * 30
    sent = [text for number, call in enumerate(server.calls, 1) if number % 3 for text in call.texts]
    assert len(sent) == len(set(sent)) == 300, "nothing is paid twice"


async def test_a_provider_that_takes_few_gets_few_and_no_blank_text(desk: Desk, server: OpenAIServer) -> None:
    server.faults = Faults(most_inputs=3)
    await desk.fill(
        {
            "a.md": "# Один\n\n## Зебра\n\n## Три\n\nтекст\n\n#\n\n---\n\n\u200b\n\n"
            + "\n\n".join(f"## Р{n}\n\nт{n}" for n in range(30))
        }
    )
    await work(desk)
    assert (await desk.ask(STATE))["knowledge"]["pendingEmbeddings"] == 0
    assert all(text.strip() for call in server.calls for text in call.texts)
    assert await desk.find("зебра") == ["a.md"]
    assert max(len(call.texts) for call in server.calls[-5:]) <= 3


async def test_one_refused_text_leaves_a_gap_that_is_told_and_its_document_is_found(desk: Desk, server: OpenAIServer) -> None:
    await fill(desk, 40)
    server.faults = Faults(refused_text="k17\nслово17 пропуск")
    await work(desk)
    assert await check_vectors(desk) == 39
    assert (await desk.ask(STATE))["knowledge"]["pendingEmbeddings"] == 1
    assert (await desk.find("слово17"))[0] == "k17"
    assert "k17" not in await desk.find("слово17", "vector")
    (reason,) = await values(desk.store, "select last_error from embedding_queue")
    assert "400" in reason


async def test_another_model_is_not_mixed_in(desk: Desk) -> None:
    await fill(desk, 3)
    await work(desk)
    before = await values(desk.store, "select embedding::text from fragment_vector order by fragment_id")
    for model, dimensions in (("other", 8), (MODEL, 16)):
        with pytest.raises(Unfit, match="the configuration names"):
            await prepare(desk.store.database.url, search_config="russian", embedding_model=model, dimensions=dimensions)
    assert await values(desk.store, "select embedding::text from fragment_vector order by fragment_id") == before
    assert len((await desk.ask(SEARCH))["search"]["vector"]) == 3
