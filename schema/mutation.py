"""What can be changed."""

from __future__ import annotations

from typing import Annotated

import strawberry

from resolvers import administration, domain, facts, ingest, upserting
from resolvers.arguments import Info
from retrieval.administration.tokens import NewToken
from retrieval.domain.applying import Applied
from retrieval.outcomes import Deletion
from schema.domain import ApplyDomainPackInput, DomainPackPayload
from schema.fact import AssertFactsInput, FactsPayload, RetractFactsInput
from schema.upserting import RecordObservationsInput, UpsertEntitiesInput
from schema.writing import (
    CreateNamespaceInput,
    CreateTokenInput,
    DeletedPayload,
    DeleteEntityInput,
    DeleteNamespaceInput,
    EntityKeyInput,
    GrantInput,
    IngestSourcesInput,
    IngestSourcesPayload,
    ItemsPayload,
    NamespacePayload,
    RevokeTokenInput,
    SetMembersInput,
    TokenPayload,
    UpsertPrincipalsInput,
)

Doc = strawberry.argument(description="What to do.")


@strawberry.type(description="Everything that can be changed.")
class Mutation:
    @strawberry.mutation(
        description="Make a namespace; only an administrator of the server may.", graphql_type=NamespacePayload | None
    )
    async def create_namespace(self, info: Info, input: Annotated[CreateNamespaceInput, Doc]) -> administration.CreatedNamespace:
        return await administration.create_namespace(info, input.name, input.title)

    @strawberry.mutation(
        description="Delete a namespace with everything in it; needs ADMIN there.", graphql_type=DeletedPayload | None
    )
    async def delete_namespace(self, info: Info, input: Annotated[DeleteNamespaceInput, Doc]) -> Deletion:
        return await administration.delete_namespace(info, input.name, input.confirm)

    @strawberry.mutation(
        description="Store sources, each in a transaction of its own; needs WRITER.", graphql_type=IngestSourcesPayload | None
    )
    async def ingest_sources(self, info: Info, input: Annotated[IngestSourcesInput, Doc]) -> ingest.Ingested:
        return await ingest.ingest_sources(info, input.namespace, input.sources)

    @strawberry.mutation(
        description="Delete the text of an entity; the entity itself stays. Needs ADMIN.", graphql_type=DeletedPayload | None
    )
    async def delete_source(self, info: Info, input: Annotated[EntityKeyInput, Doc]) -> Deletion:
        return await ingest.delete_source(info, input.namespace, input.key)

    @strawberry.mutation(
        description="Store entities, each in a transaction of its own; a text that one has stays. Needs WRITER.",
        graphql_type=ItemsPayload | None,
    )
    async def upsert_entities(self, info: Info, input: Annotated[UpsertEntitiesInput, Doc]) -> administration.Items:
        return await upserting.upsert_entities(info, input.namespace, input.entities)

    @strawberry.mutation(
        description="Store short dated notes, each in a transaction of its own. Needs WRITER.", graphql_type=ItemsPayload | None
    )
    async def record_observations(self, info: Info, input: Annotated[RecordObservationsInput, Doc]) -> administration.Items:
        return await upserting.record_observations(info, input.namespace, input.observations, input.idempotency_key)

    @strawberry.mutation(
        description="Delete an entity with its text and its facts. Needs ADMIN.", graphql_type=DeletedPayload | None
    )
    async def delete_entity(self, info: Info, input: Annotated[DeleteEntityInput, Doc]) -> Deletion:
        return await ingest.delete_entity(info, input.namespace, input.key, input.erase)

    @strawberry.mutation(
        description="Assert facts, or change and close them by their id, all in one transaction; one that is refused stops no "
        "other. Needs WRITER.",
        graphql_type=FactsPayload | None,
    )
    async def assert_facts(self, info: Info, input: Annotated[AssertFactsInput, Doc]) -> facts.Written:
        return await facts.assert_facts(info, input.namespace, input.facts, input.idempotency_key)

    @strawberry.mutation(
        description="Retract facts from now on; `knownAt` still reads what was known before. Needs WRITER.",
        graphql_type=FactsPayload | None,
    )
    async def retract_facts(self, info: Info, input: Annotated[RetractFactsInput, Doc]) -> facts.Written:
        return await facts.retract_facts(info, input.namespace, input.fact_ids)

    @strawberry.mutation(
        description="Give a namespace a domain pack, whole or not at all; what is stored must follow it. Needs ADMIN.",
        graphql_type=DomainPackPayload | None,
    )
    async def apply_domain_pack(self, info: Info, input: Annotated[ApplyDomainPackInput, Doc]) -> Applied:
        return await domain.apply_pack(info, input.namespace, input.pack)

    @strawberry.mutation(
        description="Make principals or change their titles; only an administrator may.", graphql_type=ItemsPayload | None
    )
    async def upsert_principals(self, info: Info, input: Annotated[UpsertPrincipalsInput, Doc]) -> administration.Items:
        principals = [(one.name, one.kind.name, one.title) for one in input.principals]
        return await administration.upsert_principals(info, principals)

    @strawberry.mutation(
        description="Give a group exactly these members; only an administrator may.", graphql_type=ItemsPayload | None
    )
    async def set_members(self, info: Info, input: Annotated[SetMembersInput, Doc]) -> administration.Items:
        return await administration.set_members(info, input.group, input.members)

    @strawberry.mutation(
        description="Give a principal a role in a namespace, or reading of a restricted entity; needs ADMIN.",
        graphql_type=ItemsPayload | None,
    )
    async def grant(self, info: Info, input: Annotated[GrantInput, Doc]) -> administration.Items:
        return await administration.grant(info, input.principal, input.namespace, input.role.name, input.entity_key)

    @strawberry.mutation(
        description="Take back what `grant` gave, from the next request on; needs ADMIN.", graphql_type=ItemsPayload | None
    )
    async def revoke(self, info: Info, input: Annotated[GrantInput, Doc]) -> administration.Items:
        return await administration.revoke(info, input.principal, input.namespace, input.role.name, input.entity_key)

    @strawberry.mutation(description="Make a bearer token; only an administrator may.", graphql_type=TokenPayload | None)
    async def create_token(self, info: Info, input: Annotated[CreateTokenInput, Doc]) -> NewToken:
        return await administration.create_token(info, input.principal, input.expires_at, input.label)

    @strawberry.mutation(description="Let a token hold no longer, from the next request on.", graphql_type=DeletedPayload | None)
    async def revoke_token(self, info: Info, input: Annotated[RevokeTokenInput, Doc]) -> Deletion:
        return await administration.revoke_token(info, input.token_id)
