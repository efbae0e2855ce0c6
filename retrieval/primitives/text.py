"""Both lists of fragments at once: one statement, so one snapshot, whatever is written meanwhile."""

from __future__ import annotations

from itertools import count

from retrieval.model import QuestionVector
from retrieval.primitives import lexical, vector
from retrieval.primitives.lexical import Words
from retrieval.question import FragmentFilter
from retrieval.ranking import Ranking
from retrieval.reader import Reader
from retrieval.spending import uncounted


async def both(
    reader: Reader, question: QuestionVector, words: Words, pool: int, filter: FragmentFilter
) -> tuple[Ranking, Ranking]:
    """The lists of `vector` and of `lexical`, equal to those that each gives alone; raises `ModelChanged`.

    When one of them comes back short and can look further, both are read again, so that they always show one moment.
    """
    tuning = reader.store.tuning
    statement = vector.way(tuning, (await reader.access()).fragment_count)
    budget = tuning.word_budget
    for look in count():
        chosen = await lexical.candidates(reader, words, budget)
        with uncounted(when=look > 0):
            near, worded = await reader.pair(
                statement,
                lexical.LEXICAL,
                *vector.values(reader, question, pool, filter, statement),
                *lexical.values(reader, words, chosen, pool, filter),
            )
        every_word = len(chosen) == len(words.words)
        if statement != vector.EXACT and len(near) < pool:
            statement = vector.EXACT
        elif len(worded) < pool and not every_word:
            budget = lexical.wider(tuning, words, chosen, budget)
        else:
            break
    if not near:
        await vector.check_model(reader, question)
    exact = statement == vector.EXACT
    return vector.ranking(near, pool, exact), lexical.ranking(worded, pool, every_word)
