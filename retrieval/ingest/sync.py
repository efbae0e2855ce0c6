"""Stores the files of a folder, and removes what has gone from it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from retrieval.access import Caller
from retrieval.administration.rights import require
from retrieval.database import Database
from retrieval.errors import BadInput
from retrieval.ingest.deleting import delete_entity
from retrieval.ingest.entities import upsert_entity
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.folder import JSON_LINES, FileText, SkippedFile, count_files, key_of, read_folder
from retrieval.ingest.jsonl import BadLine, Line, read_lines
from retrieval.ingest.source_input import Origin, SourceInput
from retrieval.ingest.sql import statement
from retrieval.ingest.statistics import refresh_statistics
from retrieval.ingest.write import connect_links, ingest_source
from retrieval.migrations import Base
from retrieval.outcomes import ItemResult, Outcome
from retrieval.tuning import FOLDER_WRITERS

CONNECTOR = "folder"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a folder is: files done, files in all, the file that was done last."""

    done: int
    total: int
    key: str


@dataclass(slots=True)
class Report:
    """What became of a folder: counts by outcome, what failed, files that were left out, keys that were removed."""

    outcomes: Counter[Outcome] = field(default_factory=Counter)
    failed: list[ItemResult] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is said of every document of a folder; `source_path` comes before the key.

    A line of JSON Lines speaks for itself, except for rights that it leaves out.
    """

    kind: str = "DOCUMENT"
    type: str = "document"
    source_path: str | None = None
    restricted: bool | None = None
    readers: tuple[str, ...] | None = None

    def of_file(self, file: FileText, origin: Origin) -> SourceInput:
        """A file as a source."""
        path = file.key if self.source_path is None else f"{self.source_path.rstrip('/')}/{file.key}"
        return SourceInput(
            file.key, file.text, self.kind, self.type, source_path=path, media_type=file.media_type,
            restricted=self.restricted, readers=self.readers, origin=origin,
        )  # fmt: skip

    def of_line(self, line: Line) -> Line:
        """A line that says nothing of its rights gets those of the folder."""
        if line.restricted is not None or line.readers is not None:
            return line
        return replace(line, restricted=self.restricted, readers=self.readers)


AS_IT_IS = Shape()


class Run:
    """One walk through a folder by a few writers."""

    def __init__(self, database: Database, base: Base, caller: Caller, namespace: str, path: Path, shape: Shape) -> None:
        if not path.exists():
            raise BadInput(f"{path} does not exist; give the path of a file or a folder.")
        self.database, self.base, self.caller, self.namespace = database, base, caller, namespace
        folder = path.resolve().parent if path.is_file() else path.resolve()
        self.shape = shape
        self.prefix = f"file://{folder.as_posix().rstrip('/')}/"
        # Of a single file only its own lines may have gone: what stands beside it was not looked at.
        self.synced = f"{self.prefix}{key_of(path.name)}#" if path.is_file() else self.prefix
        self.files: Iterator[FileText | SkippedFile] = read_folder(path)
        self.total = count_files(path)
        self.report = Report()
        self.seen: set[str] = set()
        self.unread: list[str] = []
        self.done = 0
        self._reading = asyncio.Lock()

    async def write(self, on_progress: Callable[[Progress], None]) -> None:
        """Store file after file until none is left; several of these run at once."""
        while (file := await self.next_file()) is not None:
            if isinstance(file, SkippedFile):
                self.skip(file)
            elif file.media_type == JSON_LINES:
                await self.store_lines(file)
            else:
                origin = Origin(CONNECTOR, self.prefix + file.key)
                await self.store(self.shape.of_file(file, origin))
            self.done += 1
            on_progress(Progress(self.done, max(self.total, self.done), file.key))

    async def next_file(self) -> FileText | SkippedFile | None:
        """Read the next file off the event loop."""
        async with self._reading:
            return await asyncio.to_thread(next, self.files, None)

    def skip(self, file: SkippedFile) -> None:
        """A file that cannot be read has not gone, nor has what is in a folder that cannot."""
        self.report.skipped.append(file)
        self.seen.add(file.key)
        self.unread.append(f"{self.prefix}{file.key}{'' if file.key.endswith('/') else '#'}")

    async def store_lines(self, file: FileText) -> None:
        """Store each line by itself; a line that cannot be read is reported by its number."""
        place = f"{self.prefix}{file.key}#"
        for line in read_lines(file.text.split("\n")):
            if isinstance(line, BadLine):
                failure = ItemResult(f"{file.key}:{line.number}", Outcome.FAILED, "BAD_INPUT", line.message)
                self.count(failure)
                self.unread.append(place)
            else:
                await self.store_line(self.shape.of_line(line[1]), place)

    async def store_line(self, line: Line, place: str) -> None:
        """Store a source as come from the folder unless it says where from, or an entity, which has no origin."""
        if isinstance(line, EntityInput):
            self.seen.add(line.key)
            self.count(await upsert_entity(self.database, self.caller, self.namespace, line))
            return
        origin = line.origin or Origin()
        if origin.connector is None and origin.uri is None and origin.fetched_at is None:
            origin = replace(origin, connector=CONNECTOR, uri=place + line.key)
        await self.store(replace(line, origin=origin))

    async def store(self, source: SourceInput) -> None:
        """Store one source and count what became of it."""
        self.seen.add(source.key)
        self.count(await ingest_source(self.database, self.base, self.caller, self.namespace, source))

    def count(self, result: ItemResult) -> None:
        """Count an outcome."""
        self.report.outcomes[result.outcome] += 1
        if result.outcome is Outcome.FAILED:
            self.report.failed.append(result)

    async def remove_gone(self, ns: int) -> None:
        """Delete the documents that came from this folder and are no longer in it."""
        async with self.database.reading() as connection:
            rows = await connection.fetch(statement("sources_of_folder"), ns, CONNECTOR, self.synced)
        for row in rows:
            if row["key"] not in self.seen and not row["uri"].startswith(tuple(self.unread)):
                await delete_entity(self.database, self.caller, self.namespace, row["key"])
                self.report.removed.append(row["key"])


async def ingest_folder(
    database: Database,
    base: Base,
    caller: Caller,
    namespace: str,
    path: Path,
    *,
    shape: Shape = AS_IT_IS,
    sync: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Report:
    """Store a file or the files of a folder, then connect links and refresh the statistics of the namespace.

    The key of a file is its path inside the folder. With `sync`, documents that were stored from the same folder, or from lines
    of the same file, and have gone from it are deleted with their entity; what other writers stored stays. Needs WRITER, with
    `sync` ADMIN. Raises `BadInput` when the path does not exist, `NamespaceNotFound`, `Forbidden`.
    """
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "ADMIN" if sync else "WRITER")
    run = Run(database, base, caller, namespace, path, shape)
    async with asyncio.TaskGroup() as group:
        for _ in range(FOLDER_WRITERS):
            group.create_task(run.write(on_progress))
    if sync:
        await run.remove_gone(ns)
    await connect_links(database, ns)
    await refresh_statistics(database, ns)
    return run.report
