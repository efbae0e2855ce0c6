"""Statements of the audit, one a file, as they go into psql."""

from __future__ import annotations

from pathlib import Path

from retrieval.statements import statements_in

statement = statements_in(Path(__file__).parent)
