"""What the comparison with rivals is made of: the same set for all, blocks in turn, environments made once."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import orjson
import pytest

from app.bench.rivals.compare import BLOCK, Measured, blocks, compared, in_turn
from app.bench.rivals.contestant import Spent
from app.bench.rivals.environment import environment
from app.bench.rivals.exchange import NO_GROUP, read_exchange, spread, whole_text, write_exchange
from app.bench.rivals.given_vectors import provider
from app.evaluation.collection import Document
from retrieval.errors import BadInput


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """A set of three documents and four questions; the question q-n is about the document d-(n mod 3)."""
    folder = tmp_path / "set"
    (folder / "emb").mkdir(parents=True)
    documents = [{"id": f"d-{at}", "title": "T" if at else "", "text": f"text {at}"} for at in range(3)]
    queries = [{"id": f"q-{at}", "text": f"question {at}"} for at in range(4)]
    (folder / "corpus.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, documents)).encode()))
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (folder / "qrels.tsv").write_text("".join(f"q-{at}\td-{at % 3}\t1\n" for at in range(4)))
    np.save(folder / "emb" / "docs.npy", np.eye(3, 4, dtype=np.float16))
    np.save(folder / "emb" / "queries.npy", np.eye(4, dtype=np.float16))
    return folder


def test_questions_are_spread_evenly_from_the_first_on() -> None:
    assert spread(10, 5) == [0, 2, 4, 6, 8]
    assert spread(3, 300) == [0, 1, 2]
    assert len(set(spread(1190, 300))) == 300


def test_a_part_of_the_questions_keeps_their_own_vectors_and_judgments(collection: Path) -> None:
    exchange = read_exchange(str(collection), 2)
    assert [query.id for query in exchange.collection.queries] == ["q-0", "q-2"]
    assert exchange.questions.tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]
    assert exchange.groups() == [NO_GROUP]
    assert exchange.quality([["d-0"], ["d-2"]]) == 1
    assert exchange.quality([["d-0"], ["d-1"]]) == 0.5
    assert exchange.quality([["d-0"], []]) == 0.5


def test_other_processes_read_the_same_texts_and_vectors_in_the_same_order(collection: Path, tmp_path: Path) -> None:
    write_exchange(read_exchange(str(collection), 4), tmp_path)
    body = json.loads((tmp_path / "set.json").read_text())
    assert body["documents"][1] == {"id": "d-1", "text": "T\n\ntext 1", "group": NO_GROUP}
    assert [question["text"] for question in body["questions"]] == [f"question {at}" for at in range(4)]
    assert np.load(tmp_path / "documents.npy").tolist() == np.eye(3, 4).tolist()
    assert np.load(tmp_path / "questions.npy").tolist() == np.eye(4).tolist()


def test_a_document_without_a_title_is_its_text() -> None:
    assert whole_text(Document(0, "a", "", "text", None)) == "text"


async def test_the_provider_gives_the_vectors_of_the_set_and_refuses_other_texts(collection: Path, tmp_path: Path) -> None:
    write_exchange(read_exchange(str(collection), 4), tmp_path)
    transport = httpx.ASGITransport(provider(tmp_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://given") as client:
        known = await client.post("/v1/embeddings", json={"model": "given", "input": ["question 2", "question 0"]})
        unknown = await client.post("/v1/embeddings", json={"model": "given", "input": ["question 2", "another"]})
    assert [one["embedding"] for one in orjson.loads(known.content)["data"]] == [[0, 0, 1, 0], [1, 0, 0, 0]]
    assert unknown.status_code == 400


def test_every_question_is_asked_once_a_round_in_an_order_that_is_mixed_and_always_the_same() -> None:
    places = list(range(120))
    made = blocks(places, 2)
    assert Counter(place for block in made for place in block) == dict.fromkeys(places, 2)
    assert max(len(block) for block in made) == BLOCK
    assert made[0] != places[:BLOCK]
    assert made == blocks(places, 2)


def test_everybody_is_first_as_often_as_the_others() -> None:
    turns = [in_turn(3, number) for number in range(6)]
    assert Counter(turn[0] for turn in turns) == {0: 2, 1: 2, 2: 2}
    assert all(sorted(turn) == [0, 1, 2] for turn in turns)


@pytest.mark.parametrize(
    ("cost", "quality", "verdicts"),
    [(8, 0.5, ["PASS", "PASS"]), (8.1, 0.5, ["FAIL", "PASS"]), (1, 0.494, ["PASS", "FAIL"]), (1, 0.496, ["PASS", "PASS"])],
)
def test_a_promise_is_kept_only_with_cost_and_quality_within_the_bounds(cost: float, quality: float, verdicts: list[str]) -> None:
    ours = Measured("contextql", Spent(cost / 2, cost / 2), 1_000, quality)
    lines = compared("a-set", ours, Measured("other", Spent(4, 6), 1_000, 0.5), 0.8)
    assert [str(line).split()[0] for line in lines] == verdicts
    assert "(4.0 own, 6.0 PostgreSQL)" in str(lines[0])


async def test_an_environment_is_made_once_and_again_when_the_packages_change(tmp_path: Path) -> None:
    requirements = tmp_path / "requirements-rivals-nobody.txt"
    requirements.write_text("# nothing\n")
    python = await environment("nobody", tmp_path, tmp_path / "cache")
    made = (python.parents[1] / "whole").stat().st_mtime_ns
    assert await environment("nobody", tmp_path, tmp_path / "cache") == python
    assert (python.parents[1] / "whole").stat().st_mtime_ns == made
    requirements.write_text("# nothing more\n")
    assert await environment("nobody", tmp_path, tmp_path / "cache") != python


async def test_an_environment_that_cannot_be_made_says_why_and_is_not_taken_for_whole(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"requirements-rivals-nobody\.txt"):
        await environment("nobody", tmp_path, tmp_path / "cache")
    (tmp_path / "requirements-rivals-nobody.txt").write_text("./not-there\n")
    for _ in range(2):
        with pytest.raises(BadInput, match="not-there"):
            await environment("nobody", tmp_path, tmp_path / "cache")
