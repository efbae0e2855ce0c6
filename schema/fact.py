"""What the mutations about facts take and give."""

from __future__ import annotations

from datetime import datetime

import strawberry

from schema.entity import field
from schema.enums import Evidence, ItemOutcome
from schema.inputs import described
from schema.scalars import JSON
from schema.writing import given


@strawberry.input(
    description="A fact to assert, or with `factId` to change: its row is retracted and another recorded under the same id. "
    "Left out and null are the same."
)
class FactInput:
    fact_id: strawberry.ID | None = described(
        "The fact to change, as by `validTo` to close it; what is left out stays as it is. Left out: a fact is asserted."
    )
    subject: str = given("The key of the entity that it is about.")
    predicate: str = given("What it says, such as `owned_by`, up to 200 characters.")
    object: str | None = described("The key of the entity that it leads to; it has this or `value`.")
    value: JSON | None = described("The value, up to 8 KB, where it leads to no entity.")
    valid_from: datetime | None = described("Since when it holds; left out: it always did.")
    valid_to: datetime | None = described("Until when it holds, exclusive; left out: it still does.")
    evidence: Evidence | None = described("How well it is supported; left out: ASSERTED, or as it was of a fact that is changed.")
    relevance_scopes: list[str] | None = described("What it is about, as `type:id`.")
    stated_in: list[str] | None = described(
        "Keys of entities that state it, up to 100: who may see none of them does not see it."
    )
    supersede: bool = given(
        "Whether it takes the place of what held when it begins: facts of the same subject and predicate that say something "
        "else and began before it end there. Needs `validFrom`.",
        default=False,
    )


@strawberry.input(description="Facts for one namespace.")
class AssertFactsInput:
    namespace: str = given("The namespace.")
    facts: list[FactInput] = given("The facts, up to 5,000, all in one transaction.")
    idempotency_key: str | None = described("A text of your choice: sent again with the same input, it gives the same results.")


@strawberry.input(description="Facts to retract.")
class RetractFactsInput:
    namespace: str = given("The namespace.")
    fact_ids: list[strawberry.ID] = given("The ids that `assertFacts` or `Fact.factId` gave, up to 5,000.")


@strawberry.type(description="What became of one fact.")
class FactResult:
    fact_id: strawberry.ID | None = field("Its id; null when it failed.")
    outcome: ItemOutcome = field("What became of it.")
    conflicts_with: list[strawberry.ID] = field(
        "Facts that say something else of the same subject by a predicate that holds one value, and hold at an instant at which "
        "this one does; up to 100."
    )
    code: str | None = field("A stable code, when it failed.")
    message: str | None = field("A sentence, when it failed.")


@strawberry.type(description="What became of each fact, in the order given.")
class FactsPayload:
    results: list[FactResult] = field("A result for each fact.")
