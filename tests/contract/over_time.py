"""Computes in plain Python which facts hold at an instant as recorded at another, and which conflict."""

from __future__ import annotations

from datetime import datetime

from tests.contract.oracle import View, public_id
from tests.fixtures.company import CLOCK, Entity, Fact, Source

CONFLICTS_MOST = 100


def instant(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def is_known(fact: Fact, known: datetime | None) -> bool:
    """Whether a row stood in the record at an instant; None is now."""
    if known is None:
        return fact.retracted is None
    return fact.recorded <= known and (fact.retracted is None or fact.retracted > known)


def holds(fact: Fact, at: datetime) -> bool:
    return (fact.valid_from is None or fact.valid_from <= at) and (fact.valid_to is None or fact.valid_to > at)


def around(
    view: View, entity: Entity, predicates: list[str] | None = None, direction: str = "BOTH", asOf: str | None = None,
    knownAt: str | None = None,
) -> list[Fact]:  # fmt: skip
    """All facts of a list."""
    at, known = instant(asOf) or CLOCK, instant(knownAt)
    found = [
        fact
        for fact in view.facts([entity.space])
        if is_known(fact, known) and holds(fact, at) and (predicates is None or fact.predicate in predicates)
        and ((direction != "IN" and fact.subject is entity) or (direction != "OUT" and fact.object is entity))
    ]  # fmt: skip
    return sorted(found, key=lambda fact: (fact.predicate, fact.fact))


def stated(view: View, source: Source) -> list[Fact]:
    """The facts in the record that rest on an entity, by number."""
    found = [fact for fact in view.facts([source.entity.space]) if is_known(fact, None) and source.entity in fact.places]
    return sorted(found, key=lambda fact: fact.fact)


def by_id(view: View, namespace: str, factId: str, knownAt: str | None = None) -> Fact | None:
    (space,) = view.named([namespace])
    known = instant(knownAt)
    found = [fact for fact in view.facts([space]) if public_id("a", space, fact.fact) == factId and is_known(fact, known)]
    return found[0] if found else None


def conflicts(view: View, fact: Fact, asOf: str | None = None, knownAt: str | None = None) -> list[Fact]:
    """Facts that say something else of the same subject, by a predicate that holds one value."""
    at, known = instant(asOf) or CLOCK, instant(knownAt)
    if (fact.subject.space, fact.predicate) not in view.world.single or not (is_known(fact, known) and holds(fact, at)):
        return []
    others = [
        other
        for other in view.facts([fact.subject.space])
        if other.subject is fact.subject and other.predicate == fact.predicate and other.fact != fact.fact
        and (other.object is not fact.object or other.value != fact.value) and is_known(other, known) and holds(other, at)
    ]  # fmt: skip
    return sorted(others, key=lambda other: other.fact)[:CONFLICTS_MOST]
