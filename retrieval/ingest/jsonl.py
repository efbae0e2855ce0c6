"""Reads JSON Lines of sources, one a line, by the published schema `schemas/source.schema.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from retrieval.ingest.source_input import Origin, SourceInput
from retrieval.tuning import Tuning

SCHEMA_NAME = "source.schema.json"
_LIMITS = Tuning()
_SHOWN_ERRORS = 3

Name = Annotated[str, Field(min_length=1, max_length=_LIMITS.key_most)]


class EntityKind(StrEnum):
    """What the source is."""

    DOCUMENT = "DOCUMENT"
    EPISODE = "EPISODE"
    OBSERVATION = "OBSERVATION"
    THING = "THING"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class OriginLine(_Strict):
    """Where the source was taken from."""

    connector: str | None = Field(None, description="The program that fetched it.")
    uri: str | None = Field(None, description="Its address at the place of origin.")
    author: str | None = Field(None, description="Who wrote it.")
    fetchedAt: AwareDatetime | None = Field(None, description="When it was fetched, with a zone.")


class SourceLine(_Strict):
    """One source to store; fields as in `SourceInput` of the API."""

    model_config = ConfigDict(title="Source")

    key: Name = Field(description="The key, unique in the namespace: a path, an address, any text.")
    content: str = Field(description="The text as it came.")
    kind: EntityKind = Field(EntityKind.DOCUMENT, description="Decides which section of a context pack the source feeds.")
    type: Name = Field("document", description="The entity type, such as `document` or `ticket`.")
    title: str | None = Field(None, description="Left out: front matter, first heading or key.")
    sourcePath: str | None = Field(None, description="A path that people recognise the source by.")
    mediaType: str = Field("text/markdown", description="text/markdown, text/plain or text/html.")
    meta: dict[str, Any] | None = Field(None, description="Tags to filter fragments by.")
    attributes: dict[str, Any] | None = Field(None, description="Attributes of the entity.")
    status: str | None = Field(None, description="The status of the entity.")
    relevanceScopes: list[str] | None = Field(None, description="What it is about, as `type:id`.")
    restricted: bool | None = Field(None, description="True: only readers with a grant see it. Left out: as stored.")
    readers: list[str] | None = Field(None, description="Principals who may read a restricted source. Left out: as stored.")
    occurredAt: AwareDatetime | None = Field(None, description="When it happened, with a zone.")
    origin: OriginLine | None = Field(None, description="Where the source was taken from.")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be read: its number from 1, and why."""

    number: int
    message: str


def read_sources(lines: Iterable[str | bytes]) -> Iterator[tuple[int, SourceInput] | BadLine]:
    """Read each line by itself: its number and source, or what is wrong with it; blank lines are passed over."""
    for number, line in enumerate(lines, start=1):
        raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if raw.strip():
            yield _read_line(number, raw)


def source_schema() -> dict[str, Any]:
    """The JSON Schema of a line, as published in `schemas/source.schema.json`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA_NAME} | SourceLine.model_json_schema()


def _read_line(number: int, raw: bytes) -> tuple[int, SourceInput] | BadLine:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return BadLine(number, f"Line {number} is not JSON ({error.msg[:200]}); each line is one object, see {SCHEMA_NAME}.")
    try:
        return number, _source(SourceLine.model_validate_json(orjson.dumps(value)))
    except (ValidationError, orjson.JSONEncodeError) as error:
        return BadLine(number, f"Line {number} does not follow {SCHEMA_NAME}: {_reasons(error)}.")


def _source(line: SourceLine) -> SourceInput:
    origin = line.origin
    return SourceInput(
        key=line.key,
        content=line.content,
        kind=line.kind.value,
        type=line.type,
        title=line.title,
        source_path=line.sourcePath,
        media_type=line.mediaType,
        meta=line.meta,
        attributes=line.attributes,
        status=line.status,
        relevance_scopes=line.relevanceScopes,
        restricted=line.restricted,
        readers=line.readers,
        occurred_at=line.occurredAt,
        origin=None if origin is None else Origin(origin.connector, origin.uri, origin.author, origin.fetchedAt),
    )


def _reasons(error: ValidationError | orjson.JSONEncodeError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)[:200]
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    shown = (f"{'.'.join(map(str, item['loc'])) or 'the line'}: {item['msg']}" for item in errors[:_SHOWN_ERRORS])
    more = f" and {len(errors) - _SHOWN_ERRORS} more" if len(errors) > _SHOWN_ERRORS else ""
    return "; ".join(shown)[:500] + more
