"""Evaluates retrieval on one set: loads it into scratch namespaces, asks every query, measures the rankings.

A group of the set is a namespace of its own: only its documents compete, and words weigh by what the group holds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.config import Settings
from app.evaluation.collection import Collection, Document, Query, Vectors, find_folder, lines_of, read_collection, read_vectors
from app.evaluation.report import CHANNELS, Report, report_on
from app.evaluation.scratch import scratch_namespaces
from app.opening import open_store
from app.sessions import Identity
from retrieval.administration.namespaces import Namespace
from retrieval.errors import BadInput, ProviderUnavailable
from retrieval.ingest.bulk import Prepared, load, refresh_plans
from retrieval.ingest.statistics import refresh_statistics
from retrieval.question import FusionMethod, Primitive, Question, make_question
from retrieval.session import Session
from retrieval.store import QuestionVectors, Store

AT_ONCE = 4
"""Queries asked at the same time; more only wait for the database on a small machine."""
SECONDS = 60.0
"""What one query may take."""


Spaces = Mapping[str, Namespace]
"""The namespace of each group; that of documents without one is under the empty name."""


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """How a set is asked: given vectors, some groups only, and the arguments of `search` that change rankings."""

    embeddings: Path | None = None
    groups: tuple[str, ...] | None = None
    k: int = 10
    fusion: FusionMethod | None = None
    weights: tuple[tuple[Primitive, float], ...] | None = None


async def run_eval(settings: Settings, folder: Path, options: EvalOptions, progress: Progress | None = None) -> Report:
    """Evaluate one set on the base of the configuration and leave nothing behind; raises `BadInput` for a bad set.

    Progress is shown on stderr when that is a terminal.
    """
    async with open_store(settings) as store:
        return await evaluate(store, folder, options, progress or progress_on_stderr())


def progress_on_stderr() -> Progress:
    """A bar with counts and the time left, gone when it is done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


async def evaluate(store: Store, folder: Path, options: EvalOptions, progress: Progress) -> Report:
    """Evaluate one set on an open store."""
    folder = find_folder(folder)
    collection = read_collection(folder, options.groups)
    check_k(store, options.k)
    with progress:
        store, documents = await with_vectors(store, folder, collection, options, progress)
        groups = sorted({document.group or "" for document in collection.documents})
        async with scratch_namespaces(store.database, groups) as spaces:
            names = await load_all(store, spaces, collection.documents, documents, progress)
            rankings = await ask_all(store, spaces, collection.queries, names, options, progress)
    return report_on(collection, rankings)


def check_k(store: Store, k: int) -> None:
    """Measures look at ten places, so the lists must be at least as long."""
    if not 1 <= k <= store.tuning.most_k:
        raise BadInput(f"`k` is {k}; it must be from 1 to {store.tuning.most_k}.")


class GivenVectors:
    """Stands for the provider when vectors are given: nothing is ever embedded."""

    batch_size = 1

    def __init__(self, model: str, dimensions: int) -> None:
        self.model = model
        self.dimensions = dimensions

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        """Refuse: every vector was given."""
        raise ProviderUnavailable(f"{len(texts)} questions have no given vector.")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Refuse: every vector was given."""
        raise ProviderUnavailable(f"{len(texts)} documents have no given vector.")

    async def close(self) -> None:
        """Nothing is open."""


async def with_vectors(
    store: Store, folder: Path, collection: Collection, options: EvalOptions, progress: Progress
) -> tuple[Store, list[Prepared]]:
    """The documents with their vectors, and a store that knows those of the queries."""
    prepared = [prepared_of(document) for document in collection.documents]
    vectors = QuestionVectors(len(collection.queries))
    if options.embeddings is not None:
        given = options.embeddings if options.embeddings.is_dir() else folder / options.embeddings
        whole = tuple(sum(1 for _ in lines_of(folder / name)) for name in ("corpus.jsonl.gz", "queries.jsonl"))
        given_documents, given_queries = read_vectors(given, collection, (whole[0], whole[1]))
        documents, queries = list(given_documents), list(given_queries)
        embedder = given_vectors(store, given_documents.shape[1])
        store = replace(store, embedder=embedder, question_vectors=vectors)
    elif store.embedder is None:
        return replace(store, question_vectors=vectors), prepared
    else:
        store = replace(store, question_vectors=vectors)
        documents, queries = await embed_all(store, prepared, collection.queries, progress)
    for query, vector in zip(collection.queries, queries, strict=True):
        assert store.embedder is not None
        vectors.put(store.embedder.model, question_of(store, query, {}, options).text, vector)
    return store, [replace(one, vector=vector) for one, vector in zip(prepared, documents, strict=True)]


def prepared_of(document: Document) -> Prepared:
    """A document as it is loaded: what has a date is an episode."""
    kind = "DOCUMENT" if document.occurred_at is None else "EPISODE"
    return Prepared(document.id, document.title, document.text, kind=kind, occurred_at=document.occurred_at)


def given_vectors(store: Store, dimensions: int) -> GivenVectors:
    """The stand-in for the provider; raises `BadInput` when the base cannot hold vectors of this size."""
    model, size = store.base.embedding_model, store.base.dimensions
    if model is None or size is None:
        raise BadInput("The base holds no vectors; start it once with CB_EMBEDDING_PROVIDER=local, or leave out --embeddings.")
    if size != dimensions:
        raise BadInput(f"The given vectors have {dimensions} dimensions, those of the base {size} ({model}).")
    return GivenVectors(model, size)


async def embed_all(
    store: Store, prepared: Sequence[Prepared], queries: Sequence[Query], progress: Progress
) -> tuple[list[Vectors], list[Vectors]]:
    """Vectors of documents and queries by the configured provider, batch by batch."""
    embedder = store.embedder
    assert embedder is not None
    found: tuple[list[Vectors], list[Vectors]] = ([], [])
    work = (
        ("Embedding documents", [one.embedded for one in prepared], embedder.embed_passages),
        ("Embedding queries", [query.text for query in queries], embedder.embed_questions),
    )
    for vectors, (description, texts, embed) in zip(found, work, strict=True):
        for start in progress.track(range(0, len(texts), embedder.batch_size), description=description):
            vectors.extend(await embed(texts[start : start + embedder.batch_size]))
    return found


async def load_all(
    store: Store, spaces: Spaces, documents: Sequence[Document], prepared: Sequence[Prepared], progress: Progress
) -> dict[int, str]:
    """Load the documents and count their words; gives the document of each fragment."""
    task = progress.add_task("Loading documents", total=len(documents))
    by_group: dict[str, list[Prepared]] = {}
    for document, one in zip(documents, prepared, strict=True):
        by_group.setdefault(document.group or "", []).append(one)
    names: dict[int, str] = {}
    for group, namespace in spaces.items():
        async for loaded in load(store.database, namespace.ns, by_group[group]):
            names.update(loaded)
            progress.advance(task, len(loaded))
        await refresh_statistics(store.database, namespace.ns)
    await refresh_plans(store.database)
    return names


async def ask_all(
    store: Store, spaces: Spaces, queries: Sequence[Query], names: dict[int, str], options: EvalOptions, progress: Progress
) -> dict[str, dict[str, list[str]]]:
    """The documents that each channel ranks for each query."""
    task = progress.add_task("Asking", total=len(queries))
    rankings: dict[str, dict[str, list[str]]] = {channel: {} for channel in CHANNELS}
    left = iter(queries)

    async def ask_some() -> None:
        for query in left:
            lists = await ask(store, question_of(store, query, spaces, options))
            for channel, fragments in zip(CHANNELS, lists, strict=True):
                rankings[channel][query.id] = [names[id] for id in fragments]
            progress.advance(task)

    asking = [asyncio.create_task(ask_some()) for _ in range(AT_ONCE)]
    try:
        await asyncio.gather(*asking)
    finally:
        for one in asking:
            one.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    return rankings


async def ask(store: Store, question: Question) -> tuple[list[int], list[int], list[int]]:
    """The fragments of the lexical, the vector and the fused list, best first: the stages that GraphQL awaits."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        lists = (await session.search(question)).lists
        lexical, vector, fused = await asyncio.gather(lists.lexical_pool, lists.vector_pool, lists.fused)
    return (
        [hit.item_id for hit in lexical.hits],
        [hit.item_id for hit in vector.hits],
        [candidate.hit.item_id for candidate in fused],
    )


def question_of(store: Store, query: Query, spaces: Spaces, options: EvalOptions) -> Question:
    """A query as `search` takes it: in the namespace of its group, or in all of them when it has none."""
    own = None if query.group is None else spaces.get(query.group)
    asked = list(spaces.values()) if own is None else [own]
    return make_question(
        store.tuning,
        query.text,
        namespaces=[namespace.name for namespace in asked],
        k=options.k,
        channels=(Primitive.VECTOR, Primitive.LEXICAL),
        fusion=options.fusion,
        weights=None if options.weights is None else dict(options.weights),
    )
