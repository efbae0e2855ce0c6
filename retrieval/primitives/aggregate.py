"""Counts over what the caller may see: entities, their fragments or their facts, in groups."""

from __future__ import annotations

from datetime import datetime

from retrieval.aggregation import Aggregation, Bucket, Dimension, Values, buckets
from retrieval.primitives.filters import entity_filter_values
from retrieval.reader import Reader


async def aggregate(reader: Reader, asked: Aggregation, at: datetime) -> list[Bucket]:
    """The buckets of a count; attributes are filtered as they hold `at`. More than `buckets_most` are `BadInput`.

    Fragments and facts are counted under their entity: the filter and the dimensions are about the entity whose text it is,
    or the subject. Facts are those that are not retracted.
    """
    most = reader.store.tuning.buckets_most
    first, second = (*asked.dimensions, None, None)[:2]
    filter = entity_filter_values(reader.asked(asked.filter), at)
    rows = await reader.rows("aggregate", *filter, asked.metric, first, second, asked.date_field, most + 1)
    names = {str(ns): name for ns, name in reader.names.items()}
    groups: dict[Values, int] = {}
    for row in rows:
        values = zip(asked.dimensions, (row["first"], row["second"]), strict=False)
        group = tuple(names[one] if dimension is Dimension.NAMESPACE else reader.shown_to_all(one) for dimension, one in values)
        groups[group] = groups.get(group, 0) + row["n"]
    return buckets(asked, groups, most)
