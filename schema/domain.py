"""What the mutation about domain packs takes and gives."""

from __future__ import annotations

import strawberry

from schema.entity import field
from schema.scalars import JSON
from schema.writing import given


@strawberry.input(description="A domain pack for one namespace.")
class ApplyDomainPackInput:
    namespace: str = given("The namespace.")
    pack: JSON = given("The pack: `name`, `version`, `types`, `predicates`, `aliases`, `idPatterns`, by domain-pack.schema.json.")


@strawberry.type(description="The pack that holds now.")
class DomainPackPayload:
    name: str = field("Its name.")
    version: str = field("Its version.")
    changed: bool = field("Whether it was not there before.")
