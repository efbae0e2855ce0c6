"""How many tokens a text takes, estimated by its characters."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EstimatedTokens:
    """Counts so many characters (code points) as one token."""

    characters: float

    def count(self, text: str) -> int:
        """ceil(characters of the text / characters of a token)."""
        return math.ceil(len(text) / self.characters)
