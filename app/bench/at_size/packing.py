"""What a pack costs beside a search: one of all channels, and a briefing without a question, request by request."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from statistics import median
from typing import Any

from app.bench.at_size.corpus import FRAGMENTS_OF_DOCUMENT, Corpus, Question
from app.bench.at_size.growth import put_vectors, serving
from app.bench.at_size.pack_world import PROJECTS, pack_world
from app.bench.at_size.world import SizedWorld
from app.bench.line import Line
from app.bench.servers import Served

PACK_BOUND, BRIEFING_BOUND = 2.5, 1.0
QUESTIONS, ROUNDS = 50, 8
K, TOKENS = 8, 12_000
GIVEN = f"k: {K}, maxTokens: {TOKENS}, anchors: $anchors, relevanceScopes: $scopes"
SELECTED = "sections { kind items { text score } } budget { usedTokens }"
HITS = "query($question: String!) { search(question: $question) { hits { score fragment { text } } } }"
PACK = f"""query($question: String!, $anchors: [EntityRef!]!, $scopes: [String!]!) {{
    contextPack(question: $question, {GIVEN}) {{ {SELECTED} }} }}"""
BRIEFING = f"""query($anchors: [EntityRef!]!, $scopes: [String!]!) {{
    contextPack(strategy: BRIEFING, {GIVEN}) {{ {SELECTED} }} }}"""
WHOLE = PACK.replace(SELECTED, f"{SELECTED} degraded {{ code }}")
SECTIONS = {"RELEVANT_FACTS", "DOCUMENTS", "RELATED_ENTITIES", "RECENT_OBSERVATIONS"}


async def packs_of_hits(world: SizedWorld) -> AsyncIterator[Line]:
    """One server over a base with facts and observations; every question is asked in three ways in turn, its vector known."""
    url, folder = await pack_world(world), world.folder / "packs"
    questions = world.corpus.questions(min(QUESTIONS, world.sizes.questions))
    times: dict[str, list[float]] = {HITS: [], PACK: [], BRIEFING: []}
    async with put_vectors(folder, questions, world) as vectors, serving(url, vectors.address, folder) as served:
        await check(served, [asked_of(world.corpus, question) for question in questions])
        for number in range(ROUNDS):
            for at, question in enumerate(questions):
                for query in rotated(list(times), number + at):
                    times[query].append(await timed(served, query, asked_of(world.corpus, question)))
    hits, pack, briefing = (1000 * median(seconds) for seconds in times.values())
    size = f"{hits:.2f} ms of {world.sizes.fragments:,} fragments"
    yield Line("pack-of-hits", pack / hits, PACK_BOUND, note=f"p50 {pack:.2f} ms against {size}")
    yield Line("briefing-of-hits", briefing / hits, BRIEFING_BOUND, note=f"p50 {briefing:.2f} ms against {size}")


def asked_of(corpus: Corpus, question: Question) -> dict[str, Any]:
    """A question with what its asker works on: a thing, its document, their project."""
    document = question.fragment // FRAGMENTS_OF_DOCUMENT
    space = f"space-{corpus.spaces[document]}"
    anchors = [{"namespace": space, "key": f"{kind}-{document}"} for kind in ("thing", "doc")]
    return {"question": question.text, "anchors": anchors, "scopes": [f"project:{document % PROJECTS}"]}


async def check(served: Served, asked: list[dict[str, Any]]) -> None:
    """Ask everything twice, so that vectors are known; raises when one was not, or when a section is nowhere."""
    kinds = set[str]()
    for variables in (*asked, *asked):
        answer: Any = await served.ask(WHOLE, **variables)
        pack = answer["data"]["contextPack"]
        if pack["degraded"]:
            raise RuntimeError(f"the pack is not whole: {pack['degraded']}")
        kinds.update(section["kind"] for section in pack["sections"])
    if kinds != SECTIONS:
        raise RuntimeError(f"the packs have no {' and no '.join(sorted(SECTIONS - kinds))}")


async def timed(served: Served, query: str, variables: dict[str, Any]) -> float:
    """The seconds of one request."""
    taken = {name: value for name, value in variables.items() if f"${name}" in query}
    started = time.perf_counter()
    await served.ask(query, **taken)
    return time.perf_counter() - started


def rotated(queries: list[str], by: int) -> list[str]:
    """The same in another order each time, so that none always follows the same one."""
    at = by % len(queries)
    return queries[at:] + queries[:at]
