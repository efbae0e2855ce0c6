"""The floors of search quality: nDCG@10 on sets with known answers, with given vectors, lists of the specified pool."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.config import Settings
from app.evaluation.collection import data_folder
from app.evaluation.run import EvalOptions, run_eval

PLAIN_TS_RANK = {"cranfield": 0.273, "xquad-ru": 0.939, "xquad-en": 0.960, "fastapi-sections": 0.561, "locomo10": 0.470}
"""What PostgreSQL's own ranking reaches on the same sets (research/data.md)."""


@dataclass(frozen=True)
class Floor:
    """What a set must reach."""

    name: str
    lexical: float
    fused: float | None
    embeddings: str | None = "emb"
    groups: tuple[str, ...] | None = None
    category: str | None = None


FLOORS = (
    Floor("cranfield", 0.340, 0.385),
    Floor("xquad-ru", 0.950, 0.970),
    Floor("fastapi-sections", 0.620, 0.660, groups=("ru",), category="ru->ru"),
    Floor("xquad-en", 0.965, 0.978),
    Floor("fastapi-sections", 0.620, 0.660, category="ru->ru"),
    Floor("locomo10", 0.485, None, embeddings=None),
    Floor("locomo10", 0.485, 0.490, embeddings="emb3", groups=("c26", "c30", "c44")),
)
QUICK = 3


@pytest.fixture
def sets() -> Path:
    """The folder of the sets; they may not ship."""
    folder = data_folder()
    if not folder.is_dir():
        message = f"SEARCH QUALITY IS NOT CHECKED: there is no {folder}; set EVAL_DATA."
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(message)
        pytest.skip(message)
    return folder


def settings_for(url: str, floor: Floor) -> Settings:
    """A base for vectors of the given size; the model itself is never asked."""
    return Settings(database_url=url, embedding_provider="local" if floor.embeddings else "none")


@pytest.mark.parametrize(
    "floor",
    [
        pytest.param(floor, id=f"{floor.name}-{at}", marks=[pytest.mark.long] if at >= QUICK else [])
        for at, floor in enumerate(FLOORS)
    ],
)
async def test_a_set_reaches_its_floors(floor: Floor, sets: Path, database_url: str) -> None:
    options = EvalOptions(embeddings=Path(floor.embeddings) if floor.embeddings else None, groups=floor.groups)
    report = await run_eval(settings_for(database_url, floor), sets / floor.name, options)
    lexical, fused = (report.score(channel, category=floor.category) for channel in ("lexical", "fused"))
    assert lexical >= floor.lexical
    assert lexical > PLAIN_TS_RANK[floor.name]
    assert floor.fused is None or fused >= floor.fused
