"""The whole schema: what is read, what is written, what is followed."""

from __future__ import annotations

from functools import cache

from schema.assembly import GuardedSchema, assemble
from schema.entity import Entity, Fragment
from schema.limits import RequestLimits
from schema.mutation import Mutation
from schema.query import Query
from schema.scalars import SCALARS
from schema.source import Source
from schema.subscription import Subscription

DEFAULT_LIMITS = RequestLimits()


@cache
def make_schema(limits: RequestLimits = DEFAULT_LIMITS) -> GuardedSchema:
    """The schema of this release, with the caps on one request; made once for each set of them, since it takes a while."""
    return assemble(Query, Mutation, Subscription, types=[Entity, Fragment, Source], scalars=SCALARS, limits=limits)
