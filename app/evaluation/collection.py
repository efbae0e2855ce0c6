"""Reads a set with known answers: documents, queries, judgments, and their vectors where these are given."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Collection as Many
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from retrieval.errors import BadInput
from retrieval.text import clean

Vectors = np.ndarray[Any, np.dtype[np.float32]]

DEFAULT_DATA = "../shared/data"
WHEN = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Document:
    """A document of the set; `position` is its line in the file, from 0."""

    position: int
    id: str
    title: str
    text: str
    group: str | None
    occurred_at: datetime | None = None
    """When it was said, in sets of dated conversations (`when`); taken as UTC."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query of the set; only documents of its group compete when it has one."""

    position: int
    id: str
    text: str
    group: str | None
    category: str | None


@dataclass(frozen=True, slots=True)
class Collection:
    """A set as it is asked: `judgments` gives the grade of each judged document by query."""

    documents: tuple[Document, ...]
    queries: tuple[Query, ...]
    judgments: dict[str, dict[str, int]]


def data_folder() -> Path:
    """Where the sets that may not ship are: `EVAL_DATA`, by default a folder beside the checkout."""
    return Path(os.environ.get("EVAL_DATA") or DEFAULT_DATA)


def find_folder(folder: Path) -> Path:
    """The folder as given or, when it is not there, the one of that name in `EVAL_DATA`; raises `BadInput`."""
    for candidate in (folder, data_folder() / folder):
        if (candidate / "corpus.jsonl.gz").is_file():
            return candidate
    raise BadInput(f"There is no corpus.jsonl.gz in {folder}, nor in {data_folder() / folder} (EVAL_DATA).")


def read_collection(folder: Path, groups: Many[str] | None = None) -> Collection:
    """The set in a folder, only some of its groups if named; raises `BadInput` with file and line of what is wrong."""
    documents = tuple(
        Document(at, row["id"], clean(row.get("title") or ""), clean(row["text"]), row.get("group"), instant_of(row.get("when")))
        for at, row in rows_of(folder / "corpus.jsonl.gz", ("id", "text"))
        if groups is None or row.get("group") in groups
    )
    queries = tuple(
        Query(at, row["id"], row["text"], row.get("group"), row.get("category"))
        for at, row in rows_of(folder / "queries.jsonl", ("id", "text"))
        if groups is None or row.get("group") in groups
    )
    if not documents or not queries:
        asked = "" if groups is None else f" in the groups {', '.join(sorted(groups))}"
        raise BadInput(f"{folder} has {len(documents)} documents and {len(queries)} queries{asked}; both are needed.")
    twice = len(documents) - len({document.id for document in documents})
    if twice:
        raise BadInput(f"{folder / 'corpus.jsonl.gz'} has {twice} ids twice.")
    return Collection(documents, queries, read_judgments(folder / "qrels.tsv"))


def instant_of(when: str | None) -> datetime | None:
    """A date as conversations have it; raises `BadInput` for one of another form."""
    try:
        return None if when is None else datetime.strptime(when, WHEN).replace(tzinfo=UTC)
    except ValueError:
        raise BadInput(f"{when!r} is no date such as `1:56 pm on 8 May, 2023`.") from None


def rows_of(file: Path, needed: tuple[str, ...]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their positions; gzip when the name says so."""
    for at, line in lines_of(file):
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise BadInput(f"{file}, line {at + 1}: no JSON ({error}).") from error
        if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in needed):
            raise BadInput(f"{file}, line {at + 1}: an object with {' and '.join(needed)} is needed.")
        yield at, row


def read_judgments(file: Path) -> dict[str, dict[str, int]]:
    """Grades by query and document; lines of query, document and grade, separated by tabs."""
    grades: dict[str, dict[str, int]] = {}
    for at, line in lines_of(file):
        parts = line.decode(errors="replace").split("\t")
        try:
            query, document, grade = parts
            grades.setdefault(query, {})[document] = int(grade)
        except ValueError:
            raise BadInput(f"{file}, line {at + 1}: query, document and grade are needed, separated by tabs.") from None
    return grades


def lines_of(file: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not empty, with their positions among them."""
    try:
        content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{file} cannot be read: {error}.") from error
    yield from enumerate(line for line in content.split(b"\n") if line.strip())


def read_vectors(folder: Path, collection: Collection, whole: tuple[int, int]) -> tuple[Vectors, Vectors]:
    """The given vectors of the documents and queries of a collection, in its order; raises `BadInput`.

    The files have a row for each line of the set (`whole`: how many) or, when they were made for some groups only, a row
    for each document and query of these.
    """
    chosen = (
        ("docs.npy", [document.position for document in collection.documents], whole[0]),
        ("queries.npy", [query.position for query in collection.queries], whole[1]),
    )
    documents, queries = (rows_for(folder / name, positions, every) for name, positions, every in chosen)
    if documents.shape[1] != queries.shape[1]:
        raise BadInput(f"{folder}: documents have {documents.shape[1]} dimensions, queries {queries.shape[1]}.")
    return documents, queries


def rows_for(file: Path, positions: list[int], every: int) -> Vectors:
    """The rows of one file at these positions of the set, as 32-bit numbers."""
    try:
        vectors = np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {error}.") from error
    if vectors.ndim != 2 or len(vectors) not in (every, len(positions)):
        raise BadInput(
            f"{file} holds an array of shape {vectors.shape}; {every} rows are needed for the whole set"
            f" or {len(positions)} for what is asked (see --groups)."
        )
    rows = vectors[positions] if len(vectors) == every else vectors
    return np.asarray(rows, dtype=np.float32)
