"""What the mutations do that store entities and observations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resolvers.administration import Items
from resolvers.arguments import Info
from retrieval.errors import LimitExceeded
from retrieval.ingest.entities import upsert_entities as upsert_entities_of
from retrieval.ingest.entity_input import EntityInput
from retrieval.ingest.observations import ObservationInput
from retrieval.ingest.observations import record_observations as record_observations_of

ITEMS_MOST = 1_000


def check_size(count: int, what: str) -> None:
    """Raises `LimitExceeded` when there are more items than one request may bring."""
    if count > ITEMS_MOST:
        raise LimitExceeded(f"{count:,} {what} are too many for one request; send at most {ITEMS_MOST:,}.")


def entity_value(given: Any) -> EntityInput:
    """An entity of the API as the value that is stored; its limits are checked there, so that one bad entity stops no other."""
    return EntityInput(
        key=given.key,
        type=given.type,
        title=given.title,
        kind=given.kind.name,
        status=given.status,
        source_path=given.source_path,
        attributes=given.attributes,
        valid_from=given.valid_from,
        meta=given.meta,
        relevance_scopes=given.relevance_scopes,
        restricted=given.restricted,
        readers=given.readers,
        occurred_at=given.occurred_at,
    )


async def upsert_entities(info: Info, namespace: str, given: Sequence[Any]) -> Items:
    """Store entities; a result for each."""
    check_size(len(given), "entities")
    database, caller = info.context.store.database, await info.context.caller
    results = await upsert_entities_of(database, caller, namespace, [entity_value(entity) for entity in given])
    info.context.touched.add(namespace)
    return Items(results)


def observation_value(given: Any) -> ObservationInput:
    """An observation of the API as the value that is stored."""
    return ObservationInput(
        text=given.text,
        observed_at=given.observed_at,
        key=given.key,
        about=None if given.about is None else tuple(given.about),
        relevance_scopes=None if given.relevance_scopes is None else tuple(given.relevance_scopes),
        by=given.by,
        restricted=given.restricted,
        readers=None if given.readers is None else tuple(given.readers),
    )


async def record_observations(info: Info, namespace: str, given: Sequence[Any], idempotency_key: str | None) -> Items:
    """Store observations; a result for each."""
    check_size(len(given), "observations")
    store, caller = info.context.store, await info.context.caller
    values = [observation_value(observation) for observation in given]
    results = await record_observations_of(store.database, store.base, caller, namespace, values, idempotency_key)
    info.context.touched.add(namespace)
    return Items(results)
