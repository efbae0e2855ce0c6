"""The examples of docs/facts.md give what the page shows, one after the other, to the letter."""

from __future__ import annotations

import json
import re
from pathlib import Path

from retrieval.store import Store
from tests.fixtures.world import execute

PAGE = (Path(__file__).parents[2] / "docs" / "facts.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```graphql\n(.*?)```\n+```json\n(.*?)```", PAGE, re.DOTALL)


async def test_every_example_gives_what_is_shown(store: Store) -> None:
    assert len(EXAMPLES) == PAGE.count("```graphql") == 8
    for document, shown in EXAMPLES:
        answer = await execute(store, document, None)
        assert answer == json.loads(shown), document
