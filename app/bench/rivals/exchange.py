"""A set with known answers as every contestant gets it, and the files by which other processes read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import orjson

from app.evaluation.collection import Collection, Document, Query, Vectors, find_folder, read_collection, read_vectors
from app.evaluation.report import values_by_query

NO_GROUP = "all"
"""The group of documents and questions that name none."""


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Documents and questions with their vectors, row by row; the same for every contestant."""

    name: str
    collection: Collection
    documents: Vectors
    questions: Vectors

    def groups(self) -> list[str]:
        """The groups of the documents, in order."""
        return sorted({group_of(document) for document in self.collection.documents})

    def quality(self, found: Sequence[Sequence[str]]) -> float:
        """Mean nDCG@10 of the documents that were found for each question, best first."""
        ranking = {query.id: ids for query, ids in zip(self.collection.queries, found, strict=True)}
        values = values_by_query(self.collection, ranking)
        return sum(one["ndcg@10"] for one in values.values()) / len(values)


def read_exchange(name: str, most: int) -> Exchange:
    """The set of that name with at most so many of its questions, evenly spread; raises `BadInput` when it is not there."""
    folder = find_folder(Path(name))
    whole = read_collection(folder)
    documents, questions = read_vectors(folder / "emb", whole, (len(whole.documents), len(whole.queries)))
    kept = spread(len(whole.queries), most)
    collection = replace(whole, queries=tuple(whole.queries[at] for at in kept))
    return Exchange(name, collection, documents, questions[kept])


def spread(count: int, most: int) -> list[int]:
    """Places of at most `most` of `count` things, evenly spread from the first on."""
    taken = min(count, most)
    return [place * count // taken for place in range(taken)]


def write_exchange(exchange: Exchange, folder: Path) -> None:
    """Write what the other processes read: texts as JSON, vectors as arrays."""
    body = {
        "documents": [
            {"id": document.id, "text": whole_text(document), "group": group_of(document)}
            for document in exchange.collection.documents
        ],
        "questions": [{"text": query.text, "group": group_of(query)} for query in exchange.collection.queries],
    }
    (folder / "set.json").write_bytes(orjson.dumps(body))
    np.save(folder / "documents.npy", exchange.documents)
    np.save(folder / "questions.npy", exchange.questions)


def whole_text(document: Document) -> str:
    """Title and text in one, for products that have one field: their words are indexed both, as ours are."""
    return f"{document.title}\n\n{document.text}".strip()


def group_of(one: Document | Query) -> str:
    """The group that a question asks, or that a document is in."""
    return one.group or NO_GROUP
