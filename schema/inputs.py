"""What clients send, and the frozen values that it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import strawberry

from retrieval import question
from retrieval.errors import BadInput
from retrieval.question import check_instant, check_meta, check_values
from retrieval.tuning import Tuning
from schema.enums import EntityKind, FusionMethod, Primitive
from schema.scalars import JSON


def described(description: str, **options: Any) -> Any:
    """A described input field; left out and null are the same."""
    return strawberry.field(description=description, default=None, **options)


@strawberry.input(description="Narrows vector and lexical. Null is as left out; an empty list matches nothing.")
class FragmentFilter:
    meta: JSON | None = described("Pairs that the fragment's meta must contain, all of them.")
    kinds: list[EntityKind] | None = described("Kinds of entity.")
    types: list[str] | None = described("Types of entity.")
    keys: list[str] | None = described("Keys of entities.")
    relevance_scopes: list[str] | None = described("Relevance scopes: one in common is enough.")
    updated_after: datetime | None = described("Entities changed after this instant.")
    updated_before: datetime | None = described("Entities changed before this instant.")

    def value(self, tuning: Tuning) -> question.FragmentFilter:
        """The checked value; raises `BadInput`."""
        most = tuning.filter_values_most
        return question.FragmentFilter(
            meta=check_meta("filter.meta", self.meta),
            kinds=None if self.kinds is None else tuple(dict.fromkeys(kind.name for kind in self.kinds)),
            types=None if self.types is None else check_values("filter.types", self.types, most),
            keys=None if self.keys is None else check_values("filter.keys", self.keys, most),
            relevance_scopes=None
            if self.relevance_scopes is None
            else check_values("filter.relevanceScopes", self.relevance_scopes, most),
            updated_after=None if self.updated_after is None else check_instant("filter.updatedAfter", self.updated_after),
            updated_before=None if self.updated_before is None else check_instant("filter.updatedBefore", self.updated_before),
        )


@strawberry.input(description="The weight of one channel.")
class ChannelWeight:
    channel: Primitive = strawberry.field(description="The channel.")
    weight: float = strawberry.field(description="Its weight, 0 to 1000; a channel that is not named has 1.")


@strawberry.input(description="How the lists become one.")
class FusionInput:
    method: FusionMethod | None = described("The method; left out: that of the deployment.")
    weights: list[ChannelWeight] | None = described("Weights per channel, with method WEIGHTED only.")

    def values(self) -> tuple[question.FusionMethod | None, Mapping[question.Primitive, float] | None]:
        """Method and weights; a channel named twice is `BadInput`."""
        method = None if self.method is None else question.FusionMethod(self.method.name)
        if self.weights is None:
            return method, None
        weights = {question.Primitive(one.channel.name): one.weight for one in self.weights}
        if len(weights) < len(self.weights):
            raise BadInput("`fusion.weights` names a channel twice; give each one weight.")
        return method, weights
