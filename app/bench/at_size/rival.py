"""A process that holds the vectors in LanceDB and answers one search a line, with the time that it took inside.

The settings are what its documentation recommends for a table of this size: HNSW with scalar quantization in one partition (its
default), the filter before the search, an index over the column that is filtered by, and the best candidates compared exactly.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import HnswSq, LabelList

M, EF_CONSTRUCTION = 20, 300
EF, REFINE = 400, 5


def main() -> None:
    """Serve the folder of the first argument: JSON lines in, JSON lines out."""
    os.environ.setdefault("LANCE_LOG", "error")
    folder = Path(sys.argv[1])
    table = opened(folder)
    asked = np.load(folder / "asked.npy")
    print(json.dumps({"ready": True, "rows": table.count_rows()}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(answer(table, asked[request["question"]], request["case"], request["limit"])), flush=True)


def opened(folder: Path) -> Any:
    """The table, loaded and indexed now when it is not there whole."""
    database, done = lancedb.connect(folder / "lance"), folder / "lance-is-whole"
    if not done.exists():
        table = database.create_table("fragments", data=rows(folder), mode="overwrite")
        table.create_index("vector", config=HnswSq(distance_type="cosine", m=M, ef_construction=EF_CONSTRUCTION))
        table.create_index("groups", config=LabelList())
        done.touch()
    return database.open_table("fragments")


def rows(folder: Path) -> Any:
    """Each fragment with its vector and the groups that may see it."""
    vectors, seen = np.load(folder / "vectors.npy"), np.load(folder / "seen.npy")
    groups = [[group_of(int(case)) for case in np.flatnonzero(column)] for column in seen.T]
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    return pa.table({"id": np.arange(len(vectors)), "groups": pa.array(groups, pa.list_(pa.string())), "vector": column})


def answer(table: Any, vector: Any, case: int, limit: int) -> dict[str, Any]:
    """The nearest fragments that the group of a case may see, and the seconds it took."""
    started = perf_counter()
    query = table.search(vector).distance_type("cosine").where(f"array_has_any(groups, ['{group_of(case)}'])", prefilter=True)
    found = query.select(["id", "_distance"]).ef(EF).refine_factor(REFINE).limit(limit).to_arrow()["id"].to_pylist()
    return {"ids": found, "seconds": perf_counter() - started}


def group_of(case: int) -> str:
    """The group of a case."""
    return f"group-{case}"


if __name__ == "__main__":
    main()
