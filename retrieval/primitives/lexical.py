"""Fragments by words and identifiers: exact identifiers first, then BM25 over the stemmed words of the question."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from retrieval.database import Record
from retrieval.lexical_text import lexical_text
from retrieval.primitives.filters import filter_values
from retrieval.question import FragmentFilter
from retrieval.ranking import Channel, Ranking, hit_of
from retrieval.reader import Reader, Rows
from retrieval.spending import uncounted
from retrieval.tuning import Tuning

LEXICAL = "lexical"
"""The statement."""


@dataclass(frozen=True, slots=True)
class Word:
    """A stemmed word of the question, with how many unrestricted fragments hold it and what a match is worth."""

    lexeme: str
    fragments: int
    idf: float
    script_share: float | None
    """The part of the base's words that are written in this word's script; None for numbers, and while it is not counted."""

    @property
    def query(self) -> str:
        """The word as a tsquery that means only itself."""
        return "'" + self.lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a question, rarest first, and the mean length of a fragment in words."""

    words: tuple[Word, ...]
    mean_words: float
    identifiers: tuple[str, ...]
    marks: tuple[str, ...] = ()
    """Of personal data, in the namespaces where the caller holds the right to them."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not self.words and not self.identifiers and not self.marks

    @property
    def script_shares(self) -> list[float]:
        """For each word with letters, the part of the base's words in its script."""
        return [word.script_share for word in self.words if word.script_share is not None]

    def rarest(self, budget: int) -> tuple[Word, ...]:
        """The rarest words while their fragments sum up to at most `budget`; always one."""
        taken: list[Word] = []
        total = 0
        for word in self.words:
            total += word.fragments
            if taken and total > budget:
                break
            taken.append(word)
        return tuple(taken)


async def words_of(reader: Reader, question: str, identifiers: tuple[str, ...], marks: tuple[str, ...] = ()) -> Words:
    """The words of a question as the base knows them, with statistics summed over the namespaces asked."""
    tuning = reader.store.tuning
    rows = await reader.rows("words", lexical_text(question))
    words = [weigh(row) for row in rows]
    words.sort(key=lambda word: (word.fragments, word.lexeme))
    corpus, corpus_words = (rows[0]["corpus"], rows[0]["corpus_words"]) if rows else (0, 0)
    mean = corpus_words / corpus if corpus and corpus_words else 100.0
    return Words(tuple(words[: tuning.most_words]), mean, identifiers, marks)


def weigh(row: Record) -> Word:
    """Inverse document frequency: ln(1 + (N - n + 0.5) / (n + 0.5)), never below that of a word in every fragment."""
    held, corpus = row["fragments"], max(row["corpus"], row["fragments"])
    idf = math.log(1 + (corpus - held + 0.5) / (held + 0.5))
    return Word(row["lexeme"], held, idf, row["script_share"])


async def lexical(reader: Reader, question: Words, pool: int, filter: FragmentFilter) -> Ranking:
    """The `pool` best visible fragments; raw score is BM25, and a fragment with an identifier of the question comes first."""
    if question.is_empty:
        return Ranking(Channel.LEXICAL, (), pool, exact=True)
    budget = reader.store.tuning.word_budget
    for look in count():
        chosen = await candidates(reader, question, budget)
        with uncounted(when=look > 0):
            rows = await reader.rows(LEXICAL, *values(reader, question, chosen, pool, filter))
        if len(rows) >= pool or len(chosen) == len(question.words):
            return ranking(rows, pool, exact=len(chosen) == len(question.words))
        budget = wider(reader.store.tuning, question, chosen, budget)
    raise AssertionError("unreachable")


async def candidates(reader: Reader, question: Words, budget: int) -> tuple[Word, ...]:
    """The words whose fragments are looked at: all of them while the caller sees little."""
    few = (await reader.access()).fragment_count <= reader.store.tuning.all_words_most
    return question.words if few else question.rarest(budget)


def wider(tuning: Tuning, question: Words, chosen: Sequence[Word], budget: int) -> int:
    """The budget after one that gave too few: for one word more, and from then on for many, since a filter leaves few."""
    one_more = sum(word.fragments for word in chosen) + question.words[len(chosen)].fragments
    return one_more if budget == tuning.word_budget else max(one_more, budget * tuning.word_budget_growth)


def values(reader: Reader, question: Words, chosen: Sequence[Word], pool: int, filter: FragmentFilter) -> list[Any]:
    """What the statement takes after the access."""
    tuning = reader.store.tuning
    return [
        " | ".join(word.query for word in chosen),
        [word.query for word in question.words],
        [word.idf for word in question.words],
        question.mean_words,
        tuning.bm25_k1,
        tuning.bm25_b,
        [*question.identifiers, *question.marks],
        [f"%{escape(identifier)}%" for identifier in partial_identifiers(tuning, question.identifiers)],
        pool,
        *filter_values(reader.asked(filter)),
        len(reader.spaces) > tuning.spaces_by_key_most,
    ]


def ranking(rows: Rows, pool: int, exact: bool) -> Ranking:
    """The rows as they come."""
    return Ranking(Channel.LEXICAL, tuple(map(hit_of, rows)), pool, exact)


def partial_identifiers(tuning: Tuning, identifiers: Sequence[str]) -> list[str]:
    """Those long enough to be looked for inside longer ones, such as a short SHA."""
    return [identifier for identifier in identifiers if len(identifier) >= tuning.partial_identifier_least]


def escape(text: str) -> str:
    """The text for LIKE, where `%`, `_` and `\\` mean only themselves."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def matched_identifiers(tuning: Tuning, asked: Sequence[str], carried: Sequence[str]) -> tuple[str, ...]:
    """The identifiers of the question that a fragment carries, whole or inside a longer one."""
    long_enough = set(partial_identifiers(tuning, asked))
    return tuple(one for one in asked if one in carried or (one in long_enough and any(one in other for other in carried)))
