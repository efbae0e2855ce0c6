"""Finds the files of a folder that can be ingested, and decodes them."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from retrieval.errors import BadInput
from retrieval.tuning import JSON_LINES_BYTES, SOURCE_BYTES

JSON_LINES = "application/jsonl"
NEITHER = "{} does not exist or is no file and no folder; give the path of one."
MEDIA_TYPES_BY_EXTENSION = {
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".txt": "text/plain",
    ".html": "text/html",
    ".htm": "text/html",
    ".jsonl": JSON_LINES,
}
_MARKS = (  # the longer mark of UTF-32 begins like that of UTF-16
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_BINARY_BEGINNINGS = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF8",
    b"%PDF",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\x7fELF",
    b"BM",
    b"\xd0\xcf\x11\xe0",
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_SAMPLE_BYTES = 65_536
_BINARY_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class FileText:
    """A file to ingest: its key, its media type, its decoded text."""

    key: str
    media_type: str
    text: str


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file, or a folder (its key ends with `/`), that is left out, and why; `expected` when it is merely of another kind."""

    key: str
    reason: str
    expected: bool = False


def read_folder(path: Path) -> Iterator[FileText | SkippedFile]:
    """Read a file, or the files of a folder in the order of their keys, one at a time.

    The key of a file is its path relative to the folder with `/`, in composed form; of a single file its name. Hidden files
    and folders are passed over; links that lead out of the folder are skipped. Raises `BadInput` when the path does not exist.
    """
    if path.is_file():
        yield _read_file(path, path.name)
    elif path.is_dir():
        root = path.resolve()
        closed: list[OSError] = []
        files = sorted(_files(root, closed.append), key=lambda file: file.relative_to(root).as_posix())
        for error in closed:
            folder = Path(error.filename).relative_to(root).as_posix()
            yield SkippedFile(f"{key_of(folder)}/", f"cannot be read: {error.strerror or error}")
        for file in files:
            key = file.relative_to(root).as_posix()
            if file.is_symlink() and not file.resolve().is_relative_to(root):
                yield SkippedFile(key_of(key), "is a link that leads out of the folder")
            else:
                yield _read_file(file, key)
    else:
        raise BadInput(NEITHER.format(path))


def count_files(path: Path) -> int:
    """How many files `read_folder` will give, for a progress bar; raises `BadInput` for a path that cannot be read."""
    if path.is_file():
        return 1
    if not path.is_dir():
        raise BadInput(NEITHER.format(path))
    try:
        os.scandir(path).close()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror or error}.") from None
    return sum(1 for _ in _files(path.resolve()))


def decode(content: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 and UTF-32 with a byte order mark, which is removed. Raises `BadInput` otherwise."""
    encoding = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), None)
    if encoding is None and _is_binary(content):
        raise BadInput("is binary, not text")
    try:
        return content.decode(encoding or "utf-8-sig")
    except UnicodeDecodeError as error:
        place = f"byte 0x{content[error.start]:02X} at position {error.start}" if error.start < len(content) else "at its end"
        name = (encoding or "utf-8").upper()
        raise BadInput(f"is not {name} ({place}); convert it, for example with `iconv -f CP1251 -t UTF-8`") from error


def key_of(path: str) -> str:
    """The key of a file at this path inside its folder."""
    return unicodedata.normalize("NFC", os.fsencode(path).decode("utf-8", "replace"))


def _files(root: Path, on_closed: Callable[[OSError], None] | None = None) -> Iterator[Path]:
    for folder, folders, names in os.walk(root, onerror=on_closed, followlinks=False):
        folders[:] = [name for name in folders if not name.startswith(".")]
        yield from (Path(folder, name) for name in names if not name.startswith("."))


def _read_file(file: Path, name: str) -> FileText | SkippedFile:
    key = key_of(name)
    media_type = MEDIA_TYPES_BY_EXTENSION.get(file.suffix.lower())
    if media_type is None:
        return SkippedFile(key, f"is not one of {', '.join(MEDIA_TYPES_BY_EXTENSION)}", expected=True)
    most = JSON_LINES_BYTES if media_type == JSON_LINES else SOURCE_BYTES
    try:
        if not file.is_file():
            return SkippedFile(key, "is not a regular file")
        if file.stat().st_size > most:
            return SkippedFile(key, f"is larger than {most // 2**20} MB; split it")
        return FileText(key, media_type, decode(file.read_bytes()))
    except OSError as error:
        return SkippedFile(key, f"cannot be read: {error.strerror or error}")
    except BadInput as error:
        return SkippedFile(key, error.message)


def _is_binary(content: bytes) -> bool:
    sample = content[:_SAMPLE_BYTES]
    return content.startswith(_BINARY_BEGINNINGS) or len(_CONTROL.findall(sample)) > len(sample) * _BINARY_SHARE
