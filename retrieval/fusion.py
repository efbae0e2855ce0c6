"""Makes one list of several by rank, and says how: the score of an item is the sum of its listed contributions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import repeat

from retrieval.ranking import Candidate, Channel, Hit, Ranking, Signal, SignalKind


def fuse(
    rankings: Sequence[Ranking],
    weight: Callable[[Channel], float],
    constant: int = 60,
    part: Callable[[Ranking], Iterable[float]] = lambda _: repeat(1.0),
) -> list[Candidate]:
    """Fuse lists by reciprocal rank: each adds weight / (constant + rank + 1); ranks count from 0, ties go by id (spec 4).

    `part` says what part of the weight of its channel each hit of a list has; all of it without one.
    """
    found: dict[tuple[int, int], Candidate] = {}
    for ranking in rankings:
        channel, most = ranking.channel, weight(ranking.channel)
        for rank, (hit, share) in enumerate(zip(ranking.hits, part(ranking), strict=False)):
            factor = most * share
            contribution = factor / (constant + rank + 1)
            signal = Signal(SignalKind.RANK, channel, rank, hit.raw_score, factor, contribution)
            place = (hit.ns, hit.item_id)
            known = found.get(place)
            # Added left to right, so that a client can check the sum of the signals with `==`.
            found[place] = (
                Candidate(hit, contribution, (signal,))
                if known is None
                else Candidate(known.hit, known.score + contribution, (*known.signals, signal))
            )
    return sorted(found.values(), key=lambda candidate: (-candidate.score, candidate.hit.ns, candidate.hit.item_id))


def fold(ranking: Ranking) -> Ranking:
    """A list of fragments as one of entities: each takes the place of its best fragment, which stays with it as evidence."""
    best: dict[tuple[int, int], Hit] = {}
    for hit in ranking.hits:
        best.setdefault((hit.ns, hit.entity_id), Hit(hit.ns, hit.entity_id, hit.entity_id, hit.raw_score, hit.item_id))
    return replace(ranking, hits=tuple(best.values()), floor=ranking.lowest)


def evidence_of(folded: Sequence[Ranking]) -> dict[tuple[int, int], int]:
    """The fragment that speaks for each entity: of the list where the entity stands higher, of the earlier list when equal."""
    best: dict[tuple[int, int], tuple[int, int]] = {}
    for ranking in folded:
        for rank, hit in enumerate(ranking.hits):
            known = best.get((hit.ns, hit.item_id))
            if hit.evidence is not None and (known is None or rank < known[0]):
                best[hit.ns, hit.item_id] = (rank, hit.evidence)
    return {entity: fragment for entity, (_, fragment) in best.items()}
