"""A source as it is given, and the checks that it passes before anything is stored."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from retrieval.errors import BadInput
from retrieval.keys import check_key
from retrieval.question import check_instant, check_scopes, depth_of, encode_json
from retrieval.text import blank, stored, strict
from retrieval.tuning import (
    ABOUT_MOST,
    ATTRIBUTES_BYTES,
    ATTRIBUTES_LEVELS,
    META_BYTES,
    META_LEVELS,
    META_PAIRS,
    NAME_LENGTH,
    PATH_LENGTH,
    READERS_MOST,
    SCOPE_LENGTH,
    SCOPES_MOST,
    SOURCE_BYTES,
    TITLE_LENGTH,
    URI_LENGTH,
    Tuning,
)

KINDS = ("DOCUMENT", "EPISODE", "OBSERVATION", "THING")
KEY_LENGTH = Tuning().key_most
FORM = 3
"""Raised when documents are split or indexed in another way, so that the next ingest of the same text replaces it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a source came from."""

    connector: str | None = None
    uri: str | None = None
    author: str | None = None
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class SourceInput:
    """A document to store under a key; None is as left out.

    `attributes`, `restricted` and `readers` that are left out keep what is stored; everything else is replaced.
    """

    key: str
    content: str
    kind: str = "DOCUMENT"
    type: str = "document"
    title: str | None = None
    source_path: str | None = None
    media_type: str = "text/markdown"
    meta: Mapping[str, Any] | None = None
    attributes: Mapping[str, Any] | None = None
    status: str | None = None
    relevance_scopes: Sequence[str] | None = None
    restricted: bool | None = None
    readers: Sequence[str] | None = None
    occurred_at: datetime | None = None
    origin: Origin | None = None
    about: Sequence[str] = ()
    """Keys of the entities that an observation is about."""


def checked(source: SourceInput) -> SourceInput:
    """The source with every value clean and within its limit; raises `BadInput` with what to change."""
    if source.kind not in KINDS:
        raise BadInput(f"`kind` is one of {', '.join(KINDS)}.")
    if source.restricted is False and source.readers:
        raise BadInput("`readers` go with a restricted source; set `restricted: true` or leave them out.")
    return replace(
        source,
        key=check_key(source.key, KEY_LENGTH),
        content=check_content(source.content),
        type=check_text("type", source.type, NAME_LENGTH),
        title=check_optional("title", source.title, TITLE_LENGTH),
        source_path=check_optional("sourcePath", source.source_path, PATH_LENGTH),
        media_type=check_text("mediaType", source.media_type, NAME_LENGTH),
        meta=check_meta(source.meta),
        attributes=check_attributes(source.attributes),
        status=check_optional("status", source.status, NAME_LENGTH),
        relevance_scopes=check_stored_scopes(source.relevance_scopes or ()),
        readers=None if source.readers is None else check_list("readers", source.readers, READERS_MOST, SCOPE_LENGTH),
        occurred_at=check_moment("occurredAt", source.occurred_at),
        origin=check_origin(source.origin or Origin()),
        about=check_about(source.about),
    )


def digest_of_source(source: SourceInput) -> bytes:
    """SHA-256 over everything given but the rights, which are compared with what is in force."""
    origin = source.origin or Origin()
    given = [
        FORM, source.key, source.kind, source.type, source.title, source.source_path, source.media_type, source.meta,
        source.attributes, source.status, list(source.relevance_scopes or ()), source.occurred_at,
        [origin.connector, origin.uri, origin.author, origin.fetched_at], source.content, *source.about,
    ]  # fmt: skip
    return hashlib.sha256(orjson.dumps(given, option=orjson.OPT_SORT_KEYS)).digest()


def check_content(content: str) -> str:
    """The text without NUL; its size counts as UTF-8."""
    content = stored(content, "The content")
    if len(content.encode()) > SOURCE_BYTES:
        raise BadInput(f"The content is larger than {SOURCE_BYTES // 1024 // 1024} MB; split it into several sources.")
    return content


def check_text(name: str, text: str, most: int) -> str:
    """A short text that may not be blank."""
    text = strict(text, f"`{name}`")
    if blank(text):
        raise BadInput(f"`{name}` is empty.")
    if len(text) > most:
        raise BadInput(f"`{name}` has {len(text):,} characters; at most {most:,} are taken.")
    return text


def check_optional(name: str, text: str | None, most: int) -> str | None:
    """A short text; a blank one is as left out. NUL is removed, since titles are read out of files."""
    if text is None or blank(text := stored(text, f"`{name}`")):
        return None
    return check_text(name, text, most)


def check_list(name: str, values: Sequence[str], most: int, length: int) -> tuple[str, ...]:
    """A list of short texts, each once."""
    if len(values) > most:
        raise BadInput(f"`{name}` has {len(values):,} values; at most {most:,} are taken.")
    return tuple(dict.fromkeys(check_text(name, value, length) for value in values))


def check_stored_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """What something is about, each `type:id` once: another form could be asked for in no pack."""
    return check_scopes("relevanceScopes", check_list("relevanceScopes", scopes, SCOPES_MOST, SCOPE_LENGTH))


def check_about(keys: Sequence[str]) -> tuple[str, ...]:
    """Keys of entities, each once."""
    if len(keys) > ABOUT_MOST:
        raise BadInput(f"`about` has {len(keys):,} values; at most {ABOUT_MOST} are taken.")
    return tuple(dict.fromkeys(check_key(key, KEY_LENGTH, "A key of `about`") for key in keys))


def check_meta(meta: Mapping[str, Any] | None) -> dict[str, Any]:
    """Meta tags: an object of at most 64 pairs, 8 KB and three levels, NUL removed."""
    if meta is None:
        return {}
    if not isinstance(meta, Mapping):
        raise BadInput('`meta` must be an object, such as {"tag": "guide"}.')
    if len(meta) > META_PAIRS or depth_of(dict(meta)) > META_LEVELS:
        raise BadInput(f"`meta` may have {META_PAIRS} pairs and {META_LEVELS} levels.")
    return check_json("meta", meta, META_BYTES)


def check_attributes(attributes: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Attributes: an object of at most 64 KB, NUL removed."""
    if attributes is None:
        return None
    if not isinstance(attributes, Mapping):
        raise BadInput('`attributes` must be an object, such as {"owner": "ops"}.')
    if depth_of(dict(attributes)) > ATTRIBUTES_LEVELS:
        raise BadInput(f"`attributes` may have {ATTRIBUTES_LEVELS} levels.")
    return check_json("attributes", attributes, ATTRIBUTES_BYTES)


def check_json(name: str, value: Mapping[str, Any], most: int) -> dict[str, Any]:
    """An object of JSON as it will be read back, NUL removed; raises `BadInput` when it is too large or not JSON."""
    plain: dict[str, Any] = without_nul(value)
    text = encode_json(name, plain, most)
    if len(text.encode()) > most:
        raise BadInput(f"`{name}` takes {len(text.encode()):,} bytes as JSON; at most {most:,} are taken.")
    loaded: dict[str, Any] = orjson.loads(text)
    return loaded


def without_nul(value: Any) -> Any:
    """A JSON value with NUL removed from its texts and keys; the depth was checked before."""
    if isinstance(value, str):
        return value.replace("\x00", "")
    if isinstance(value, Mapping):
        return {without_nul(key): without_nul(child) for key, child in value.items()}
    if isinstance(value, list | tuple):
        return [without_nul(child) for child in value]
    return value


def check_moment(name: str, instant: datetime | None) -> datetime | None:
    """An instant in UTC, or None."""
    return None if instant is None else check_instant(name, instant)


def check_origin(origin: Origin) -> Origin:
    """The provenance within its limits."""
    return Origin(
        connector=check_optional("origin.connector", origin.connector, NAME_LENGTH),
        uri=check_optional("origin.uri", origin.uri, URI_LENGTH),
        author=check_optional("origin.author", origin.author, PATH_LENGTH),
        fetched_at=check_moment("origin.fetchedAt", origin.fetched_at),
    )
