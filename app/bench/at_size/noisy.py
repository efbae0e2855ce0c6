"""Search by words for noisy questions: whether it finds the fragment meant, and its time against ranking every match."""

from __future__ import annotations

from collections.abc import AsyncIterator
from statistics import median
from time import perf_counter

from app.bench.at_size.asking import POOL, open_base, question_by_words, session_of
from app.bench.at_size.corpus import Question
from app.bench.at_size.loading import places_of
from app.bench.at_size.world import SizedWorld
from app.bench.line import Line
from retrieval.store import Store

FOUND_LEAST = 0.99
P50_MOST = 1 / 30
EVERY = 5
"""One question in five is asked of the slow side too."""
WARM_UP = 10
FULL = """
    select l.ns, l.fragment_id from fragment_lexemes l
     where l.ns = any($1) and l.lexemes @@ $4::tsquery and visible(l.ns, l.acl_id, $1, $2, $3)
     order by ts_rank(l.lexemes, $4::tsquery) desc limit $5"""


async def noisy_questions(world: SizedWorld) -> AsyncIterator[Line]:
    """Both sides on the same table and index, in turn; ours has rights and statistics of words, the other one statement."""
    async with open_base(world.open) as store:
        places = await places_of(store.database)
        questions = world.corpus.questions(world.sizes.questions)
        for question in questions[:WARM_UP]:
            await ask_ours(store, question)
        await rank_every_match(store, questions[0])
        found, full_found, ours, full = 0, 0, list[float](), list[float]()
        for number, question in enumerate(questions):
            hits, seconds = await ask_ours(store, question)
            ours.append(seconds)
            found += question.fragment in {places[hit] for hit in hits}
            if number % EVERY == 0:
                hits, seconds = await rank_every_match(store, question)
                full.append(seconds)
                full_found += question.fragment in {places[hit] for hit in hits}
    note = f"of {len(questions)} questions; every match by ts_rank {full_found} of {len(full)}"
    yield Line("noisy-question-found", found / len(questions), FOUND_LEAST, "", note, least=True, digits=3)
    p50 = 1000 * median(ours), 1000 * median(full)
    yield Line(
        "noisy-question-of-every-match", p50[0] / p50[1], P50_MOST, note=f"p50 {p50[0]:.2f} ms against {p50[1]:.1f} ms", digits=4
    )


async def ask_ours(store: Store, question: Question) -> tuple[list[tuple[int, int]], float]:
    """The fragments of the lexical list, and the seconds from where the caller is known."""
    async with session_of(store, None) as session:
        started = perf_counter()
        ranking = await (await session.search(question_by_words(store, question.text))).lists.lexical_pool
        return [(hit.ns, hit.item_id) for hit in ranking.hits], perf_counter() - started


async def rank_every_match(store: Store, question: Question) -> tuple[list[tuple[int, int]], float]:
    """What the plain way gives: every fragment with any of the words, ranked by `ts_rank`."""
    async with session_of(store, None) as session:
        run = await session.search(question_by_words(store, question.text))
        access, words = await run.reader.access(), await run.lists.words
        query = " | ".join(word.query for word in words.words)
        bound = list(access.spaces), list(access.acls), list(access.whole)
        async with store.database.reading() as connection:
            started = perf_counter()
            rows = await connection.fetch(FULL, *bound, query, POOL, timeout=60)
            return [(row["ns"], row["fragment_id"]) for row in rows], perf_counter() - started
