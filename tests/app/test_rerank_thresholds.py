"""Control questions show from which rerank score on a hit is worth showing: figures, proposals, a table and a picture."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from app.evaluation.picture import draw, picture_file
from app.evaluation.reranking import evaluate_rerank
from app.evaluation.run import EvalOptions
from app.evaluation.thresholds import Thresholds, Verdict
from retrieval.errors import BadInput, ProviderUnavailable
from retrieval.store import Store
from tests.fixtures.judges import Judge
from tests.fixtures.world import opened
from tests.fixtures.writing import row_counts

ROOT = Path(__file__).parents[2]
GIVEN = ((0.9, True), (0.8, True), (0.7, False), (0.7, True), (0.4, False), (0.1, False))
MARKS = {"red fox": 95, "grey fox": 60, "owl": 20}


def found(*pairs: tuple[float, bool], relevant: int = 4) -> Thresholds:
    return Thresholds(3, 0, relevant, tuple(Verdict(*pair) for pair in pairs))


def mark(text: str) -> float:
    """The mark of a document of the set."""
    return next((mark for words, mark in MARKS.items() if words in text), 0)


@pytest.fixture
async def store(base_url: str) -> AsyncIterator[Store]:
    async with opened(base_url) as store:
        yield replace(store, rerank_chat=Judge(mark))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A set of three documents; one question has two relevant documents, one has none."""
    documents = [{"id": name.split()[-1] + str(n), "title": "", "text": f"{name} here"} for n, name in enumerate(MARKS)]
    queries = [{"id": "1", "text": "fox here"}, {"id": "2", "text": "owl here"}, {"id": "3", "text": "not judged"}]
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, documents)).encode()))
    (tmp_path / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    (tmp_path / "qrels.tsv").write_text("1\tfox0\t2\n1\tfox1\t1\n2\towl2\t0\n")
    return tmp_path


def silent() -> Progress:
    return Progress(console=Console(stderr=True), disable=True)


def test_precision_and_recall_count_what_a_threshold_keeps() -> None:
    point = found(*GIVEN).at(0.7)
    assert (point.kept, point.precision, point.recall, point.f1) == (4, 0.75, 0.75, 0.75)
    assert found(*GIVEN).at(0.95).precision is None
    assert [one.threshold for one in found(*GIVEN).points] == [0.1, 0.4, 0.7, 0.8, 0.9]


def test_the_best_f1_and_the_least_precise_threshold_are_proposed() -> None:
    one = found(*GIVEN)
    assert one.best is not None
    assert one.precise is not None
    assert (one.best.threshold, one.precise.threshold) == (0.7, 0.8)
    assert [name for _, name in one.proposals()] == ["best F1", "nine of ten are relevant"]
    same = found((0.9, True), (0.2, False), relevant=1)
    assert [(point.threshold, name) for point, name in same.proposals()] == [(0.9, "best F1, and nine of ten are relevant")]


@pytest.mark.parametrize("pairs", [(), ((0.5, False), (0.1, False))])
def test_nothing_relevant_gives_nothing_to_propose(pairs: tuple[tuple[float, bool], ...], tmp_path: Path) -> None:
    one = found(*pairs, relevant=0)
    assert (one.best, one.precise, list(one.proposals())) == (None, None, [])
    assert json.loads(one.json())["proposed"] == {"bestF1": None, "precision90": None}
    draw(one, tmp_path / "none.png")


def test_the_table_has_even_steps_and_the_proposals() -> None:
    table = found(*GIVEN, (0.777, True)).table()
    assert table.row_count == 21 + 1
    assert list(table.columns[0].cells)[:3] == ["0.00", "0.05", "0.10"]


def test_the_picture_is_a_png_of_a_good_size(tmp_path: Path) -> None:
    draw(found(*GIVEN), tmp_path / "a.png")
    content = (tmp_path / "a.png").read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", content[16:24]) == (1200, 675)
    assert 10_000 < len(content) < 300_000
    draw(found((0.2, False), (0.6, True)), tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes() != content
    with pytest.raises(BadInput, match="cannot be written"):
        draw(found(*GIVEN), tmp_path / "missing" / "a.png")


def test_without_the_library_that_draws_there_is_no_picture_and_one_that_is_asked_for_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert picture_file(None) == Path("rerank.png")
    assert picture_file(Path("a.png")) == Path("a.png")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert picture_file(None) is None
    with pytest.raises(BadInput, match="contextql\\[pictures\\]"):
        picture_file(Path("a.png"))


def test_a_server_installs_nothing_that_draws() -> None:
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert not any(line.startswith(("matplotlib", "pillow")) for line in pinned.splitlines())


def test_the_commands_load_nothing_that_draws() -> None:
    code = "import sys, app.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


async def test_control_questions_are_judged_once_each_and_nothing_is_left_behind(store: Store, folder: Path) -> None:
    before = await row_counts(store)
    result = await evaluate_rerank(store, folder, EvalOptions(), silent())
    assert (result.questions, result.lost, result.relevant) == (2, 0, 2)
    assert sorted((one.score, one.relevant) for one in result.verdicts if one.score > 0.2) == [
        (0.6, False), (0.6, True), (0.95, False), (0.95, True),
    ]  # fmt: skip
    assert isinstance(store.rerank_chat, Judge)
    assert len(store.rerank_chat.asked) == 2
    assert await row_counts(store) == before


async def test_questions_that_could_not_be_judged_are_counted_and_left_out(store: Store, folder: Path) -> None:
    judge = store.rerank_chat
    assert isinstance(judge, Judge)
    judge.mark = lambda text: 200 if len(judge.asked) == 1 else 50
    result = await evaluate_rerank(store, folder, EvalOptions(), silent())
    assert (result.questions, result.lost) == (1, 1)
    judge.error = ProviderUnavailable("The provider is away.")
    with pytest.raises(ProviderUnavailable, match="No question could be judged"):
        await evaluate_rerank(store, folder, EvalOptions(), silent())


async def test_without_a_chat_model_it_says_what_to_set(store: Store, folder: Path) -> None:
    with pytest.raises(BadInput, match="CB_LLM_PROVIDER"):
        await evaluate_rerank(replace(store, rerank_chat=None), folder, EvalOptions(), silent())
    (folder / "qrels.tsv").write_text("9\tfox0\t1\n")
    with pytest.raises(BadInput, match="judges none"):
        await evaluate_rerank(store, folder, EvalOptions(), silent())
