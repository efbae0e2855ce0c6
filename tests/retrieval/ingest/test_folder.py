"""Files of a folder: which are read, their keys, their encodings."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from retrieval.errors import BadInput
from retrieval.ingest.folder import FileText, SkippedFile, decode, read_folder

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def test_files_are_read_in_order_with_keys_relative_to_the_folder(tmp_path: Path) -> None:
    write(tmp_path, {"b.md": b"b", "a/c.TXT": b"c", "a/b.htm": b"h", "a.jsonl": b"{}", "z.markdown": b"z"})
    assert list(read_folder(tmp_path)) == [
        FileText("a.jsonl", "application/jsonl", "{}"),
        FileText("a/b.htm", "text/html", "h"),
        FileText("a/c.TXT", "text/plain", "c"),
        FileText("b.md", "text/markdown", "b"),
        FileText("z.markdown", "text/markdown", "z"),
    ]


def test_a_single_file_has_its_name_as_key(tmp_path: Path) -> None:
    write(tmp_path, {"a/b.md": b"b"})
    assert list(read_folder(tmp_path / "a" / "b.md")) == [FileText("b.md", "text/markdown", "b")]


def test_a_decomposed_name_gives_a_composed_key(tmp_path: Path) -> None:
    write(tmp_path, {unicodedata.normalize("NFD", "чай.md"): b"x"})
    assert [file.key for file in read_folder(tmp_path)] == ["чай.md"]


def test_hidden_files_are_passed_over_and_other_kinds_are_told(tmp_path: Path) -> None:
    write(tmp_path, {".git/a.md": b"x", ".b.md": b"x", "c.docx": b"x", "LICENSE": b"x"})
    assert [(file.key, file.expected) for file in read_folder(tmp_path) if isinstance(file, SkippedFile)] == [
        ("LICENSE", True),
        ("c.docx", True),
    ]


def test_links_that_lead_out_of_the_folder_are_skipped(tmp_path: Path) -> None:
    write(tmp_path, {"out/secret.md": b"s", "in/a.md": b"a", "out/more/b.md": b"b"})
    (tmp_path / "in" / "leak.md").symlink_to(tmp_path / "out" / "secret.md")
    (tmp_path / "in" / "same.md").symlink_to(tmp_path / "in" / "a.md")
    (tmp_path / "in" / "folder").symlink_to(tmp_path / "out" / "more")
    (tmp_path / "in" / "gone.md").symlink_to(tmp_path / "in" / "nothing.md")
    assert list(read_folder(tmp_path / "in")) == [
        FileText("a.md", "text/markdown", "a"),
        SkippedFile("gone.md", "is not a regular file"),
        SkippedFile("leak.md", "is a link that leads out of the folder"),
        FileText("same.md", "text/markdown", "a"),
    ]


def test_bad_files_are_skipped_with_a_reason_and_the_others_go_on(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": PNG, "b.md": b"\x00" * 5_000_000, "c.md": "да".encode("cp1251"), "d.md": b"", "e.md": b"ok"})
    read = list(read_folder(tmp_path))
    assert read[:2] == [SkippedFile("a.md", "is binary, not text"), SkippedFile("b.md", "is binary, not text")]
    assert isinstance(read[2], SkippedFile)
    assert read[2].reason.startswith("is not UTF-8 (byte 0xE4 at position 0); convert it")
    assert read[3:] == [FileText("d.md", "text/markdown", ""), FileText("e.md", "text/markdown", "ok")]


def test_a_file_over_the_limit_is_skipped_unread(tmp_path: Path) -> None:
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert list(read_folder(tmp_path)) == [SkippedFile("a.md", "is larger than 16 MB; split it")]


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="does not exist"):
        list(read_folder(tmp_path / "nothing"))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_unicode_with_a_byte_order_mark_is_decoded_without_it(encoding: str) -> None:
    assert decode("# Заголовок 😀".encode(encoding)) == "# Заголовок 😀"


@pytest.mark.parametrize("content", [b"\xff\xfea", "да".encode("utf-16-le"), b"a\xff", b"\xd0"])
def test_other_encodings_are_refused(content: bytes) -> None:
    with pytest.raises(BadInput, match=r"is not UTF|is binary"):
        decode(content)


def test_one_nul_in_a_text_does_not_make_it_binary() -> None:
    assert decode("до\x00после и ещё немного слов".encode()) == "до\x00после и ещё немного слов"
