"""A namespace with some people in it."""

from __future__ import annotations

import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.store import Store
from tests.fixtures.writing import ADMIN, DOCS

PEOPLE = {"ann": "USER", "bob": "USER", "robot": "SERVICE", "team": "GROUP", "ops": "GROUP"}


@pytest.fixture
async def ns(store: Store) -> int:
    """The number of the namespace `docs`; ann, bob and robot exist, and the groups team and ops."""
    await upsert_principals(store.database, ADMIN, [PrincipalInput(name, kind) for name, kind in PEOPLE.items()])
    return (await create_namespace(store.database, ADMIN, DOCS)).ns
