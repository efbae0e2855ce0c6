"""The demonstration from an empty folder: both languages answer, and its reader sees one of them."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from tests.app.cli.servers import CALL, Running, running

SEARCH = '{ search(question: "%s", namespaces: ["%s"], k: 5) { hits { card { key sourcePath } signals { channel } } %s } }'


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("demo")
    yield folder
    pid = folder / "postgres" / "cluster" / "postmaster.pid"
    if pid.exists():
        psutil.Process(int(pid.read_text().split()[0])).send_signal(signal.SIGINT)


@pytest.fixture(scope="module")
def demo(data_dir: Path) -> Iterator[Running]:
    """The first start, which loads everything."""
    with running(data_dir / "log", "demo", data_dir=str(data_dir), embedding_timeout="60") as server:
        server.ready(240)
        yield server


def token_of(data_dir: Path) -> str:
    return (data_dir / "reader-ru.token").read_text().strip()


@pytest.mark.parametrize(
    ("question", "namespace", "key"),
    [
        ("Как загрузить файл?", "fastapi-ru", "tutorial/request-files.md"),
        ("How do I upload a file?", "fastapi-en", "tutorial/request-files.md"),
    ],
)
def test_both_languages_answer_as_soon_as_it_is_ready(demo: Running, question: str, namespace: str, key: str) -> None:
    answer = demo.ask(SEARCH % (question, namespace, "degraded { code } neighbors { entity { key } } context")).json()
    assert "errors" not in answer
    found = answer["data"]["search"]
    assert key in [hit["card"]["key"] for hit in found["hits"]]
    assert all(hit["card"]["sourcePath"].startswith("https://fastapi.tiangolo.com/") for hit in found["hits"])
    assert found["degraded"] == []
    assert {signal["channel"] for hit in found["hits"] for signal in hit["signals"]} == {"VECTOR", "LEXICAL"}
    assert found["neighbors"]
    assert found["context"].startswith("# ")


def test_everything_has_its_vector_from_the_shipped_files(demo: Running) -> None:
    counted = "pendingEmbeddings namespaces { name entityCount fragmentCount factCount }"
    query = f'{{ knowledge(namespaces: ["fastapi-ru", "fastapi-en"]) {{ {counted} }} }}'
    knowledge = demo.ask(query).json()["data"]["knowledge"]
    assert knowledge["pendingEmbeddings"] == 0
    counts = {one["name"]: one for one in knowledge["namespaces"]}
    assert {name: one["entityCount"] for name, one in counts.items()} == {"fastapi-ru": 123, "fastapi-en": 123}
    assert all(one["fragmentCount"] > 1_000 and one["factCount"] > 100 for one in counts.values())


def test_the_team_over_time_is_there(demo: Running) -> None:
    query = """{ entity(namespace: "team", key: "PAY-101") {
        facts(predicates: ["assigned_to"], asOf: "2026-09-%sT00:00:00Z") { nodes { object { key } } } } }"""
    assert "The example of a software team is loaded into team." in demo.text
    for day, key in (("06", "person/boris"), ("20", "person/ann")):
        found = demo.ask(query % day).json()["data"]["entity"]["facts"]["nodes"]
        assert [fact["object"]["key"] for fact in found] == [key]


def test_for_the_reader_the_other_language_does_not_exist(demo: Running, data_dir: Path) -> None:
    token = token_of(data_dir)
    (own,) = demo.ask("{ viewer { namespaces { name roles } } }", token).json()["data"]["viewer"]["namespaces"]
    assert own == {"name": "fastapi-ru", "roles": ["READER"]}
    closed, unknown = (demo.ask(SEARCH % ("x", name, ""), token).json()["errors"][0] for name in ("fastapi-en", "nothing"))
    assert closed["extensions"] == {"code": "NAMESPACE_NOT_FOUND"}
    assert closed["message"].replace("fastapi-en", "nothing") == unknown["message"]


def test_it_prints_three_things_to_try_and_a_token_that_only_its_owner_can_read(demo: Running, data_dir: Path) -> None:
    token = token_of(data_dir)
    assert "246 pages loaded." in demo.text
    (link,) = [line.strip() for line in demo.text.splitlines() if line.strip().startswith(f"{demo.url}/graphql?query=")]
    (query,) = parse_qs(urlsplit(link).query)["query"]
    assert len(demo.ask(query).json()["data"]["search"]["hits"]) == 3
    body = demo.text.partition(" -d '")[2].partition("'\n")[0]
    assert demo.ask(json.loads(body)["query"], token).json()["errors"][0]["extensions"] == {"code": "NAMESPACE_NOT_FOUND"}
    assert 'ask "Как загрузить файл?"' in demo.text
    assert 'pack "Why do callers get ERR_PAY_TIMEOUT?"' in demo.text
    assert "curl -s" in demo.text
    assert f"The token of reader-ru is {token}" in demo.text
    assert stat.S_IMODE((data_dir / "reader-ru.token").stat().st_mode) == 0o600


def test_commands_work_beside_it(demo: Running, data_dir: Path) -> None:
    environment = {**os.environ, "CB_DATA_DIR": str(data_dir), "CB_EMBEDDING_PROVIDER": "none"}
    asked = subprocess.run([*CALL, "ask", "Как загрузить файл?", "-k", "1"], env=environment, capture_output=True, text=True)
    assert asked.returncode == 0, asked.stderr
    assert "Связанные сущности" in asked.stdout


def test_a_second_start_takes_seconds_and_keeps_the_token(demo: Running, data_dir: Path) -> None:
    token = token_of(data_dir)
    assert demo.end() == 0, demo.text
    with running(data_dir / "log2", "demo", data_dir=str(data_dir)) as again:
        again.ready()
        assert again.spent < 0.75 * demo.spent, "about a third, since it makes and stores nothing"
        assert "All pages are there already." in again.text
        assert token_of(data_dir) == token
        assert again.end() == 0, again.text
    assert not (data_dir / "postgres" / "cluster" / "postmaster.pid").exists()
