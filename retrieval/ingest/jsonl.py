"""Reads JSON Lines of sources, entities and observations, one a line, by the published schemas in `schemas/`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import orjson
from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from retrieval.errors import BadInput
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.observations import ObservationInput, source_of
from retrieval.ingest.source_input import Origin, SourceInput
from retrieval.tuning import OBSERVATION_CHARACTERS, Tuning

_LIMITS = Tuning()
_SHOWN_ERRORS = 3

Name = Annotated[str, Field(min_length=1, max_length=_LIMITS.key_most)]


def _written(value: Any) -> Any:
    """An instant as it is written out: numbers, which may be seconds or milliseconds, are none."""
    if isinstance(value, str) and "-" in value[1:]:
        return value
    raise ValueError("an instant is text such as 2026-09-05T00:00:00Z")


Instant = Annotated[AwareDatetime, BeforeValidator(_written)]


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
    fetchedAt: Instant | None = Field(None, description="When it was fetched, with a zone.")


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
    occurredAt: Instant | None = Field(None, description="When it happened, with a zone.")
    origin: OriginLine | None = Field(None, description="Where the source was taken from.")


class EntityLine(_Strict):
    """One entity without a text to store; fields as in `EntityInput` of the API. It has no `content`."""

    model_config = ConfigDict(title="Entity")

    key: Name = Field(description="The key, unique in the namespace.")
    type: Name = Field(description="The entity type, such as `service`.")
    title: str = Field(description="The title.")
    kind: EntityKind = Field(EntityKind.THING, description="Decides which section of a context pack the entity feeds.")
    status: str | None = Field(None, description="The status; empty clears it. Left out, here and below: as stored.")
    sourcePath: str | None = Field(None, description="A path that people recognise it by; empty clears it.")
    attributes: dict[str, Any] | None = Field(None, description="Attributes that hold from `validFrom` to the next version.")
    validFrom: Instant | None = Field(None, description="Since when they hold, with a zone. A line for each version.")
    meta: dict[str, Any] | None = Field(None, description="Tags.")
    relevanceScopes: list[str] | None = Field(None, description="What it is about, as `type:id`.")
    restricted: bool | None = Field(None, description="True: only readers with a grant see it.")
    readers: list[str] | None = Field(None, description="Principals who may read a restricted entity.")
    occurredAt: Instant | None = Field(None, description="When it happened, with a zone.")


class ObservationLine(_Strict):
    """One dated note to store; fields as in `ObservationInput` of the API, the key required so that a file may come twice."""

    model_config = ConfigDict(title="Observation")

    key: Name = Field(description="The key, unique in the namespace.")
    text: str = Field(min_length=1, max_length=OBSERVATION_CHARACTERS, description="What was observed, plain text.")
    observedAt: Instant = Field(description="When, with a zone.")
    about: list[str] | None = Field(None, description="Keys of entities that it is about; they may come later.")
    relevanceScopes: list[str] | None = Field(None, description="What it is about, as `type:id`.")
    by: str | None = Field(None, description="Who observed it.")
    restricted: bool | None = Field(None, description="True: only readers with a grant see it. Left out: as stored.")
    readers: list[str] | None = Field(None, description="Principals who may read it when restricted. Left out: as stored.")


Line: TypeAlias = SourceInput | EntityInput
"""What a line becomes; an observation is a source."""
LINES: dict[str, type[_Strict]] = {
    "source.schema.json": SourceLine, "entity.schema.json": EntityLine, "observation.schema.json": ObservationLine,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be read: its number from 1, and why."""

    number: int
    message: str


def read_lines(lines: Iterable[str | bytes]) -> Iterator[tuple[int, Line] | BadLine]:
    """Read each line by itself: its number and what it says, or what is wrong with it; blank lines are passed over.

    A line with a `content` is a source, one with a `text` an observation, one with a `title` else an entity.
    """
    for number, line in enumerate(lines, start=1):
        raw = line.encode("utf-8", "surrogatepass") if isinstance(line, str) else line
        if number == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if raw.strip():
            yield _read_line(number, raw)


def line_schema(name: str) -> dict[str, Any]:
    """The JSON Schema of a line, as published in `schemas/`."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": name} | LINES[name].model_json_schema()


def _schema_of(value: Any) -> str:
    if not isinstance(value, dict) or "content" in value:
        return "source.schema.json"
    if "text" in value:
        return "observation.schema.json"
    return "entity.schema.json" if "title" in value and "type" in value else "source.schema.json"


def _read_line(number: int, raw: bytes) -> tuple[int, Line] | BadLine:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        shapes = ", ".join(LINES)
        return BadLine(number, f"Line {number} is not JSON ({error.msg[:200]}); each line is one object, see {shapes}.")
    name = _schema_of(value)
    try:
        return number, _read(LINES[name].model_validate_json(orjson.dumps(value)))
    except (ValidationError, orjson.JSONEncodeError) as error:
        return BadLine(number, f"Line {number} does not follow {name}: {reasons(error)}.")
    except BadInput as error:
        return BadLine(number, f"Line {number}: {error.message}")


def _read(line: _Strict) -> Line:
    match line:
        case SourceLine():
            return _source(line)
        case EntityLine():
            return _entity(line)
        case ObservationLine():
            return source_of(_observation(line), line.key)
    raise AssertionError("unreachable")


def _entity(line: EntityLine) -> EntityInput:
    return EntityInput(
        key=line.key,
        type=line.type,
        title=line.title,
        kind=line.kind.value,
        status=line.status,
        source_path=line.sourcePath,
        attributes=line.attributes,
        valid_from=line.validFrom,
        meta=line.meta,
        relevance_scopes=line.relevanceScopes,
        restricted=line.restricted,
        readers=line.readers,
        occurred_at=line.occurredAt,
    )


def _observation(line: ObservationLine) -> ObservationInput:
    return ObservationInput(
        text=line.text,
        observed_at=line.observedAt,
        key=line.key,
        about=line.about,
        relevance_scopes=line.relevanceScopes,
        by=line.by,
        restricted=line.restricted,
        readers=line.readers,
    )


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


def reasons(error: ValidationError | orjson.JSONEncodeError) -> str:
    """The first reasons why a line is refused, each with the field it is about."""
    if not isinstance(error, ValidationError):
        return str(error)[:200]
    errors = error.errors(include_url=False, include_input=False, include_context=False)
    shown = (f"{'.'.join(map(str, item['loc'])) or 'the line'}: {item['msg']}" for item in errors[:_SHOWN_ERRORS])
    more = f" and {len(errors) - _SHOWN_ERRORS} more" if len(errors) > _SHOWN_ERRORS else ""
    return "; ".join(shown)[:500] + more
