"""What packs are measured on is a sound base: its edges are those of its facts, and every kind of thing is there."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from app.bench.at_size.asking import open_base
from app.bench.at_size.corpus import FRAGMENTS_OF_DOCUMENT, invent
from app.bench.at_size.loading import load
from app.bench.at_size.pack_world import DOCUMENTS_OF_OBSERVATION, RELATIONS, fill_packs
from tests.fixtures.edges import wrong_edges
from tests.fixtures.writing import rows

DOCUMENTS = 100


@pytest.mark.long
async def test_each_document_has_a_thing_with_its_facts(fresh_database: Any) -> None:
    url, corpus = fresh_database(), invent(DOCUMENTS * FRAGMENTS_OF_DOCUMENT, 1)
    await load(url, corpus, restricted=False)
    await fill_packs(url, corpus)
    async with open_base(url) as store:
        assert await wrong_edges(store) == ({}, {})
        kinds = Counter(kind for (kind,) in await rows(store, "select kind from entity"))
        assert kinds == {"DOCUMENT": DOCUMENTS, "THING": DOCUMENTS, "OBSERVATION": DOCUMENTS // DOCUMENTS_OF_OBSERVATION}
        facts = Counter(name for (name,) in await rows(store, "select predicate from fact"))
        assert facts == dict.fromkeys(RELATIONS, DOCUMENTS) | {"state": DOCUMENTS + DOCUMENTS // 50}
        scopes = await rows(store, "select kind, count(*) filter (where relevance_scopes <> '{}') from entity group by 1")
        assert all(0 < count < DOCUMENTS or kind == "THING" for kind, count in scopes)
