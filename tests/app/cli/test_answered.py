"""`contextql ask --answer`: a model's words with the sources that they cite, or one sentence about why there are none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.app.cli.conftest import Run
from tests.fixtures.completions import ChatFaults
from tests.fixtures.openai_server import Faults, OpenAIServer, says

QUESTION = "где живёт зебра"
SAID = "Зебра живёт\n в саванне [1]. \x1b[31mИ это [7] всё [1]."


@pytest.fixture
def chat(
    run: Run, provider: OpenAIServer, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenAIServer]:
    """A base with one document, and a chat model."""
    monkeypatch.setenv("CB_EMBEDDING_PROVIDER", "none")
    monkeypatch.setenv("CB_LLM_PROVIDER", "openai")
    monkeypatch.setenv("CB_LLM_MODEL", "stand-in")
    folder = tmp_path_factory.mktemp("docs")
    (folder / "zebra.md").write_text("# Зебра\n\nЗебра живёт в саванне.\n", encoding="utf-8")
    assert run("namespace", "create", "docs").code == 0
    assert run("ingest", folder, "--namespace", "docs").code == 0
    provider.mind = says(SAID)
    return provider


def test_the_answer_is_printed_with_the_sources_that_it_cites(run: Run, chat: OpenAIServer) -> None:
    ended = run("ask", QUESTION, "--answer")
    assert ended.code == 0
    text, _, sources = ended.out.partition("\nИсточники\n")
    assert text.splitlines() == ["Зебра живёт", " в саванне [1]. [31mИ это всё [1]."]
    (line,) = sources.splitlines()
    assert line.startswith("  [1] Зебра")
    assert "zebra.md" in line
    assert "taken out: 1" in ended.err
    assert "score" not in ended.out


def test_json_has_it_beside_the_search(run: Run, chat: OpenAIServer) -> None:
    found = run("ask", QUESTION, "--answer", "--json").json
    answer = found["answer"]
    assert (answer["status"], answer["removedCitations"], answer["model"]) == ("ANSWERED", 1, "stand-in")
    assert [(one["marker"], one["key"], one["ordinal"]) for one in answer["citations"]] == [("[1]", "zebra.md", 0)] * 2
    assert found["hits"][0]["key"] == "zebra.md"


def test_it_is_the_default_only_where_it_is_set(run: Run, chat: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "answer" not in run("ask", QUESTION, "--json").json
    monkeypatch.setenv("CB_QUERY_SYNTHESIZE_DEFAULT", "true")
    assert "answer" in run("ask", QUESTION, "--json").json
    assert "answer" not in run("ask", QUESTION, "--json", "--no-answer").json
    assert "answer" not in run("ask", QUESTION, "--json", "--context").json
    assert "саванне" in run("ask", QUESTION).out


def test_what_went_wrong_is_said(run: Run, chat: OpenAIServer) -> None:
    chat.faults = Faults(status=500, headers={"retry-after": "90"})
    ended = run("ask", QUESTION, "--answer")
    assert (ended.code, ended.out) == (1, "")
    assert "no answer" in ended.err
    chat.faults = Faults(chat=ChatFaults(finish="length"))
    ended = run("ask", QUESTION, "--answer")
    assert (ended.code, "ends early" in ended.err) == (0, True)
    assert "choose one" in run("ask", QUESTION, "--answer", "--context").err


def test_without_a_model_the_context_is_echoed(run: Run, chat: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CB_LLM_PROVIDER", "echo")
    ended = run("ask", QUESTION, "--answer")
    assert ended.code == 0
    assert "CB_LLM_PROVIDER=echo" in ended.out
    assert "Зебра живёт в саванне." in ended.out
