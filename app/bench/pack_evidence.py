"""How much of the evidence packs of LoCoMo hold, against the same budgets filled in the order of plain lists."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

from app.bench.line import Line
from app.config import LOCAL_MODEL, Settings
from app.evaluation.collection import data_folder
from app.evaluation.packs import BUDGETS, Shares, evidence_in_packs
from app.evaluation.run import EvalOptions
from app.opening import tuning_of
from app.providers.local import DIMENSIONS
from retrieval.database import Database
from retrieval.migrations import prepare
from retrieval.store import Store

LOSS_MOST = 0.01
SET = "locomo10"
OPTIONS = EvalOptions(embeddings=Path("emb3"), groups=("c26", "c30", "c44"), k=50)


async def evidence_of_packs(url: str, say: Callable[[str], None]) -> AsyncIterator[Line]:
    """A line for each budget, of packs as of now and as of the end of each conversation; `url` is an empty database.

    Gives nothing, loudly, when the set is not there: it may not be shipped.
    """
    folder = data_folder() / SET
    if not folder.is_dir():
        say(f"EVIDENCE IN PACKS IS NOT MEASURED: there is no {folder}; set EVAL_DATA")
        return
    config = Settings.model_fields["fts_config"].default
    base = await prepare(url, search_config=config, embedding_model=LOCAL_MODEL, dimensions=DIMENSIONS)
    database = await Database.open(url, size=4)
    try:
        store = Store(database, base, tuning_of(Settings()), None)
        for name, at_the_end in (("now", False), ("end", True)):
            shares = await evidence_in_packs(store, folder, OPTIONS, at_the_end=at_the_end)
            for budget in BUDGETS:
                yield line(shares, name, budget)
    finally:
        await database.close()


def line(shares: Shares, name: str, budget: int) -> Line:
    """By how much the pack of a budget is better than the better plain list."""
    held = ", ".join(f"{way} {found[budget]:.3f}" for way, found in shares.of.items())
    note = f"{held} of {shares.questions} questions"
    return Line(f"pack-evidence-{budget}-as-of-{name}", shares.margin(budget), -LOSS_MOST, "", note, least=True, digits=4)
