"""What fields of a source do beyond naming an attribute."""

from __future__ import annotations

from resolvers.arguments import Info
from resolvers.provenance import Step, origin_step
from retrieval.keys import public_id
from retrieval.records import PersonalDataFinding, Source


def source_id(root: Source) -> str:
    """The public id."""
    return public_id("source", root.entity.ns, root.entity.entity_id)


def namespace(root: Source) -> str:
    """The namespace of the entity."""
    return root.entity.namespace


def key(root: Source) -> str:
    """The key of the entity."""
    return root.entity.key


def title(root: Source) -> str:
    """The title of the entity."""
    return root.entity.title


def source_path(root: Source) -> str | None:
    """The path of the entity."""
    return root.entity.source_path


async def content(root: Source, info: Info) -> str | None:
    """The stored content, loaded only when it is asked for."""
    return await (await info.context.catalogue()).contents.one((root.entity.ns, root.entity.entity_id))


def personal_data(root: Source) -> list[PersonalDataFinding]:
    """What was found, by kind."""
    return list(root.personal_data)


def provenance(root: Source) -> list[Step]:
    """The origin."""
    return [origin_step(root)]
