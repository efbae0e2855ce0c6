"""What clients send, and the frozen values that it becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

import strawberry

from retrieval import entity_filter, question
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
        listed, instant = checks("filter", tuning)
        return question.FragmentFilter(
            meta=check_meta("filter.meta", self.meta),
            kinds=names_of(self.kinds),
            types=listed("types", self.types),
            keys=listed("keys", self.keys),
            relevance_scopes=listed("relevanceScopes", self.relevance_scopes),
            updated_after=instant("updatedAfter", self.updated_after),
            updated_before=instant("updatedBefore", self.updated_before),
        )


@strawberry.input(
    description="Which entities; all parts must be met. Null is as left out; an empty list matches nothing. Instants are "
    "exclusive; a contradiction matches nothing."
)
class EntityFilter:
    kinds: list[EntityKind] | None = described("Kinds.")
    types: list[str] | None = described("Types.")
    statuses: list[str] | None = described("Statuses.")
    source_paths: list[str] | None = described("Source paths, each whole.")
    keys: list[str] | None = described("Keys.")
    meta: JSON | None = described("Pairs that the meta must contain, all of them.")
    attributes: JSON | None = described("Pairs that the attributes must contain as they hold now; in a search, at its `asOf`.")
    relevance_scopes: list[str] | None = described("Relevance scopes: one in common is enough.")
    created_after: datetime | None = described("First stored after this instant.")
    created_before: datetime | None = described("First stored before this instant.")
    updated_after: datetime | None = described("Changed after this instant.")
    updated_before: datetime | None = described("Changed before this instant.")
    occurred_after: datetime | None = described("Happened after this instant; what has no date is out.")
    occurred_before: datetime | None = described("Happened before this instant; what has no date is out.")

    def value(self, tuning: Tuning, name: str = "filter") -> entity_filter.EntityFilter:
        """The checked value, named as its argument is; raises `BadInput`."""
        listed, instant = checks(name, tuning)
        return entity_filter.EntityFilter(
            kinds=names_of(self.kinds),
            types=listed("types", self.types),
            statuses=listed("statuses", self.statuses),
            source_paths=listed("sourcePaths", self.source_paths),
            keys=listed("keys", self.keys),
            meta=check_meta(f"{name}.meta", self.meta),
            attributes=check_meta(f"{name}.attributes", self.attributes),
            relevance_scopes=listed("relevanceScopes", self.relevance_scopes),
            created_after=instant("createdAfter", self.created_after),
            created_before=instant("createdBefore", self.created_before),
            updated_after=instant("updatedAfter", self.updated_after),
            updated_before=instant("updatedBefore", self.updated_before),
            occurred_after=instant("occurredAfter", self.occurred_after),
            occurred_before=instant("occurredBefore", self.occurred_before),
        )


def names_of(kinds: Iterable[EntityKind] | None) -> tuple[str, ...] | None:
    """Kinds by name, each once."""
    return None if kinds is None else tuple(dict.fromkeys(kind.name for kind in kinds))


Listed = Callable[[str, list[str] | None], tuple[str, ...] | None]
Instant = Callable[[str, datetime | None], datetime | None]


def checks(argument: str, tuning: Tuning) -> tuple[Listed, Instant]:
    """How the lists and the instants of a filter are checked; what was left out stays left out."""

    def listed(name: str, values: list[str] | None) -> tuple[str, ...] | None:
        return None if values is None else check_values(f"{argument}.{name}", values, tuning.filter_values_most)

    def instant(name: str, value: datetime | None) -> datetime | None:
        return None if value is None else check_instant(f"{argument}.{name}", value)

    return listed, instant


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
