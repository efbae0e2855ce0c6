"""What adaptive fusion gains over plain RRF on ten sets with known answers, with parameters chosen without the set measured."""

from __future__ import annotations

import asyncio
import itertools
import math
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.progress import Progress

from app.bench.line import Line
from app.config import LOCAL_MODEL, Settings
from app.evaluation.collection import Query, data_folder, read_collection
from app.evaluation.run import EvalOptions, Spaces, load_all, question_of, with_vectors
from app.evaluation.scratch import scratch_namespaces
from app.opening import tuning_of
from app.providers.local import DIMENSIONS
from app.sessions import Identity
from retrieval.adaptive import adaptive_weights, standing
from retrieval.database import Database
from retrieval.fusion import fuse
from retrieval.migrations import prepare
from retrieval.ranking import Ranking
from retrieval.session import Session
from retrieval.store import Store
from retrieval.tuning import Tuning

GAIN_LEAST, LOSS_TO_RRF_MOST, LOSS_TO_CHANNEL_MOST = 0.012, 0.005, 0.01
WORDS, AFFINITIES, GATES = (1.0, 1.1, 1.2), (0.3, 0.35, 0.4, 0.45, 0.5), (2.0, 3.0, 4.0, 5.0)
"""The settings that are chosen from: those that leave a base half in one language and half in another as RRF has it, which is
decided and not measured. Each choice sees nine sets and is measured on the tenth."""
SETS: Mapping[str, tuple[str, tuple[str, ...] | None]] = {
    "cranfield": ("emb", None),
    "xquad-ru": ("emb", None),
    "xquad-en": ("emb", None),
    "xquad-cross": ("", None),
    "fastapi-sections": ("emb", None),
    "locomo10": ("emb3", ("c26", "c30", "c44")),
}
PARTED = ("xquad-cross", "fastapi-sections")
"""Their categories, directions between two languages, are sets of their own; the first has the vectors of the two before it."""
AT_ONCE = 4
SECONDS = 60.0
DEPTH = 10

Grades = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Answered:
    """What was found for a query: the lists of both channels, what weighs them, the grade of each fragment."""

    lexical: Ranking
    vector: Ranking
    script_shares: tuple[float, ...]
    grades: Mapping[int, int]
    judged: Grades

    def value(self, tuning: Tuning | None) -> float:
        """nDCG@10 of the fused list, by adaptive weights of these numbers or, without them, by plain RRF."""
        lists = (self.vector, self.lexical)
        if tuning is None:
            fused = fuse(lists, lambda _: 1.0)
        else:
            fused = fuse(lists, adaptive_weights(tuning, self.script_shares).__getitem__, part=partial(standing, tuning))
        return ndcg([self.grades.get(one.hit.item_id, 0) for one in fused[:DEPTH]], self.judged)

    def own(self, ranking: Ranking) -> float:
        """nDCG@10 of one channel."""
        return ndcg([self.grades.get(hit.item_id, 0) for hit in ranking.hits[:DEPTH]], self.judged)


Sets = Mapping[str, Sequence[Answered]]
Values = Mapping[str, float]
"""A figure by set."""


async def adaptive_fusion(url: str, say: Callable[[str], None]) -> AsyncIterator[Line]:
    """Six lines over the sets in `EVAL_DATA`: with parameters chosen on the other nine, and with those that are shipped.

    `url` is an empty database. Gives nothing, loudly, when the sets are not there: they may not be shipped.
    """
    if not all((data_folder() / name).is_dir() for name in SETS):
        say(f"ADAPTIVE FUSION IS NOT MEASURED: {data_folder()} has not all of {', '.join(SETS)}; set EVAL_DATA")
        return
    sets = await answered(url, say)
    plain = measured(sets, None)
    better = {name: max(fmean(one.own(one.lexical) for one in some), fmean(one.own(one.vector) for one in some))
              for name, some in sets.items()}  # fmt: skip
    shipped = tuning_of(Settings())
    say("choosing parameters without the set that is measured")
    for line in lines("chosen-without", left_out(all_tried(sets, shipped), plain, better), plain, better):
        yield line
    for line in lines("shipped", measured(sets, shipped), plain, better):
        yield line


def left_out(tried: Sequence[Values], plain: Values, better: Values) -> dict[str, float]:
    """nDCG@10 of each set by the parameters that are chosen on all others."""
    return {name: chosen_without(tried, plain, better, name)[name] for name in plain}


def chosen_without(tried: Sequence[Values], plain: Values, better: Values, name: str) -> Values:
    """Of what was tried, the best in the mean of all sets but one, among those that keep there what is promised."""
    seen = [other for other in plain if other != name]
    floors = {other: max(plain[other] - LOSS_TO_RRF_MOST, better[other] - LOSS_TO_CHANNEL_MOST) for other in seen}

    def worth(found: Values) -> tuple[bool, float]:
        return all(found[other] >= floors[other] for other in seen), sum(found[other] for other in seen)

    return max(tried, key=worth)


def all_tried(sets: Sets, shipped: Tuning) -> list[Values]:
    """nDCG@10 of each set, by each of the parameters to choose from."""
    return [
        measured(sets, replace(shipped, words_weight=words, script_affinity=affinity, script_gate=gate))
        for words, affinity, gate in itertools.product(WORDS, AFFINITIES, GATES)
    ]


def measured(sets: Sets, tuning: Tuning | None) -> dict[str, float]:
    """nDCG@10 of each set; without parameters by plain RRF."""
    return {name: fmean(one.value(tuning) for one in some) for name, some in sets.items()}


def lines(which: str, found: Values, plain: Values, better: Values) -> Iterable[Line]:
    """The mean gain, and the sets that fare worst against plain RRF and against their better channel."""
    gain = fmean(found[name] - plain[name] for name in found)
    yield Line(f"adaptive-{which}-gain", gain, GAIN_LEAST, "", f"nDCG@10 over {len(found)} sets", least=True, digits=4)
    for against, other, most in (("rrf", plain, LOSS_TO_RRF_MOST), ("better-channel", better, LOSS_TO_CHANNEL_MOST)):
        worst = min(found, key=lambda name: found[name] - other[name])
        note = f"{worst}: {found[worst]:.3f} against {other[worst]:.3f}"
        yield Line(f"adaptive-{which}-worst-of-{against}", found[worst] - other[worst], -most, "", note, least=True, digits=4)


def ndcg(found: Sequence[int], judged: Grades) -> float:
    """Discounted gain of the grades found, best first, as a part of the best possible; gains are linear in the grade."""

    def gain(grades: Iterable[int]) -> float:
        return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades))

    best = gain(sorted(judged.values(), reverse=True)[:DEPTH])
    return gain(found) / best if best else 0.0


async def answered(url: str, say: Callable[[str], None]) -> Sets:
    """Every judged query of every set, asked once; the directions of a parted set are sets of their own."""
    base = await prepare(
        url, search_config=Settings.model_fields["fts_config"].default, embedding_model=LOCAL_MODEL, dimensions=DIMENSIONS
    )
    database = await Database.open(url, size=AT_ONCE)
    found: dict[str, list[Answered]] = {}
    try:
        for name, (vectors, groups) in SETS.items():
            say(f"asking {name}")
            with tempfile.TemporaryDirectory() as folder:
                given = Path(vectors) if vectors else both_languages(Path(folder))
                options = EvalOptions(embeddings=given, groups=groups)
                async for query, one in answers(Store(database, base, tuning_of(Settings()), None), name, options):
                    found.setdefault(f"{name} {query.category}" if name in PARTED else name, []).append(one)
    finally:
        await database.close()
    return found


def both_languages(folder: Path) -> Path:
    """The vectors of xquad-cross: those of xquad-ru, then those of xquad-en."""
    for part in ("docs", "queries"):
        halves = [np.load(data_folder() / name / "emb" / f"{part}.npy", allow_pickle=False) for name in ("xquad-ru", "xquad-en")]
        np.save(folder / f"{part}.npy", np.concatenate(halves))
    return folder


async def answers(store: Store, name: str, options: EvalOptions) -> AsyncIterator[tuple[Query, Answered]]:
    """The judged queries of one set with what both channels find."""
    folder, silent = data_folder() / name, Progress(disable=True)
    collection = read_collection(folder, options.groups)
    store, documents = await with_vectors(store, folder, collection, options, silent)
    groups = sorted({document.group or "" for document in collection.documents})
    judged = [query for query in collection.queries if any(collection.judgments.get(query.id, {}).values())]
    async with scratch_namespaces(store.database, groups) as spaces:
        names = await load_all(store, spaces, collection.documents, documents, silent)
        for some in chunks(judged):
            asked = (ask(store, query, spaces, options, names, collection.judgments[query.id]) for query in some)
            for query, one in zip(some, await asyncio.gather(*asked), strict=True):
                yield query, one


def chunks(queries: Sequence[Query]) -> Iterable[Sequence[Query]]:
    """A few at a time."""
    return (queries[start : start + AT_ONCE] for start in range(0, len(queries), AT_ONCE))


async def ask(
    store: Store, query: Query, spaces: Spaces, options: EvalOptions, names: Mapping[int, str], judged: Grades
) -> Answered:
    """One query by both channels."""
    deadline = asyncio.get_running_loop().time() + SECONDS
    async with Session(store, Identity(None, True), deadline=deadline) as session:
        run = await session.search(question_of(store, query, spaces, options))
        lexical, vector, words = await asyncio.gather(run.lists.lexical_pool, run.lists.vector_pool, run.lists.words)
    grades = {hit.item_id: judged.get(names[hit.item_id], 0) for hit in (*lexical.hits, *vector.hits)}
    return Answered(lexical, vector, tuple(words.script_shares), grades, judged)
