"""What a chat provider may read: without personal data, unless the deployment allows them."""

from __future__ import annotations

from dataclasses import replace

from retrieval.personal.masking import masked
from retrieval.personal.parts import masked_parts
from retrieval.records import Entity, Fragment


def entity_for_chat(entity: Entity, allowed: bool) -> Entity:
    """An entity as it stands in a prompt, its key masked too."""
    if allowed:
        return entity
    status, path = entity.status, entity.source_path
    return replace(
        entity, key=masked(entity.key), title=masked(entity.title), status=None if status is None else masked(status),
        source_path=None if path is None else masked(path),
    )  # fmt: skip


def fragment_for_chat(fragment: Fragment, allowed: bool) -> Fragment:
    """A fragment as it stands in a prompt."""
    if allowed:
        return fragment
    parts = fragment.title, fragment.heading, fragment.text
    title, heading, text = parts if fragment.sealed else masked_parts(*parts)
    return replace(fragment, entity=entity_for_chat(fragment.entity, allowed), title=title, heading=heading, text=text)


def question_for_chat(question: str, allowed: bool) -> str:
    """A question as it stands in a prompt."""
    return question if allowed else masked(question)
