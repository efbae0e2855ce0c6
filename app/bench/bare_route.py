"""What the server adds to its statements: `search { hits }` against a bare route, processor time of the server process."""

from __future__ import annotations

import pickle
from contextlib import AbstractAsyncContextManager
from pathlib import Path

from app.bench.line import Line
from app.bench.recording import Statement, recording_database, statements_of_hits
from app.bench.servers import Served, serving, started
from app.bench.world import LARGE, World
from app.config import Settings
from app.opening import tuning_of
from app.providers.local import LocalEmbedder
from retrieval.migrations import prepare
from retrieval.question import FusionMethod, make_question
from retrieval.store import Store

HITS = f"""query($question: String!) {{ search(
    question: $question, namespaces: ["{LARGE}"], k: 8, fusion: {{method: RRF}}) {{ hits {{
    score matchedIdentifiers fragment {{ id namespace ordinal title heading text meta identifiers }}
    entity {{ key kind type title status }} }} }} }}"""
QUESTIONS = 25
BOUND = 3.0


async def hits_against_a_bare_route(world: World) -> list[Line]:
    """Rounds over the same questions in turn, after both have answered each once with the same JSON."""
    rounds = world.times(10)
    questions = [world.large.question(2_000_000 + number) for number in range(QUESTIONS)]
    recorded = await record(world, questions)
    file = world.folder / "recorded.pickle"
    file.write_bytes(pickle.dumps(recorded))
    async with serving(world) as ours, bare(world, file) as other:
        for question in questions:
            answers = [await served.ask(HITS, question=question) for served in (ours, other)]
            if answers[0]["data"] != answers[1]["data"]:  # ours says what it cost, beside
                raise RuntimeError("the bare route does not give the same JSON")
        for served in (ours, other):
            await ask_all(served, questions)
        spent = [0.0, 0.0]
        for _ in range(rounds):
            for place, served in enumerate((ours, other)):
                spent[place] += await ask_all(served, questions)
    each = [1000 * seconds / (rounds * len(questions)) for seconds in spent]
    statements = len(recorded[questions[0]])
    note = f"{each[0]:.2f} ms of CPU against {each[1]:.2f} ms a request, {statements} statements each"
    return [Line("hits-of-bare-route", spent[0] / spent[1], BOUND, note=note)]


def bare(world: World, file: Path) -> AbstractAsyncContextManager[Served]:
    """The bare route as a process."""
    environment = {"BENCH_DATABASE_URL": world.url, "BENCH_RECORDED": str(file)}
    return started(["-m", "app.bench.bare"], environment, "BENCH_PORT")


async def ask_all(served: Served, questions: list[str]) -> float:
    """Ask every question once; gives the seconds of processor time of the server process."""
    before = served.cpu()
    for question in questions:
        await served.ask(HITS, question=question)
    return served.cpu() - before


async def record(world: World, questions: list[str]) -> dict[str, list[Statement]]:
    """The statements of each question, as a session runs them."""
    settings = Settings(database_url=world.url)
    embedder = LocalEmbedder()
    try:
        base = await prepare(
            world.url, search_config=settings.fts_config, embedding_model=embedder.model, dimensions=embedder.dimensions
        )
        async with recording_database(world.url) as database:
            store = Store(database, base, tuning_of(settings), embedder)
            asked = [
                make_question(store.tuning, question, namespaces=[LARGE], k=8, fusion=FusionMethod.RRF) for question in questions
            ]
            return {question: await statements_of_hits(store, one) for question, one in zip(questions, asked, strict=True)}
    finally:
        await embedder.close()
