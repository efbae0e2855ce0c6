"""Measures how much of a question's evidence a pack holds, beside the same budget filled in the order of plain lists."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean

from rich.progress import Progress

from app.evaluation.collection import Document, Query, read_collection
from app.evaluation.run import SECONDS, EvalOptions, load_all, question_of, with_vectors
from app.evaluation.scratch import scratch_namespaces
from app.sessions import Identity
from retrieval.compilation.item import ItemKind
from retrieval.compilation.question import make_pack_question
from retrieval.fusion import fuse
from retrieval.question import Question
from retrieval.session import Session
from retrieval.store import Store

BUDGETS = (1_000, 2_000, 4_000)
HYBRID, RRF, LEXICAL = "hybrid", "rrf", "lexical"
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Shares:
    """The mean share of a question's evidence that is in a budget, by what filled it and by budget."""

    questions: int
    of: Mapping[str, Mapping[int, float]]

    def margin(self, budget: int) -> float:
        """By how much packs are better than the better plain list."""
        return self.of[HYBRID][budget] - max(self.of[RRF][budget], self.of[LEXICAL][budget])


@dataclass(frozen=True, slots=True)
class Asking:
    """What is asked of, and as of when: `ends` has the last instant of each group, where packs are made as of that."""

    store: Store
    wide: Store
    """The same, but lists are as long as they get."""
    documents: Mapping[int, Document]
    """By fragment."""
    ends: Mapping[str | None, datetime]


async def evidence_in_packs(
    store: Store, folder: Path, options: EvalOptions, *, budgets: Sequence[int] = BUDGETS, at_the_end: bool = False
) -> Shares:
    """Load a set, make a pack of each judged query and budget, and leave nothing behind.

    Packs ask the strategy HYBRID for `k` of each channel; the plain lists are RRF of the first `k` by words and by meaning, and
    all that is found by words. `at_the_end` makes each pack as of the last date of its group, else as of now.
    """
    silent, collection = Progress(disable=True), read_collection(folder, options.groups)
    store, prepared = await with_vectors(store, folder, collection, options, silent)
    of_id = {document.id: document for document in collection.documents}
    evidence = {query: {id for id, grade in grades.items() if grade > 0} for query, grades in collection.judgments.items()}
    judged = [query for query in collection.queries if evidence.get(query.id)]
    async with scratch_namespaces(store.database, sorted({document.group or "" for document in of_id.values()})) as spaces:
        names = await load_all(store, spaces, collection.documents, prepared, silent)
        wide = replace(store, tuning=replace(store.tuning, pool_least=store.tuning.pool_most))
        ends = last_dates(of_id.values()) if at_the_end else {}
        asking = Asking(store, wide, {id: of_id[name] for id, name in names.items()}, ends)
        shares = []
        for start in range(0, len(judged), AT_ONCE):
            some = judged[start : start + AT_ONCE]
            questions = (question_of(store, query, spaces, options) for query in some)
            asked = (share_of(asking, *one, evidence[one[0].id], budgets) for one in zip(some, questions, strict=True))
            shares += await asyncio.gather(*asked)
    means = {way: {budget: fmean(one[way, budget] for one in shares) for budget in budgets} for way in (HYBRID, RRF, LEXICAL)}
    return Shares(len(judged), means)


async def share_of(
    asking: Asking, query: Query, question: Question, evidence: set[str], budgets: Sequence[int]
) -> dict[tuple[str, int], float]:
    """The share of one query's evidence, by what filled the budget and by budget."""
    store, deadline = asking.store, asyncio.get_running_loop().time() + SECONDS
    orders, held = await plain_orders(asking.wide, question, deadline), dict[tuple[str, int], list[int]]()
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        for budget in budgets:
            asked = make_pack_question(
                store.tuning, question.text, namespaces=question.namespaces, k=question.k, max_tokens=budget,
                as_of=asking.ends.get(query.group),
            )  # fmt: skip
            entered = (await (await session.pack(asked)).decided).entered
            held[HYBRID, budget] = [one.item.id for one in entered if one.item.kind is ItemKind.FRAGMENT]
            held |= {(way, budget): filled(asking, order, budget) for way, order in orders.items()}
    documents = {place: {asking.documents[id].id for id in fragments} for place, fragments in held.items()}
    return {place: len(evidence & ids) / len(evidence) for place, ids in documents.items()}


async def plain_orders(store: Store, question: Question, deadline: float) -> dict[str, list[int]]:
    """The fragments by RRF of the first of both lists, and all that are found by words."""
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        lists = (await session.search(question)).lists
        words, meaning = await asyncio.gather(lists.lexical_pool, lists.vector_pool)
    both = [replace(ranking, hits=ranking.hits[: question.k]) for ranking in (meaning, words)]
    fused = fuse(both, lambda _: 1.0, store.tuning.rank_constant)
    return {RRF: [one.hit.item_id for one in fused], LEXICAL: [hit.item_id for hit in words.hits]}


def filled(asking: Asking, order: Iterable[int], budget: int) -> list[int]:
    """The fragments of a list that fit into a budget, in order; one that does not fit is passed over."""
    found, left = [], budget
    for fragment in order:
        price = math.ceil(len(asking.documents[fragment].text) / asking.store.tuning.characters_per_token)
        if price <= left:
            found.append(fragment)
            left -= price
    return found


def last_dates(documents: Iterable[Document]) -> dict[str | None, datetime]:
    """The last instant of each group that has dates."""
    dated = [(document.group, document.occurred_at) for document in documents if document.occurred_at is not None]
    groups = {group for group, _ in dated}
    return {group: max(at for other, at in dated if other == group) for group in groups}
