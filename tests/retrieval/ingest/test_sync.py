"""Storing a folder: keys, progress, what is left out, what is removed."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from retrieval.errors import BadInput, NamespaceNotFound
from retrieval.ingest.sync import Progress, Report, ingest_folder
from retrieval.outcomes import Outcome
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS, put, rows, values

pytestmark = pytest.mark.usefixtures("ns")
KEYS = 'select key from entity order by key collate "C"'


async def ingest(store: Store, path: Path, sync: bool = False) -> Report:
    return await ingest_folder(store.database, store.base, ADMIN, DOCS, path, sync=sync)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


async def test_a_folder_is_stored_with_links_statistics_and_progress(store: Store, tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "# А\n\n[b](sub/b.md)", "sub/b.md": "# Б\n\nтекст", "c.txt": "кот", "d.png": "x", "e.md": " "})
    steps: list[Progress] = []
    report = await ingest_folder(store.database, store.base, ADMIN, DOCS, tmp_path, on_progress=steps.append)
    assert await values(store, KEYS) == ["a.md", "c.txt", "sub/b.md"]
    assert report.outcomes == {Outcome.CREATED: 3, Outcome.FAILED: 1}
    assert [(result.key, result.code) for result in report.failed] == [("e.md", "BAD_INPUT")]
    assert [file.key for file in report.skipped] == ["d.png"]
    assert [(step.done, step.total) for step in steps] == [(number, 5) for number in range(1, 6)]
    assert await values(store, "select count(*) from fact") == [1]
    assert "кот" in await values(store, "select lexeme from word_statistics")
    assert (await ingest(store, tmp_path)).outcomes == {Outcome.UNCHANGED: 3, Outcome.FAILED: 1}


async def test_sync_removes_what_has_gone_and_nothing_else(store: Store, tmp_path: Path) -> None:
    one, two = write(tmp_path / "one", {"a.md": "раз", "b.md": "два"}), write(tmp_path / "two", {"c.md": "три"})
    await put(store, "by-hand.md", "четыре")
    await ingest(store, one)
    await ingest(store, two)
    (one / "b.md").unlink()
    assert (await ingest(store, one)).removed == []
    assert (await ingest(store, one, sync=True)).removed == ["b.md"]
    assert await values(store, KEYS) == ["a.md", "by-hand.md", "c.md"]
    (one / "a.md").rename(one / "z.md")
    assert (await ingest(store, one, sync=True)).removed == ["a.md"]
    assert await values(store, KEYS) == ["by-hand.md", "c.md", "z.md"]


async def test_sync_of_a_folder_leaves_what_was_stored_from_one_inside_it(store: Store, tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "раз", "sub/b.md": "два"})
    await ingest(store, tmp_path / "sub")
    assert (await ingest(store, tmp_path, sync=True)).removed == []
    assert await values(store, KEYS) == ["a.md", "b.md", "sub/b.md"]


async def test_a_file_that_cannot_be_read_any_more_is_not_gone(store: Store, tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "раз", "b.md": "два"})
    await ingest(store, tmp_path)
    (tmp_path / "a.md").write_bytes(b"\x89PNG\x00")
    (tmp_path / "b.md").write_text(" ")
    report = await ingest(store, tmp_path, sync=True)
    assert report.removed == []
    assert await values(store, "select content from source order by 1") == ["два", "раз"]


async def test_lines_are_stored_each_by_itself_and_follow_their_file(store: Store, tmp_path: Path) -> None:
    lines = [json.dumps({"key": key, "content": f"текст\u2028{key}"}, ensure_ascii=False) for key in ("x", "y")]
    write(tmp_path, {"data.jsonl": "\n".join([lines[0], "{corrupt", lines[1]])})
    report = await ingest(store, tmp_path)
    assert report.outcomes == {Outcome.CREATED: 2, Outcome.FAILED: 1}
    assert [result.key for result in report.failed] == ["data.jsonl:2"]
    write(tmp_path, {"data.jsonl": "\n".join([lines[0], "{corrupt"])})
    assert (await ingest(store, tmp_path, sync=True)).removed == [], "the corrupt line may have been y"
    write(tmp_path, {"data.jsonl": lines[0]})
    assert (await ingest(store, tmp_path, sync=True)).removed == ["y"]
    assert await values(store, KEYS) == ["x"]


async def test_lines_of_entities_and_observations_go_in_and_observations_follow_their_file(store: Store, tmp_path: Path) -> None:
    note = {"key": "n", "text": "Slow.", "observedAt": "2026-01-01T00:00:00Z", "about": ["svc"], "by": "ann"}
    things = [{"key": "svc", "type": "service", "title": f"Billing {n}", "attributes": {"n": n}} for n in (1, 2)]
    write(tmp_path, {"notes.jsonl": json.dumps(note), "things.jsonl": "\n".join(map(json.dumps, things))})
    report = await ingest(store, tmp_path)
    assert report.outcomes == {Outcome.CREATED: 2, Outcome.UPDATED: 1}
    assert await values(store, "select title from entity where kind = 'THING'") == ["Billing 2"]
    assert await values(store, "select predicate from fact") == ["about"]
    assert await rows(store, "select author, connector, uri from source") == [
        ("ann", "folder", f"file://{tmp_path}/notes.jsonl#n")
    ]
    assert (await ingest(store, tmp_path)).outcomes[Outcome.CREATED] == 0
    (tmp_path / "notes.jsonl").unlink()
    (tmp_path / "things.jsonl").unlink()
    assert (await ingest(store, tmp_path, sync=True)).removed == ["n"]
    assert await values(store, KEYS) == ["svc"], "an entity without a text has no origin to follow"


async def test_sync_of_a_single_file_leaves_what_stands_beside_it(store: Store, tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "раз", "b.md": "два", "c.jsonl": '{"key":"x","content":"три"}\n{"key":"y","content":"четыре"}'})
    await ingest(store, tmp_path)
    assert (await ingest(store, tmp_path / "a.md", sync=True)).removed == []
    (tmp_path / "c.jsonl").write_text('{"key":"x","content":"три"}')
    assert (await ingest(store, tmp_path / "c.jsonl", sync=True)).removed == ["y"]
    assert await values(store, KEYS) == ["a.md", "b.md", "x"]


async def test_what_is_in_a_folder_that_cannot_be_read_has_not_gone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.md": "раз", "sub/b.md": "два", "sub/c.jsonl": '{"key":"x","content":"три"}', "subway/d.md": "пять"})
    await ingest(store, tmp_path)
    (tmp_path / "subway/d.md").unlink()
    close(tmp_path / "sub", monkeypatch)
    report = await ingest(store, tmp_path, sync=True)
    assert ([one.key for one in report.skipped], report.removed) == (["sub/"], ["subway/d.md"])
    close(tmp_path, monkeypatch)
    with pytest.raises(BadInput, match="cannot be read: Permission denied"):
        await ingest(store, tmp_path, sync=True)
    assert await values(store, KEYS) == ["a.md", "sub/b.md", "x"]


def close(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system refuse to list a folder, as it does to everybody but its administrator."""
    scan = os.scandir

    def refusing(path: Any = ".") -> Any:
        if Path(path) == folder:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refusing)


async def test_a_single_file_has_its_name_as_key_and_its_folder_as_origin(store: Store, tmp_path: Path) -> None:
    write(tmp_path, {"один файл.md": "раз", "два.md": "два"})
    await ingest(store, tmp_path / "один файл.md")
    assert await rows(store, "select e.key, source_path, connector, uri from entity e join source using (ns, entity_id)") == [
        ("один файл.md", "один файл.md", "folder", f"file://{tmp_path}/один файл.md")
    ]


async def test_a_path_or_namespace_that_is_not_there_is_refused(store: Store, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        await ingest(store, tmp_path / "none", sync=True)
    with pytest.raises(BadInput, match="is no file and no folder"):
        await ingest(store, Path("/dev/null"))
    with pytest.raises(NamespaceNotFound):
        await ingest_folder(store.database, store.base, ADMIN, "none", tmp_path)
