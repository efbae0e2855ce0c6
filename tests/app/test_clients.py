"""Clients that people use, from npm and PyPI, against a real server: queries, mutations, answers in pieces, leaving, errors."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.app.answering_world import Answering, answering
from tests.fixtures.databases import TestServer
from tests.fixtures.openai_server import says

CLIENTS = (
    "graphql-ws", "graphql-sse", "urql over WebSocket", "urql over SSE", "urql alone", "Apollo over WebSocket", "Apollo over SSE",
)  # fmt: skip
BY_SOCKET = {"graphql-ws", "urql over WebSocket", "Apollo over WebSocket"}
"""Those whose subscriptions go over WebSocket."""

FIND = """query Find($question: String!) {
  search(question: $question, namespaces: ["fastapi-en"], k: 2) { question hits { card { key } } }
}"""
WRITE = """mutation Write($content: String!) {
  ingestSources(input: { namespace: "fastapi-ru", sources: [{ key: "clients.md", content: $content }] }) {
    results { key outcome }
  }
}"""
ANSWER = """subscription Answer($question: String!, $namespaces: [String!]) {
  answer(question: $question, namespaces: $namespaces) {
    __typename
    ... on AnswerFound { hits { card { key } } sources { key } }
    ... on AnswerDelta { text }
    ... on AnswerDone { answer { text status model citations { marker start end card { key } } } }
  }
}"""
UPLOAD = {"question": "How do I upload a file?", "namespaces": ["fastapi-en"]}
TEXT = "😀 Declare a parameter with `UploadFile` [1]. Больших файлов это тоже касается."

Outcome = dict[str, Any]


class Clients:
    """The clients in a process of Node; each job runs one operation of one of them."""

    def __init__(self, project: Path, served: Answering) -> None:
        self._served = served
        self._process = subprocess.Popen(
            ["node", "clients.mjs"], cwd=project, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def run(self, client: str, document: str, variables: Any, take: int = 0, token: str | None = None) -> Outcome:
        """What came of an operation; `take` leaves after so many results."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = {
            "client": client, "url": f"{self._served.url}/graphql", "token": token or self._served.token, "take": take,
            "kind": document.partition(" ")[0], "document": document, "variables": variables,
        }  # fmt: skip
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        outcome: Outcome = json.loads(self._process.stdout.readline())
        return outcome

    def close(self) -> None:
        """End the process, which ends with its input."""
        self._process.communicate(timeout=60)


@pytest.fixture(scope="module")
def serving(database_server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answering]:
    with answering(database_server, tmp_path_factory.mktemp("clients") / "log") as served:
        yield served


@pytest.fixture(scope="module")
def clients(node_project: Path, serving: Answering) -> Iterator[Clients]:
    started = Clients(node_project, serving)
    yield started
    started.close()


@pytest.fixture
def served(serving: Answering) -> Answering:
    """The server, with a model that writes a short answer."""
    serving.model.reset()
    serving.model.mind = says(TEXT)
    return serving


every_client = pytest.mark.parametrize("client", CLIENTS)


@every_client
def test_it_queries_and_writes(clients: Clients, served: Answering, client: str) -> None:
    found = clients.run(client, FIND, {"question": "upload a file"})
    assert found["failure"] is None
    (result,) = found["results"]
    assert result["codes"] == []
    assert result["data"]["search"]["hits"][0]["card"]["key"] == "tutorial/request-files.md"
    written = clients.run(client, WRITE, {"content": f"# Written by {client}"})
    (result,) = written["results"]
    assert result["data"]["ingestSources"]["results"][0]["outcome"] in ("CREATED", "UPDATED")


@every_client
def test_it_gets_all_of_an_answer_in_order(clients: Clients, served: Answering, client: str) -> None:
    for seconds in (0.005, 0.1, 1.0):  # what is written while a busy server takes nothing becomes one piece
        served.model.calls.clear()
        served.model.faults.chat.piece_seconds = seconds
        outcome = clients.run(client, ANSWER, UPLOAD)
        assert outcome["failure"] is None
        assert [result["codes"] for result in outcome["results"] if result["codes"]] == []
        found, *deltas, done = [result["data"]["answer"] for result in outcome["results"]]
        if len(deltas) > 1:
            break
    assert found["hits"][0]["card"]["key"] == "tutorial/request-files.md"
    assert {hit["card"]["key"] for hit in found["hits"]} <= {card["key"] for card in found["sources"]}
    answer = done["answer"]
    assert "".join(delta["text"] for delta in deltas) == answer["text"]
    assert (answer["status"], answer["model"]) == ("ANSWERED", "stand-in")
    assert answer["text"] == TEXT
    (citation,) = answer["citations"]
    in_units = answer["text"].encode("utf-16-le")
    assert in_units[2 * citation["start"] : 2 * citation["end"]].decode("utf-16-le") == citation["marker"]
    assert citation["card"]["key"] == "tutorial/request-files.md"
    assert len(deltas) > 1
    assert served.call.progress.ended


@every_client
def test_leaving_midway_ends_the_call_of_the_model(clients: Clients, served: Answering, client: str) -> None:
    served.model.faults.chat.endless = True
    served.model.faults.chat.piece_seconds = 0.005
    outcome = clients.run(client, ANSWER, UPLOAD, take=3)
    assert outcome["failure"] is None
    kinds = [result["data"]["answer"]["__typename"] for result in outcome["results"]]
    assert kinds[:3] == ["AnswerFound", "AnswerDelta", "AnswerDelta"]
    assert "AnswerDone" not in kinds
    served.wait_until_left()


def codes_of(outcome: Outcome) -> list[str]:
    """The codes of all errors, wherever the client gives them."""
    failed = (outcome["failure"] or {}).get("codes", [])
    return [*failed, *(code for result in outcome["results"] for code in result["codes"])]


@every_client
def test_errors_come_with_their_codes(clients: Clients, served: Answering, client: str) -> None:
    assert codes_of(clients.run(client, FIND, {"question": ""})) == ["BAD_INPUT"]
    assert codes_of(clients.run(client, "query { nothing }", {})) == ["GRAPHQL_VALIDATION_FAILED"]
    assert codes_of(clients.run(client, ANSWER, UPLOAD | {"namespaces": ["attic"]})) == ["NAMESPACE_NOT_FOUND"]
    assert codes_of(clients.run(client, "subscription { nothing }", {})) == ["GRAPHQL_VALIDATION_FAILED"]
    assert served.model.calls == []


@every_client
def test_a_token_that_does_not_hold_is_refused(clients: Clients, served: Answering, client: str) -> None:
    outcome = clients.run(client, ANSWER, UPLOAD, token="ctxql_wrong")
    assert [result["data"] for result in outcome["results"]] in ([], [None])
    if client in BY_SOCKET:
        failure = outcome["failure"]
        assert failure["close"] == 4403 or "4403 Forbidden" in failure["text"]
    else:
        assert [one["status"] for one in outcome["exchanged"]] == [401]
    assert served.model.calls == []


@pytest.mark.parametrize("client", ["urql alone", "Apollo alone"])
def test_plain_queries_are_answered_in_json_whatever_else_is_accepted(clients: Clients, served: Answering, client: str) -> None:
    outcome = clients.run(client, FIND, {"question": "upload a file"})
    (exchanged,) = outcome["exchanged"]
    assert ("text/event-stream, multipart/mixed" in exchanged["accept"]) is (client == "urql alone")
    assert exchanged["type"].startswith("application/graphql-response+json")
    (result,) = outcome["results"]
    assert result["codes"] == []


def test_what_asks_for_events_in_parts_is_told_so(clients: Clients, served: Answering) -> None:
    outcome = clients.run("Apollo alone", ANSWER, UPLOAD)
    (exchanged,) = outcome["exchanged"]
    assert exchanged["accept"].startswith("multipart/mixed;boundary=graphql;subscriptionSpec=1.0")
    assert codes_of(outcome) == ["BAD_INPUT"]
    assert served.model.calls == []


BOT = Path(__file__).parents[2] / "docs" / "examples" / "bot.py"
UPLOADING = "Как загрузить файл?"


def run_bot(server: str, token: str) -> subprocess.CompletedProcess[str]:
    """The bot of the examples, asked."""
    variables = {"CONTEXTQL_URL": server, "CONTEXTQL_TOKEN": token, "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-W", "error", BOT, UPLOADING]
    return subprocess.run(command, env=variables, capture_output=True, encoding="utf-8", timeout=200, check=False)


def test_the_bot_prints_a_context_and_its_sources(served: Answering) -> None:
    ended = run_bot(served.url, served.token)
    assert (ended.returncode, ended.stderr) == (0, "Found without embedding: PROVIDER_UNAVAILABLE\n")
    assert "мы можем позволить клиентам загружать файлы" in ended.stdout
    assert "Загрузка файлов <https://fastapi.tiangolo.com/ru/tutorial/request-files/>" in ended.stdout.splitlines()
    assert served.model.calls == [], "a model of its own writes the answer"


def test_the_bot_says_why_it_has_nothing(served: Answering) -> None:
    nowhere = "http://127.0.0.1:1"
    for server, token, reason in ((served.url, "ctxql_wrong", "UNAUTHENTICATED"), (nowhere, "", "Connection refused")):
        ended = run_bot(server, token)
        assert (ended.returncode, ended.stdout) == (1, "")
        (sentence,) = ended.stderr.splitlines()
        assert sentence.startswith("No context: ")
        assert reason in sentence


def test_the_bot_is_thirty_lines() -> None:
    assert len(BOT.read_text(encoding="utf-8").splitlines()) <= 31
