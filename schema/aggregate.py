"""Counts in groups."""

from __future__ import annotations

import strawberry

from resolvers import aggregate as resolve
from schema.entity import field
from schema.enums import Dimension


@strawberry.type(description="The value of one dimension.")
class BucketValue:
    dimension: Dimension = field("The dimension.")
    value: str | None = field(
        "The name, kind, type, status or path; a day as 2026-09-05, a week as the day of its Monday, a month as 2026-09; null "
        "for those that have none."
    )


@strawberry.type(description="A group.")
class Bucket:
    values: list[BucketValue] = field("A value for each dimension, in the order asked.", resolver=resolve.values)
    count: int = field("How many there are.")


@strawberry.type(description="A count over what you may see.")
class Aggregate:
    total: int = field("How many there are in all.", resolver=resolve.total)
    buckets: list[Bucket] = field(
        "The groups: periods in the order of time with the empty ones between them, else the largest first; equal ones by value, "
        "what has no value last. At most 1,000."
    )
