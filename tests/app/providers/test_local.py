"""The model inside the package: what its vectors mean, and that it never holds the event loop or a question up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

import numpy as np
import pytest

from app.providers.local import QUESTION_CHARACTERS, LocalEmbedder
from retrieval.errors import ProviderUnavailable


@pytest.fixture
async def embedder() -> AsyncIterator[LocalEmbedder]:
    made = LocalEmbedder(timeout=60)
    yield made
    await made.close()


async def test_a_question_is_nearest_to_the_passage_that_answers_it_in_either_language(embedder: LocalEmbedder) -> None:
    passages = await embedder.embed_passages(
        ["Чтобы загрузить файл, объявите параметр UploadFile.", "A cookie is read with a Cookie parameter.", "Рецепт борща"]
    )
    questions = await embedder.embed_questions(["How do I upload a file?", "как прочитать cookie"])
    assert passages.shape == (3, 384)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    assert (questions @ passages.T).argmax(axis=1).tolist() == [0, 1]


async def test_threads_of_the_engine_sleep_while_they_wait_so_that_others_have_the_cores(embedder: LocalEmbedder) -> None:
    await embedder.embed_questions(["ready"])
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"  # what the library reads when it is loaded; it tells nobody


async def test_questions_and_passages_have_different_prefixes(embedder: LocalEmbedder) -> None:
    assert not np.allclose(await embedder.embed_questions(["файл"]), await embedder.embed_passages(["файл"]), atol=1e-3)


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: LocalEmbedder) -> None:
    texts = ["один", "two words", "третий текст подлиннее", "4", "пять"]
    together = await embedder.embed_passages(texts)
    assert np.array_equal(together[2:3], await embedder.embed_passages(texts[2:3]))


@pytest.mark.parametrize("text", ["", " ", "\n", "😀", "\ud800", "!!!"])
async def test_odd_texts_have_unit_vectors(embedder: LocalEmbedder, text: str) -> None:
    assert np.linalg.norm(await embedder.embed_questions([text])) == pytest.approx(1, abs=1e-5)


async def test_text_after_a_nul_counts(embedder: LocalEmbedder) -> None:
    both = await embedder.embed_questions(["файл\x00загрузка", "файл"])
    assert not np.allclose(both[0], both[1], atol=1e-3)


async def test_text_past_the_window_of_the_model_counts(embedder: LocalEmbedder) -> None:
    start = "погода сегодня " * 170  # about 515 tokens
    vectors = await embedder.embed_passages([start, start + "загрузка файла на сервер " * 40])
    assert not np.allclose(vectors[0], vectors[1], atol=1e-2)


async def test_a_question_counts_with_its_beginning_so_that_a_long_one_does_not_hold_others_up(embedder: LocalEmbedder) -> None:
    beginning = ("как загрузить файл ERR-42 " * 100)[:QUESTION_CHARACTERS]
    short, long = await embedder.embed_questions([beginning, beginning + "рецепт борща " * 600])
    assert np.array_equal(short, long)


async def test_no_text_is_no_vector(embedder: LocalEmbedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, 384)


async def test_a_question_comes_before_the_rest_of_a_long_batch_and_the_loop_stays_free(embedder: LocalEmbedder) -> None:
    await embedder.embed_questions(["warm"])
    passages = asyncio.create_task(embedder.embed_passages([f"слово {number} " * 60 for number in range(100)]))
    turns = 0
    question = asyncio.create_task(embedder.embed_questions(["вопрос"]))
    while not question.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert not passages.done()
    assert turns > 5, "a loop that waits for a batch takes a turn or two"
    passages.cancel()
    with pytest.raises(asyncio.CancelledError):
        await passages


async def test_a_question_that_takes_too_long_is_given_up() -> None:
    embedder = LocalEmbedder(timeout=0.001)
    with pytest.raises(ProviderUnavailable, match="more than"):
        await embedder.embed_questions(["вопрос " * 50])
    await embedder.close()
