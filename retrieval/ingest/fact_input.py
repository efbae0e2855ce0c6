"""A fact as it is given, and the checks that it passes before anything is looked up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import orjson

from retrieval.errors import BadInput
from retrieval.ingest.source_input import KEY_LENGTH, check_list, check_moment, check_stored_scopes, check_text
from retrieval.keys import check_key, read_id
from retrieval.question import depth_of, encode_json
from retrieval.tuning import (
    ATTRIBUTES_LEVELS,
    FACT_VALUE_BYTES,
    NAME_LENGTH,
    PLACES_MOST,
)


@dataclass(frozen=True, slots=True)
class FactInput:
    """A fact to assert; None is as left out. With `fact_id` it changes that fact, and what is left out stays as it is.

    `subject`, `object` and `stated_in` are keys of entities of the namespace; `evidence` is 1 inferred, 2 observed, 3 asserted
    (left out: asserted).
    """

    subject: str
    predicate: str
    object: str | None = None
    value: Any = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    evidence: int | None = None
    relevance_scopes: Sequence[str] | None = None
    stated_in: Sequence[str] | None = None
    supersede: bool = False
    fact_id: str | None = None


def checked(fact: FactInput) -> FactInput:
    """The fact with every value clean and within its limit; raises `BadInput` with what to change."""
    if fact.object is not None and fact.value is not None:
        raise BadInput("A fact has an `object` or a `value`, not both.")
    if fact.object is None and fact.value is None and fact.fact_id is None:
        raise BadInput("A fact needs an `object` (the key of an entity) or a `value`.")
    if fact.evidence not in (None, 1, 2, 3):
        raise BadInput("`evidence` is one of INFERRED, OBSERVED, ASSERTED.")
    if fact.fact_id is not None:
        number_of(fact.fact_id)
    since, until = check_moment("validFrom", fact.valid_from), check_moment("validTo", fact.valid_to)
    check_interval(since, until)
    if fact.supersede and since is None and fact.fact_id is None:
        raise BadInput("`supersede` needs `validFrom`: what held before ends there.")
    return replace(
        fact,
        subject=check_key(fact.subject, KEY_LENGTH, "`subject`"),
        predicate=check_text("predicate", fact.predicate, NAME_LENGTH),
        object=None if fact.object is None else check_key(fact.object, KEY_LENGTH, "`object`"),
        value=None if fact.value is None else check_value(fact.value),
        valid_from=since,
        valid_to=until,
        relevance_scopes=None if fact.relevance_scopes is None else check_stored_scopes(fact.relevance_scopes),
        stated_in=None if fact.stated_in is None else check_list("statedIn", fact.stated_in, PLACES_MOST, KEY_LENGTH),
    )


def named(key: str) -> str:
    """A key in a sentence; results that are kept are searched for it when an entity is erased."""
    return repr(key[:200])


def check_interval(since: datetime | None, until: datetime | None) -> None:
    """Refuse an interval that holds nothing: [from, to) with to at from or before it."""
    if since is not None and until is not None and until <= since:
        what = "is empty" if until == since else "ends before it begins"
        raise BadInput(f"The interval {what}: `validTo` is exclusive and must come after `validFrom`.")


def check_value(value: Any) -> Any:
    """Any JSON but null of at most 8 KB, as it will be read back."""
    if depth_of(value) > ATTRIBUTES_LEVELS:
        raise BadInput(f"`value` may have {ATTRIBUTES_LEVELS} levels.")
    text = encode_json("value", value, FACT_VALUE_BYTES)
    return orjson.loads(text)


def number_of(fact_id: str) -> tuple[int, int]:
    """Namespace and number of a fact by its public id; raises `BadInput` for the id of anything else."""
    kind, ns, number = read_id(fact_id)
    if kind != "fact":
        raise BadInput("`factId` is the id of something else; give one that `Fact.factId` gave.")
    return ns, number
