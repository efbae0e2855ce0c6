"""An entity as it is given without a text of its own, and the checks that it passes before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from retrieval.errors import BadInput
from retrieval.ingest.documents import one_line
from retrieval.ingest.source_input import (
    KEY_LENGTH,
    KINDS,
    check_attributes,
    check_list,
    check_meta,
    check_moment,
    check_stored_scopes,
    check_text,
)
from retrieval.keys import check_key
from retrieval.text import blank, stored
from retrieval.tuning import NAME_LENGTH, PATH_LENGTH, READERS_MOST, SCOPE_LENGTH, TITLE_LENGTH


@dataclass(frozen=True, slots=True)
class EntityInput:
    """An entity to store under a key; None is as left out, and what is left out keeps what is stored.

    Attributes hold from `valid_from` to the start of the next version.
    """

    key: str
    type: str
    title: str
    kind: str = "THING"
    status: str | None = None
    source_path: str | None = None
    attributes: Mapping[str, Any] | None = None
    valid_from: datetime | None = None
    meta: Mapping[str, Any] | None = None
    relevance_scopes: Sequence[str] | None = None
    restricted: bool | None = None
    readers: Sequence[str] | None = None
    occurred_at: datetime | None = None


def checked(entity: EntityInput) -> EntityInput:
    """The entity with every value clean and within its limit; raises `BadInput` with what to change."""
    if entity.kind not in KINDS:
        raise BadInput(f"`kind` is one of {', '.join(KINDS)}.")
    if entity.restricted is False and entity.readers:
        raise BadInput("`readers` go with a restricted entity; set `restricted: true` or leave them out.")
    if entity.valid_from is not None and entity.attributes is None:
        raise BadInput("`validFrom` is the start of attributes; give `attributes` with it or leave it out.")
    scopes = entity.relevance_scopes
    return replace(
        entity,
        key=check_key(entity.key, KEY_LENGTH),
        type=check_text("type", entity.type, NAME_LENGTH),
        title=one_line(check_text("title", entity.title, TITLE_LENGTH)),
        status=check_kept("status", entity.status, NAME_LENGTH),
        source_path=check_kept("sourcePath", entity.source_path, PATH_LENGTH),
        attributes=check_attributes(entity.attributes),
        valid_from=check_moment("validFrom", entity.valid_from),
        meta=None if entity.meta is None else check_meta(entity.meta),
        relevance_scopes=None if scopes is None else check_stored_scopes(scopes),
        readers=None if entity.readers is None else check_list("readers", entity.readers, READERS_MOST, SCOPE_LENGTH),
        occurred_at=check_moment("occurredAt", entity.occurred_at),
    )


def check_kept(name: str, text: str | None, most: int) -> str | None:
    """A short text: None keeps what is stored, a blank one clears it."""
    if text is None:
        return None
    return "" if blank(stored(text, f"`{name}`")) else check_text(name, text, most)
