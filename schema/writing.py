"""What mutations take and give: one input and one payload each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import strawberry

from resolvers import ingest as resolve_ingest
from schema.entity import field
from schema.enums import EntityKind, ItemOutcome, PrincipalKind, Role
from schema.inputs import described
from schema.knowledge import NamespaceSummary
from schema.scalars import JSON


def given(description: str, **options: Any) -> Any:
    """A described input field that must be given unless it has a default."""
    return strawberry.field(description=description, **options)


@strawberry.input(description="A namespace to make.")
class CreateNamespaceInput:
    name: str = given("The name, up to 200 characters, such as `support`.")
    title: str | None = described("A title for people.")


@strawberry.input(description="A namespace to delete, with everything in it.")
class DeleteNamespaceInput:
    name: str = given("The name.")
    confirm: str = given("The name once more.")


@strawberry.input(description="An entity by its key.")
class EntityKeyInput:
    namespace: str = given("The namespace.")
    key: str = given("The key.")


@strawberry.input(description="An entity to delete with all that hangs on it.")
class DeleteEntityInput:
    namespace: str = given("The namespace.")
    key: str = given("The key.")
    erase: bool = given(
        "Leave nothing of it: also take observations about it, links to it, and vectors kept for its texts.", default=False
    )


@strawberry.input(description="Where a content came from.")
class OriginInput:
    connector: str | None = described("What fetched it, such as `confluence`.")
    uri: str | None = described("Where it was fetched from.")
    author: str | None = described("Who wrote it.")
    fetched_at: datetime | None = described("When it was fetched.")


@strawberry.input(description="A document to store. Left out and null are the same.")
class SourceInput:
    key: str = given("The key, up to 2,000 characters; a source with the same key is replaced.")
    kind: EntityKind = given("What it is.", default=EntityKind.DOCUMENT)
    type: str = given("A finer name for what it is.", default="document")
    title: str | None = described("The title; left out: that of the text, else the key.")
    source_path: str | None = described("Where people find it, such as a site or a folder.")
    media_type: str = given("text/markdown, text/html or text/plain.", default="text/markdown")
    content: str = given("The text, up to 16 MB.")
    meta: JSON | None = described("Tags that every fragment carries.")
    attributes: JSON | None = described("Attributes of the entity; left out keeps those that are stored.")
    status: str | None = described("State, such as `open`.")
    relevance_scopes: list[str] | None = described("What it is about, as `type:id`.")
    restricted: bool | None = described("Whether only `readers` see it; left out keeps what is stored (a new one: false).")
    readers: list[str] | None = described("Principals that may read it when restricted; left out keeps those that are stored.")
    occurred_at: datetime | None = described("When it happened.")
    origin: OriginInput | None = described("Where the content came from.")


@strawberry.input(description="Sources for one namespace.")
class IngestSourcesInput:
    namespace: str = given("The namespace.")
    sources: list[SourceInput] = given("The sources, up to 1,000.")


@strawberry.input(description="A principal to make or change.")
class PrincipalInput:
    name: str = given("The name, unique in the server.")
    kind: PrincipalKind = given("What it is; it stays as it was made.")
    title: str | None = described("A title for people.")


@strawberry.input(description="Principals to make or change.")
class UpsertPrincipalsInput:
    principals: list[PrincipalInput] = given("The principals, up to 1,000.")


@strawberry.input(description="The members of a group.")
class SetMembersInput:
    group: str = given("The group.")
    members: list[str] = given("All its members: whoever is not listed leaves.")


@strawberry.input(description="A role in a namespace, or reading of one restricted entity, for a principal.")
class GrantInput:
    principal: str = given("Who gets it; `everyone` is every authenticated principal.")
    namespace: str = given("The namespace.")
    role: Role = given("The role; with `entityKey` only READER.", default=Role.READER)
    entity_key: str | None = described("A restricted entity; left out: the whole namespace.")


@strawberry.input(description="A bearer token to make.")
class CreateTokenInput:
    principal: str = given("Whom it stands for: a user or a service.")
    expires_at: datetime | None = described("Until when it holds; left out: until it is revoked.")
    label: str | None = described("What it is for.")


@strawberry.input(description="A token to revoke.")
class RevokeTokenInput:
    token_id: strawberry.ID = given("The id that `createToken` gave.")


@strawberry.type(description="A namespace that was made.")
class NamespacePayload:
    namespace: NamespaceSummary | None = field("The namespace.")


@strawberry.type(description="What was deleted.")
class DeletedPayload:
    deleted: bool = field("Whether there was something to delete.")
    counts: JSON = field("How many of each kind went with it.")


@strawberry.type(description="What became of one item.")
class ItemResult:
    key: str = field("The key or name of the item.")
    outcome: ItemOutcome = field("What became of it.")
    code: str | None = field("A stable code, when it failed.")
    message: str | None = field("A sentence, when it failed.")


@strawberry.type(description="What became of each item, in the order given.")
class ItemsPayload:
    results: list[ItemResult] = field("A result for each item.")


@strawberry.type(description="What became of each source, in the order given.")
class IngestSourcesPayload:
    results: list[ItemResult] = field("A result for each source.")
    pending_embeddings: int = field(
        "Fragments of the namespace that wait for their vector.", resolver=resolve_ingest.pending_embeddings
    )


@strawberry.type(description="A token, at the one moment when its secret is known.")
class TokenPayload:
    token: str = field("The secret for `Authorization: Bearer …`; it is not stored.")
    token_id: strawberry.ID = field("Id for `revokeToken`.")
