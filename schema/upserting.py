"""What the mutations take that store entities and observations."""

from __future__ import annotations

from datetime import datetime

import strawberry

from schema.enums import EntityKind
from schema.inputs import described
from schema.scalars import JSON
from schema.writing import given


@strawberry.input(description="An entity to store without a text. Left out and null are the same: what is stored stays.")
class EntityInput:
    key: str = given("The key, up to 2,000 characters.")
    kind: EntityKind = given("What it is; with THING an entity that has a text keeps its kind.", default=EntityKind.THING)
    type: str = given("A finer name for what it is, such as `service`.")
    title: str = given("The title; the fragments of an entity that has a text get it as well.")
    status: str | None = described("State, such as `open`; an empty text clears it.")
    source_path: str | None = described("Where people find it; an empty text clears it.")
    attributes: JSON | None = described("Attributes that hold from `validFrom` to the start of the next version.")
    valid_from: datetime | None = described(
        "Since when the attributes hold, also in the past; left out: since ever for the first ones, else from now on."
    )
    meta: JSON | None = described("Tags; fragments carry them as well.")
    relevance_scopes: list[str] | None = described("What it is about, as `type:id`; an empty list clears them.")
    restricted: bool | None = described("Whether only `readers` see it; left out keeps what is stored (a new one: false).")
    readers: list[str] | None = described("Principals that may read it when restricted; left out keeps those that are stored.")
    occurred_at: datetime | None = described("When it happened.")


@strawberry.input(description="Entities for one namespace.")
class UpsertEntitiesInput:
    namespace: str = given("The namespace.")
    entities: list[EntityInput] = given("The entities, up to 1,000; several of one key are stored in the order given.")


@strawberry.input(description="A short dated note. Left out and null are the same.")
class ObservationInput:
    key: str | None = described("The key, up to 2,000 characters; what is stored under it is replaced. Left out: a new one.")
    text: str = given("What was observed, up to 20,000 characters of plain text.")
    observed_at: datetime = given("When it was observed.")
    about: list[str] | None = described(
        "Keys of up to 100 entities that it is about; each becomes an edge `about`, valid from `observedAt`, once it is there."
    )
    relevance_scopes: list[str] | None = described("What it is about, as `type:id`.")
    by: str | None = described("Who observed it.")
    restricted: bool | None = described("Whether only `readers` see it; left out keeps what is stored (a new one: false).")
    readers: list[str] | None = described("Principals that may read it when restricted; left out keeps those that are stored.")


@strawberry.input(description="Observations for one namespace.")
class RecordObservationsInput:
    namespace: str = given("The namespace.")
    observations: list[ObservationInput] = given("The observations, up to 1,000.")
    idempotency_key: str | None = described("A text of your choice: the same call sent again under it gives what it gave first.")
