"""Asks the control questions of a set with a rerank, and holds what the model made of each hit against what is relevant."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.progress import Progress

from app.config import Settings
from app.evaluation.collection import Query, find_folder, read_collection
from app.evaluation.run import (
    AT_ONCE,
    SECONDS,
    EvalOptions,
    Spaces,
    check_k,
    load_all,
    progress_on_stderr,
    question_of,
    with_vectors,
)
from app.evaluation.scratch import scratch_namespaces
from app.evaluation.thresholds import Thresholds, Verdict
from app.opening import open_store
from app.sessions import Identity
from retrieval.errors import BadInput, ProviderUnavailable
from retrieval.question import Question
from retrieval.session import Session
from retrieval.store import Store
from retrieval.text_lists import Degradation


@dataclass(frozen=True, slots=True)
class Judged:
    """The judged hits of one question: the fragment and the score of each, or why there are none."""

    query: Query
    hits: tuple[tuple[int, float], ...]
    lost: Degradation | None


async def run_rerank_eval(settings: Settings, folder: Path, options: EvalOptions, progress: Progress | None = None) -> Thresholds:
    """Judge the hits of one set on the base of the configuration and leave nothing behind; one call of the model a question."""
    async with open_store(settings) as store:
        return await evaluate_rerank(store, folder, options, progress or progress_on_stderr())


async def evaluate_rerank(store: Store, folder: Path, options: EvalOptions, progress: Progress) -> Thresholds:
    """The same on an open store; raises `BadInput` for a bad set, `ProviderUnavailable` when no question could be judged."""
    if store.rerank_chat is None:
        raise BadInput("--rerank needs a chat model: set CB_LLM_PROVIDER=openai and CB_LLM_MODEL (or CB_RERANK_MODEL).")
    folder = find_folder(folder)
    collection = read_collection(folder, options.groups)
    check_k(store, options.k)
    asked = [query for query in collection.queries if query.id in collection.judgments]
    if not asked:
        raise BadInput(f"{folder / 'qrels.tsv'} judges none of the queries.")
    with progress:
        store, documents = await with_vectors(store, folder, collection, options, progress)
        groups = sorted({document.group or "" for document in collection.documents})
        async with scratch_namespaces(store.database, groups) as spaces:
            names = await load_all(store, spaces, collection.documents, documents, progress)
            judged = await judge_all(store, spaces, asked, options, progress)
    relevant = {query: {id for id, grade in grades.items() if grade > 0} for query, grades in collection.judgments.items()}
    done = [one for one in judged if one.lost is None]
    if not done:
        raise ProviderUnavailable(f"No question could be judged. {judged[0].lost.message if judged[0].lost else ''}".strip())
    verdicts = tuple(Verdict(score, names[id] in relevant[one.query.id]) for one in done for id, score in one.hits)
    return Thresholds(len(done), len(judged) - len(done), sum(len(relevant[one.query.id]) for one in done), verdicts)


async def judge_all(
    store: Store, spaces: Spaces, queries: Sequence[Query], options: EvalOptions, progress: Progress
) -> list[Judged]:
    """What the model made of the hits of each question, as many at once as one caller may ask."""
    task = progress.add_task("Judging", total=len(queries))
    room = asyncio.Semaphore(min(AT_ONCE, store.tuning.chat_calls_of_one))

    async def judged(query: Query) -> Judged:
        async with room:
            found = await judge(store, query, replace(question_of(store, query, spaces, options), rerank=True))
            progress.advance(task)
            return found

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(judged(query)) for query in queries]
    return [one.result() for one in tasks]


async def judge(store: Store, query: Query, question: Question) -> Judged:
    """The judged hits of one question: the stages that GraphQL awaits."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        run = await session.search(question)
        hits, lost = await run.hits, await run.degraded
    scores = ((hit.fragment, hit.rerank_score) for hit in hits)
    kept = tuple((fragment.fragment_id, score) for fragment, score in scores if fragment is not None and score is not None)
    return Judged(query, kept, next((one for one in lost if one.part == "rerank"), None))
