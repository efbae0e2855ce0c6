"""Answers questions by LangChain's hybrid search: a line of places comes in, a line of ids goes out."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from langchain_postgres import Column, PGEngine, PGVectorStore  # type: ignore[import-not-found, unused-ignore]
from langchain_postgres.v2.hybrid_search_config import (  # type: ignore[import-not-found, unused-ignore]
    HybridSearchConfig,
    reciprocal_rank_fusion,
)
from langchain_postgres.v2.indexes import HNSWIndex  # type: ignore[import-not-found, unused-ignore]
from sqlalchemy.ext.asyncio import create_async_engine  # type: ignore[import-not-found, unused-ignore]

TABLE = "documents"
K, POOL = 10, 20


class Given:
    """Vectors of questions that are there already, by text."""

    def __init__(self, vectors: dict[str, list[float]]) -> None:
        self.vectors = vectors

    async def aembed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return self.vectors[text]


def config() -> Any:
    """Reciprocal rank fusion of twenty and twenty. A new one each call: it keeps the first query's words for ever."""
    return HybridSearchConfig(
        tsv_column="content_tsv",
        tsv_lang="pg_catalog.russian",
        fusion_function=reciprocal_rank_fusion,
        fusion_function_parameters={"rrf_k": 60, "fetch_top_k": K},
        primary_top_k=POOL,
        secondary_top_k=POOL,
        index_name="documents_words",
    )


async def main(url: str, folder: Path) -> None:
    """Load the set of a folder into the database and answer until the input ends."""
    given = json.loads((folder / "set.json").read_text())
    vectors = [row.tolist() for row in np.load(folder / "questions.npy")]
    embedder = Given({question["text"]: vector for question, vector in zip(given["questions"], vectors, strict=True)})
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))
    store = await loaded(PGEngine.from_engine(engine), embedder, given["documents"], np.load(folder / "documents.npy"))
    while line := await asyncio.to_thread(sys.stdin.readline):
        found = [await ask(store, given["questions"][place]) for place in json.loads(line)]
        print(json.dumps(found), flush=True)
    await engine.dispose()


async def loaded(engine: Any, embedder: Given, documents: list[dict[str, str]], vectors: Any) -> Any:
    """A store with the documents and both indexes, made after the load."""
    await engine.ainit_vectorstore_table(
        TABLE,
        vectors.shape[1],
        metadata_columns=[Column("grp", "TEXT")],
        id_column=Column("langchain_id", "TEXT", nullable=False),
        hybrid_search_config=config(),
    )
    store = await PGVectorStore.create(engine, embedder, TABLE, metadata_columns=["grp"], hybrid_search_config=config())
    await store.aadd_embeddings(
        texts=[one["text"] for one in documents],
        embeddings=vectors.tolist(),
        metadatas=[{"grp": one["group"]} for one in documents],
        ids=[one["id"] for one in documents],
    )
    await store.aapply_vector_index(HNSWIndex(m=16, ef_construction=64))
    await store.aapply_hybrid_search_index()
    return store


async def ask(store: Any, question: dict[str, str]) -> list[str]:
    """The ids of the ten best documents of the question's group."""
    found = await store.asimilarity_search(
        question["text"], k=K, filter={"grp": question["group"]}, hybrid_search_config=config()
    )
    return [document.id for document in found]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
