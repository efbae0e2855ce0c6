"""An evaluation measures what the channels rank, and leaves the base as it found it."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.progress import Progress, TaskID

from app.evaluation.collection import read_collection
from app.evaluation.packs import HYBRID, LEXICAL, RRF, evidence_in_packs
from app.evaluation.report import Report
from app.evaluation.run import EvalOptions, evaluate
from retrieval.database import Database
from retrieval.errors import BadInput
from retrieval.migrations import prepare
from retrieval.store import Store
from retrieval.tuning import Tuning
from tests.fixtures.embedders import DIMENSIONS, MODEL, HashEmbedder

DOCUMENTS = [
    {"id": "fox", "title": "Animals", "text": "a red fox in the snow", "group": "a"},
    {"id": "owl", "title": "Birds", "text": "an owl sleeps", "group": "a"},
    {"id": "fox-b", "title": "Animals", "text": "fox fox fox", "group": "b"},
]
QUERIES = [
    {"id": "1", "text": "red fox", "group": "a", "category": "easy"},
    {"id": "2", "text": "owl or fox?", "group": "a", "category": "hard"},
    {"id": "3", "text": "nothing of the kind here", "group": "b", "category": "hard"},
    {"id": "4", "text": "a query without judgments", "group": "b", "category": "hard"},
]
JUDGMENTS = "1\tfox\t3\n2\towl\t1\n2\tfox\t2\n3\tfox-b\t1\n"


class AwayEmbedder(HashEmbedder):
    """A provider that must not be called."""

    async def embed_questions(self, texts: Any) -> Any:
        raise AssertionError("a question was embedded")


class Telling(Progress):
    """Tells when all documents are loaded and the first question is about to be asked."""

    def __init__(self) -> None:
        super().__init__(console=Console(stderr=True), disable=True)
        self.asks = asyncio.Event()

    def add_task(self, description: str, *rest: Any, **more: Any) -> TaskID:
        if description == "Asking":
            self.asks.set()
        return super().add_task(description, *rest, **more)


@dataclass
class Place:
    """A store, the folder of a set, and what is in the base."""

    store: Store
    folder: Path

    async def run(self, **options: Any) -> Report:
        return await evaluate(
            self.store, self.folder, EvalOptions(**options), Progress(console=Console(stderr=True), disable=True)
        )

    async def counts(self) -> dict[str, int]:
        """How many rows each table holds, but for the audit, which has what was made and taken away again."""
        async with self.store.database.reading() as connection:
            tables = await connection.fetch(
                "select tablename from pg_tables where schemaname = 'public' and tablename <> 'audit'"
            )
            return {
                row["tablename"]: await connection.fetchval(f"select count(*) from {row['tablename']}")  # noqa: S608 - our tables
                for row in tables
            }


@pytest.fixture
async def place(database_url: str, tmp_path: Path) -> AsyncIterator[Place]:
    with gzip.open(tmp_path / "corpus.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in DOCUMENTS)
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(query) + "\n" for query in QUERIES))
    (tmp_path / "qrels.tsv").write_text(JUDGMENTS)
    base = await prepare(database_url, search_config="russian", embedding_model=MODEL, dimensions=DIMENSIONS)
    database = await Database.open(database_url, size=4)
    yield Place(Store(database, base, Tuning(), HashEmbedder()), tmp_path)
    await database.close()


def given(folder: Path, dimensions: int = DIMENSIONS, documents: int = 3) -> Path:
    """Vectors under which every query of a group is nearest to the group's first document."""
    folder = folder / "given"
    folder.mkdir()
    np.save(folder / "docs.npy", np.eye(max(documents, dimensions), dimensions, dtype=np.float16)[:documents])
    queries = np.zeros((len(QUERIES), dimensions), dtype=np.float16)
    queries[:2, 0] = queries[2:, 2] = 1
    np.save(folder / "queries.npy", queries)
    return folder


async def test_the_figures_are_those_computed_by_hand(place: Place) -> None:
    report = await place.run(embeddings=given(place.folder))
    assert report.whole.queries == 3  # one has no judgments
    # Query 1 finds its only document first, query 2 both, the better one second; query 3 has no word in common with any.
    best, other = 2.0, 1.0
    second = (other + best / np.log2(3)) / (best + other / np.log2(3))
    assert report.score("lexical") == pytest.approx((1 + second + 0) / 3)
    assert report.score("lexical", "recall@10") == pytest.approx(2 / 3)
    assert report.score("lexical", category="easy") == 1
    # By the given vectors the fox is first for queries 1 and 2, and the only one of its group for 3.
    assert report.score("vector") == pytest.approx(1)
    assert report.score("fused", "mrr@10") == pytest.approx(1)


async def test_a_grade_above_zero_is_relevant_and_zero_is_not(place: Place) -> None:
    (place.folder / "qrels.tsv").write_text("1\tfox\t0\n1\towl\t1\n")
    report = await place.run(embeddings=given(place.folder))
    assert report.whole.queries == 1
    assert report.score("lexical", "mrr@10") == 0
    assert report.score("vector", "mrr@10") == pytest.approx(0.5)


async def test_only_documents_of_the_group_compete(place: Place) -> None:
    (place.folder / "qrels.tsv").write_text("1\tfox-b\t1\n2\tfox-b\t1\n")
    report = await place.run()
    assert [report.score(channel, "recall@10") for channel in ("lexical", "vector", "fused")] == [0, 0, 0]


async def test_only_the_named_groups_are_asked(place: Place) -> None:
    report = await place.run(groups=("b",))
    assert report.whole.queries == 1
    with pytest.raises(BadInput, match="groups nowhere"):
        await place.run(groups=("nowhere",))


async def test_the_json_has_exactly_the_promised_keys(place: Place) -> None:
    found = json.loads((await place.run()).json())
    channels = {name: {"ndcg@10", "recall@10", "mrr@10"} for name in ("lexical", "vector", "fused")}
    assert set(found) == {"queries", "channels", "categories"}
    assert list(found["categories"]) == ["easy", "hard"]
    for part in (found, *found["categories"].values()):
        assert {name: set(values) for name, values in part["channels"].items()} == channels
    assert found["categories"]["hard"]["queries"] == 2


async def test_given_vectors_call_no_provider(place: Place) -> None:
    place.store.embedder = AwayEmbedder()
    await place.run(embeddings=given(place.folder))
    assert place.store.embedder.passages == []


async def test_without_given_vectors_the_provider_is_asked_for_each_document(place: Place) -> None:
    await place.run()
    assert isinstance(place.store.embedder, HashEmbedder)
    assert "Animals\na red fox in the snow" in place.store.embedder.passages
    assert len(place.store.embedder.passages) == len(DOCUMENTS)


async def test_without_a_provider_words_alone_are_measured(place: Place) -> None:
    place.store.embedder = None
    report = await place.run()
    assert report.score("vector") == 0
    assert report.score("fused") == report.score("lexical") > 0


async def test_vectors_of_another_size_are_refused_by_both_sizes(place: Place) -> None:
    with pytest.raises(BadInput, match=r"have 12 dimensions, those of the base 8"):
        await place.run(embeddings=given(place.folder, dimensions=12))


async def test_vectors_for_other_documents_are_refused(place: Place) -> None:
    with pytest.raises(BadInput, match=r"docs\.npy holds an array of shape \(2, 8\); 3 rows"):
        await place.run(embeddings=given(place.folder, documents=2))


async def test_nothing_is_left_behind(place: Place) -> None:
    before = await place.counts()
    await place.run()
    assert await place.counts() == before


async def test_nothing_is_left_behind_after_an_error(place: Place) -> None:
    before = await place.counts()
    (place.folder / "queries.jsonl").write_text(json.dumps({"id": "1", "text": "  "}) + "\n")
    place.store.embedder = None
    with pytest.raises(BadInput):
        await place.run()
    assert await place.counts() == before


async def test_nothing_is_left_behind_when_it_is_cancelled_in_the_middle(place: Place) -> None:
    before, progress = await place.counts(), Telling()
    running = asyncio.create_task(evaluate(place.store, place.folder, EvalOptions(embeddings=given(place.folder)), progress))
    await asyncio.wait({running, asyncio.create_task(progress.asks.wait())}, return_when=asyncio.FIRST_COMPLETED)
    assert [(task.description, task.completed) for task in progress.tasks[:-1]] == [("Loading documents", len(DOCUMENTS))]
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await place.counts() == before


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("queries.jsonl", '{"id": "1", "text": "x"}\n{oops\n', r"queries\.jsonl, line 2: no JSON"),
        ("queries.jsonl", '{"id": "1"}\n', r"line 1: an object with id and text"),
        ("queries.jsonl", "", "0 queries"),
        ("qrels.tsv", "1\tfox\t1\n1 fox 1\n", r"qrels\.tsv, line 2: query, document and grade"),
        ("corpus.jsonl.gz", "no gzip", r"corpus\.jsonl\.gz cannot be read"),
    ],
)
def test_what_is_wrong_with_a_set_is_named_by_file_and_line(place: Place, file: str, content: str, message: str) -> None:
    (place.folder / file).write_text(content)
    with pytest.raises(BadInput, match=message):
        read_collection(place.folder)


async def test_the_evidence_in_packs_is_that_counted_by_hand(place: Place) -> None:
    (place.folder / "qrels.tsv").write_text("1\tfox\t1\n1\towl\t1\n3\tfox-b\t1\n2\towl\t0\n")
    options = EvalOptions(embeddings=given(place.folder), k=2)
    price = {document["id"]: -(-len(document["text"]) // 3) for document in DOCUMENTS}
    whole = price["fox"] + price["owl"]
    shares = await evidence_in_packs(place.store, place.folder, options, budgets=(price["fox"], whole))
    # Query 1 finds the fox by words and by meaning, the owl by meaning alone; query 3 finds its document by meaning alone.
    assert shares.questions == 2
    assert shares.of[HYBRID] == shares.of[RRF] == {price["fox"]: 0.75, whole: 1.0}
    assert shares.of[LEXICAL] == {price["fox"]: 0.25, whole: 0.25}
    assert shares.margin(whole) == 0


def test_dates_are_taken_as_conversations_write_them(place: Place) -> None:
    dated = {**DOCUMENTS[0], "when": "1:56 pm on 8 May, 2023"}
    (place.folder / "corpus.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, [dated, DOCUMENTS[1]])).encode()))
    first, second = read_collection(place.folder).documents
    assert first.occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert second.occurred_at is None
    dated["when"] = "8 May 2023"
    (place.folder / "corpus.jsonl.gz").write_bytes(gzip.compress(json.dumps(dated).encode()))
    with pytest.raises(BadInput, match="'8 May 2023' is no date"):
        read_collection(place.folder)


async def test_an_unknown_folder_is_named(place: Place) -> None:
    place.folder = place.folder / "nowhere"
    with pytest.raises(BadInput, match=r"There is no corpus\.jsonl\.gz"):
        await place.run()
