"""Makes one list of several by rank, and says how: the score of an item is the sum of its listed contributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from retrieval.ranking import Candidate, Channel, Hit, Ranking, Signal, SignalKind


def fuse(rankings: Sequence[Ranking], weight: Callable[[Channel], float], constant: int = 60) -> list[Candidate]:
    """Fuse lists by reciprocal rank: each adds weight / (constant + rank + 1); ranks count from 0, ties go by id (spec 4)."""
    found: dict[tuple[int, int], tuple[Hit, list[Signal]]] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking.hits):
            _, signals = found.setdefault((hit.ns, hit.item_id), (hit, []))
            signals.append(rank_signal(ranking.channel, rank, hit.raw_score, weight(ranking.channel), constant))
    candidates = [Candidate(hit, total(signals), tuple(signals)) for hit, signals in found.values()]
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.hit.ns, candidate.hit.item_id))


def fold(ranking: Ranking) -> Ranking:
    """A list of fragments as one of entities: each takes the place of its best fragment, which stays with it as evidence."""
    best: dict[tuple[int, int], Hit] = {}
    for hit in ranking.hits:
        best.setdefault((hit.ns, hit.entity_id), Hit(hit.ns, hit.entity_id, hit.entity_id, hit.raw_score, hit.item_id))
    return replace(ranking, hits=tuple(best.values()))


def evidence_of(folded: Sequence[Ranking]) -> dict[tuple[int, int], int]:
    """The fragment that speaks for each entity: of the list where the entity stands higher, of the earlier list when equal."""
    best: dict[tuple[int, int], tuple[int, int]] = {}
    for ranking in folded:
        for rank, hit in enumerate(ranking.hits):
            known = best.get((hit.ns, hit.item_id))
            if hit.evidence is not None and (known is None or rank < known[0]):
                best[hit.ns, hit.item_id] = (rank, hit.evidence)
    return {entity: fragment for entity, (_, fragment) in best.items()}


def rank_signal(channel: Channel, rank: int, raw_score: float, weight: float, constant: int) -> Signal:
    """The term that one place in one list adds."""
    return Signal(SignalKind.RANK, channel, rank, raw_score, weight, weight / (constant + rank + 1))


def total(signals: Sequence[Signal]) -> float:
    """The left-to-right double sum of the contributions, so that a client can check it with `==`."""
    score = 0.0
    for signal in signals:
        score += signal.contribution
    return score
