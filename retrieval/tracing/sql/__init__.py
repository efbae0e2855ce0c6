"""Statements that store, change and take away traces, one a file, named as what they do."""

from __future__ import annotations

from pathlib import Path

from retrieval.statements import statements_in

statement = statements_in(Path(__file__).parent)
