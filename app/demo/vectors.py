"""The vectors of the demo corpus: shipped as files, so that a first start embeds nothing.

`python -m app.demo.vectors` makes the files anew after a change of the corpus or of its splitting (about ten minutes on two
cores for all of it; vectors that still fit are kept).
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from app.config import LOCAL_MODEL
from app.demo.corpus import LANGUAGES, pages
from app.providers.local import DIMENSIONS, LocalEmbedder
from retrieval.ingest.documents import read_document
from retrieval.ingest.indexing import indexed
from retrieval.ingest.source_input import SourceInput
from retrieval.ports import Embedder
from retrieval.store import digest_of

FOLDER = Path(__file__).parent
ROW = np.dtype([("digest", "u1", (32,)), ("vector", "<f2", (DIMENSIONS,))])
"""One text: SHA-256 of model and text, and its vector in half precision, as the database keeps it."""
Vector = np.ndarray[Any, np.dtype[np.float16]]


def file_of(language: str, folder: Path = FOLDER) -> Path:
    """The file with the vectors of a language."""
    return folder / f"vectors-{language}.npy"


def shipped_vectors(file: Path) -> dict[bytes, Vector]:
    """The vectors of a file by the digest of model and text; none when there is no file."""
    if not file.is_file():
        return {}
    rows = np.load(file, allow_pickle=False)
    return {row["digest"].tobytes(): row["vector"] for row in rows}


def embedded_texts(sources: list[SourceInput]) -> dict[bytes, str]:
    """What is embedded of each fragment of some pages, by digest."""
    texts: dict[bytes, str] = {}
    for source in sources:
        document = read_document(source.key, source.content, source.media_type, source.title, source.meta)
        for piece in document.pieces:
            text = indexed(document.title, piece.heading, piece.text).embedded
            texts[digest_of(LOCAL_MODEL, text)] = text
    return texts


async def make_vectors(file: Path, texts: dict[bytes, str], embedder: Embedder) -> int:
    """Write the vectors of these texts and no others; gives how many were made anew. What is done is kept when it is stopped."""
    vectors = {digest: vector for digest, vector in shipped_vectors(file).items() if digest in texts}
    missing = [digest for digest in texts if digest not in vectors]
    starts = range(0, len(missing), embedder.batch_size)
    for start in track(starts, f"Embedding for {file.name}", console=Console(stderr=True)):
        batch = missing[start : start + embedder.batch_size]
        made = await embedder.embed_passages([texts[digest] for digest in batch])
        vectors.update(zip(batch, made.astype(np.float16), strict=True))
        write_vectors(file, vectors)
    write_vectors(file, vectors)
    return len(missing)


def write_vectors(file: Path, vectors: dict[bytes, Vector]) -> None:
    """Write a file whole or not at all, in the order of the digests: equal vectors give equal bytes."""
    rows = np.empty(len(vectors), ROW)
    for row, (digest, vector) in zip(rows, sorted(vectors.items()), strict=True):
        row["digest"] = np.frombuffer(digest, np.uint8)
        row["vector"] = vector
    unfinished = file.with_suffix(".new.npy")
    np.save(unfinished, rows)
    unfinished.replace(file)


async def make_all() -> None:
    """Make the files of all languages."""
    embedder = LocalEmbedder()
    try:
        for language in LANGUAGES:
            made = await make_vectors(file_of(language), embedded_texts(pages(language)), embedder)
            print(f"{file_of(language).name}: {made} made, {len(shipped_vectors(file_of(language)))} in all.")
    finally:
        await embedder.close()


if __name__ == "__main__":
    asyncio.run(make_all())
