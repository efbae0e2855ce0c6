"""Files and folders go in, what fails is listed, and a question finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.cli.conftest import Ended, Run
from tests.app.cli.servers import running
from tests.app.edge_world import wait_until
from tests.fixtures.openai_server import OpenAIServer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "handbook"
    (made / "guide").mkdir(parents=True)
    text = "# Загрузка файлов\n\nЧтобы загрузить файл, нажмите кнопку. См. [цены](../prices.md)."
    (made / "guide" / "files.md").write_text(text)
    (made / "prices.md").write_text("# Prices\n\nUploading costs nothing.")
    (made / "photo.jpg").write_bytes(b"\xff\xd8\xff")
    return made


def ingest(run: Run, folder: Path, *more: str) -> Ended:
    return run("ingest", folder, "-n", "handbook", "--create-namespace", "--json", *more)


def test_a_folder_goes_in_once_and_what_has_gone_goes_with_sync(run: Run, folder: Path) -> None:
    first = run("ingest", folder, "-n", "handbook", "--create-namespace", "--sync")
    assert (first.code, first.out) == (0, "2 created, 1 of other kinds left out.\n")
    assert run("ingest", folder, "-n", "handbook").out == "2 unchanged, 1 of other kinds left out.\n"
    (folder / "prices.md").unlink()
    removed = run("ingest", folder, "-n", "handbook", "--sync", "--json").json
    assert removed["removed"] == ["prices.md"]
    assert removed["outcomes"]["UNCHANGED"] == 1


def test_what_fails_is_listed_and_the_rest_is_stored(run: Run, folder: Path) -> None:
    (folder / "broken.md").write_bytes("# Привет".encode("cp1251"))
    (folder / "empty.md").write_text("")
    ended = run("ingest", folder, "-n", "handbook", "--create-namespace")
    assert ended.code == 1
    assert ended.out.startswith("2 created, 1 failed")
    lines = ended.err.splitlines()
    assert [line.split()[0].rstrip(":") for line in lines[:2]] == ["empty.md", "broken.md"]
    assert "2 of 4 could not be stored" in lines[-1]
    assert "score" in run("ask", "загрузить файл", "-n", "handbook", "--json").out


def test_an_unknown_namespace_and_a_missing_path_are_named(run: Run, folder: Path) -> None:
    assert "'nowhere'" in run("ingest", folder, "-n", "nowhere").sentence
    assert "does not exist" in run("ingest", folder / "gone", "-n", "handbook", "--create-namespace").sentence


def test_a_folder_is_restricted_to_its_readers(run: Run, folder: Path) -> None:
    run("principal", "add", "ann")
    given = ["--reader", "ann", "--source-path", "wiki/", "--type", "page"]
    assert run("ingest", folder, "-n", "handbook", "--create-namespace", *given).code == 0
    run("grant", "add", "ann", "-n", "handbook")
    run("principal", "add", "bob")
    run("grant", "add", "bob", "-n", "handbook")
    found = {}
    for name in ("ann", "bob"):
        token = run("token", "create", name).out.strip()
        found[name] = run("ask", "uploading", "--token", token, "--json").json["hits"]
    assert [hit["sourcePath"] for hit in found["ann"]] == ["wiki/prices.md"]
    assert found["bob"] == []


def test_a_question_shows_fragments_with_their_scores_and_the_entities_around(run: Run, folder: Path) -> None:
    ingest(run, folder)
    shown = run("ask", "Как загрузить файл?")
    assert shown.code == 0
    assert "1. [guide/files.md] Загрузка файлов" in shown.out
    assert "lexical  ██████████" in shown.out
    assert "Чтобы загрузить файл, нажмите кнопку" in shown.out
    assert "Связанные сущности\n  [prices.md] (document) Prices" in shown.out
    assert "CB_EMBEDDING_PROVIDER is none" in shown.err
    assert "Related entities" in run("ask", "Как загрузить файл?", "--locale", "en").out
    assert run("ask", "zzz").out == "Nothing was found.\n"
    assert run("ask", "загрузить файл", "--context").out.startswith("# Найденные фрагменты")


def test_the_json_of_an_answer_adds_up(run: Run, folder: Path) -> None:
    ingest(run, folder)
    (hit,) = run("ask", "uploading", "-k", 1, "--json").json["hits"]
    assert hit["key"] == "prices.md"
    assert hit["score"] == sum(signal["contribution"] for signal in hit["signals"])
    mark = hit["highlights"][0]
    assert hit["text"].encode("utf-16-le")[2 * mark["start"] : 2 * mark["end"]].decode("utf-16-le") == "Uploading"


@pytest.mark.parametrize("arguments", [["   "], ["word", "-k", "51"], ["word", "--hops", "3"]])
def test_a_question_that_cannot_be_asked_says_what_to_change(run: Run, arguments: list[str]) -> None:
    assert run("ask", *arguments).code == 1
    assert run("ask", *arguments).sentence


def test_stored_text_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    (tmp_path / "evil.md").write_text("# Title\n\nred \x1b[31m word \x1b]0;owned\x07 \u202e tail")
    run("ingest", tmp_path / "evil.md", "-n", "evil", "--create-namespace")
    shown = run("ask", "word tail")
    assert "word" in shown.out
    assert not set("\x1b\x07\u202e") & set(shown.out)


def test_it_waits_until_everything_is_embedded(run: Run, provider: OpenAIServer, folder: Path) -> None:
    report = run("ingest", folder, "-n", "handbook", "--create-namespace", "--json").json
    assert report["pendingEmbeddings"] == 0
    assert sum(len(call.texts) for call in provider.calls) == 2
    channels = {signal["channel"] for hit in run("ask", "uploading", "--json").json["hits"] for signal in hit["signals"]}
    assert channels == {"LEXICAL", "VECTOR"}


def test_without_waiting_the_queue_is_left_to_others(run: Run, provider: OpenAIServer, folder: Path) -> None:
    run("migrate")
    ended = run("ingest", folder, "-n", "handbook", "--create-namespace", "--no-wait")
    assert ended.code == 0
    assert provider.calls == []
    assert "2 fragments wait for their vector" in ended.err


def test_a_provider_that_fails_does_not_hold_the_command(run: Run, provider: OpenAIServer, folder: Path) -> None:
    provider.faults.refused_text = "Prices\nUploading costs nothing."
    ended = run("ingest", folder, "-n", "handbook", "--create-namespace", "--json")
    assert ended.code == 0
    assert ended.json["pendingEmbeddings"] == 1


def test_sigterm_gives_back_what_was_being_embedded(
    run: Run, provider: OpenAIServer, folder: Path, base: str, tmp_path: Path
) -> None:
    run("migrate")
    provider.faults.hang = True
    given = {"embedding_provider": "openai", "openai_base_url": provider.url, "embedding_dimensions": "8", "database_url": base}
    with running(tmp_path / "log", "ingest", str(folder), "-n", "handbook", "--create-namespace", **given) as command:
        wait_until(lambda: bool(provider.calls), 120)
        assert command.end() == 143
        assert command.text == "Stopped by SIGTERM.\n"
    provider.faults.hang = False
    report = run("ingest", folder, "-n", "handbook", "--json").json
    assert (report["outcomes"]["UNCHANGED"], report["pendingEmbeddings"]) == (2, 0)


def test_a_text_an_entity_or_all_that_speaks_of_it_is_deleted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "team.jsonl").write_text(
        '{"key": "ann", "type": "person", "title": "Ann"}\n'
        '{"key": "n1", "text": "Ann is away.", "observedAt": "2026-01-01T00:00:00Z", "about": ["ann"]}\n'
        '{"key": "page", "content": "About [Ann](ann)."}\n'
    )
    assert ingest(run, tmp_path).json["outcomes"]["CREATED"] == 3
    assert run("delete", "page", "-n", "handbook", "--text").out == "Deleted text of page: 1 sources, 1 fragments, 1 facts.\n"
    assert "There is no text of page" in run("delete", "page", "-n", "handbook", "--text").sentence
    assert run("delete", "page", "-n", "handbook").out == "Deleted page: 1 entities.\n"
    assert "give one of them" in run("delete", "ann", "-n", "handbook", "--text", "--erase").sentence
    counts = run("delete", "ann", "-n", "handbook", "--erase", "--json").json["counts"]
    assert (counts["entities"], counts["observations"], counts["fragments"]) == (1, 1, 1)
