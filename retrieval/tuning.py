"""Every number of the domain, each with the section of the specification that it comes from."""

from __future__ import annotations

# ---- identifiers (spec 3)
IDENTIFIER_LENGTH = 200
"""Longest run of letters that is judged as an identifier, in characters."""
IDENTIFIERS_PER_TEXT = 200
"""Identifiers kept of one text."""
