"""What fields of a count do beyond naming a stage."""

from __future__ import annotations

from dataclasses import dataclass

from retrieval.aggregation import Bucket, Dimension
from retrieval.counting import Counting


@dataclass(frozen=True, slots=True)
class BucketValue:
    """The value of one dimension."""

    dimension: Dimension
    value: str | None


async def total(root: Counting) -> int:
    """The sum over all groups."""
    return sum(bucket.count for bucket in await root.buckets)


def values(root: Bucket) -> list[BucketValue]:
    """The values in the order of the dimensions."""
    return [BucketValue(dimension, value) for dimension, value in root.values]
