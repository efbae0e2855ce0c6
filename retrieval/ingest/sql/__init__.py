"""Write statements of documents, the queue and the statistics, one a file; each can be pasted into psql and explained."""

from __future__ import annotations

from pathlib import Path

from retrieval.statements import statements_in

statement = statements_in(Path(__file__).parent)
