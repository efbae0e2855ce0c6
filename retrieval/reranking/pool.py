"""What a rerank judges, and the order that its scores make; pure functions over what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from retrieval.personal.prompts import entity_for_chat, fragment_for_chat
from retrieval.ranking import Candidate, Hit, Signal, SignalKind
from retrieval.records import Entity, Fragment


@dataclass(frozen=True, slots=True)
class Pooled:
    """A candidate of a rerank: an entity with the fragment that speaks for it; None where only its title does.

    `found` is its place in the fused list; None for one that came as a neighbour.
    """

    entity: Entity
    fragment: Fragment | None
    found: Candidate | None = None

    @property
    def text(self) -> str:
        """What is judged before it is made safe and cut: `title — heading` and the text."""
        if self.fragment is None:
            return self.entity.title
        title = " — ".join(part for part in (self.fragment.title, self.fragment.heading) if part)
        return "\n".join(part for part in (title, self.fragment.text) if part)


def for_chat(one: Pooled, allowed: bool) -> Pooled:
    """A candidate as it stands in a prompt; personal data only where the deployment allows them."""
    fragment = None if one.fragment is None else fragment_for_chat(one.fragment, allowed)
    return replace(one, entity=entity_for_chat(one.entity, allowed), fragment=fragment)


class Placed(NamedTuple):
    """A candidate in the order of the answer; `judged` and `score` only where the model judged it."""

    candidate: Candidate
    judged: Pooled | None = None
    score: float | None = None


def pool_of(found: Iterable[Pooled], around: Iterable[Pooled], most: int) -> list[Pooled]:
    """The pool: what was found, then neighbours with text or at least a title, each entity once, at most so many (spec 5)."""
    pool: dict[tuple[int, int], Pooled] = {}
    for one in (*found, *around):
        if one.fragment is not None or one.entity.title.strip():
            pool.setdefault((one.entity.ns, one.entity.entity_id), one)
    return list(pool.values())[:most]


def placed(fused: Sequence[Candidate], pool: Sequence[Pooled], scores: Sequence[float]) -> list[Placed]:
    """The judged ones by score, equal ones in the order of the pool, then the others in fused order."""
    judged = [Placed(candidate_of(one, score), one, score) for one, score in zip(pool, scores, strict=True)]
    judged.sort(key=lambda one: -(one.score or 0.0))
    fragments = {(one.fragment.ns, one.fragment.fragment_id) for one in pool if one.fragment is not None}
    return judged + [Placed(one) for one in fused if (one.hit.ns, one.hit.item_id) not in fragments]


def candidate_of(one: Pooled, score: float) -> Candidate:
    """A judged candidate: what it was scored before, which stays its score, and what the model made of it, which adds nothing."""
    verdict = Signal(SignalKind.RERANK, None, None, score, None, 0.0)
    if one.found is not None:
        return Candidate(one.found.hit, one.found.score, (*one.found.signals, verdict))
    entity, fragment = one.entity, one.fragment
    item_id = entity.entity_id if fragment is None else fragment.fragment_id
    return Candidate(Hit(entity.ns, item_id, entity.entity_id, score), 0.0, (verdict,))
