"""A namespace to write into."""

from __future__ import annotations

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS


@pytest.fixture
async def ns(store: Store) -> int:
    """The number of the empty namespace `docs`."""
    return (await create_namespace(store.database, ADMIN, DOCS)).ns
