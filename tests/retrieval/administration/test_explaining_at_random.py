"""Explanations agree with what is read, for every caller and entity of worlds that are made at random."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator

import pytest

from retrieval.access import ROLES
from retrieval.administration.explaining import explain
from retrieval.administration.grants import grant
from retrieval.administration.members import set_members
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, make_administrator, upsert_principals
from retrieval.administration.tokens import create_token
from retrieval.store import Store
from tests.fixtures.callers import session_of
from tests.fixtures.world import opened
from tests.fixtures.writing import ADMIN, put

SPACES = ("one", "two")
KEYS = ("open", "closed", "Closed", "both")
CALLERS = {"ann": "USER", "Ann": "USER", "анна": "USER", "bot": "SERVICE", "root": "USER"}
GROUPS = ("team", "ops", "issuer#team", "two")
MAIL = "ann@example.org"


@pytest.fixture
async def store(base_url: str) -> AsyncIterator[Store]:
    async with opened(base_url) as found:
        yield found


async def fill(store: Store, seed: int) -> None:
    """Principals in groups in groups, and roles and grants for any of them."""
    some, database, everybody = random.Random(seed), store.database, [*CALLERS, *GROUPS]
    await upsert_principals(database, ADMIN, [PrincipalInput(name, kind) for name, kind in CALLERS.items()])
    await upsert_principals(database, ADMIN, [PrincipalInput(name, "GROUP") for name in GROUPS])
    await make_administrator(database, PrincipalInput("root", "USER"))
    for group in GROUPS:
        await set_members(database, ADMIN, group, some.sample([*everybody, "everyone"], some.randrange(4)))
    for namespace in SPACES:
        await create_namespace(database, ADMIN, namespace)
        for _ in range(some.randrange(5)):
            await grant(database, ADMIN, some.choice([*everybody, "everyone"]), namespace, some.choice(ROLES))
        for key in KEYS:
            readers = some.sample([*everybody, "everyone"], some.randrange(3))
            restricted = key != "open" and some.random() < 0.8
            await put(store, key, f"Write to {MAIL}.", namespace, restricted=restricted, readers=readers if restricted else None)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 60))])
async def test_what_is_explained_is_what_is_read(store: Store, seed: int) -> None:
    await fill(store, seed)
    for caller in CALLERS:
        token = (await create_token(store.database, ADMIN, caller)).token
        for namespace in SPACES:
            read = await texts_read(store, token, namespace)
            whole = await explain(store.database, ADMIN, caller, namespace)
            assert whole.visible == (read is not None), (seed, caller, namespace, whole.sentences)
            for key in KEYS:
                text, said = (read or {}).get(key), await explain(store.database, ADMIN, caller, namespace, key)
                told = (seed, caller, namespace, key, said.sentences)
                assert said.visible == (text is not None), told
                assert said.masked == (None if text is None else MAIL not in text), told


async def texts_read(store: Store, token: str, namespace: str) -> dict[str, str] | None:
    """The texts that a request reads in a namespace, by key; None where that is closed."""
    async with session_of(store, token) as session:
        spaces = [space for space in (await session.caller).spaces if space.name == namespace]
        if not spaces:
            return None
        catalogue, found = await session.catalogue(), dict[str, str]()
        for key in KEYS:
            entity = await catalogue.entities_by_key.one((spaces[0].ns, key))
            if entity is not None:
                found[key] = await catalogue.contents.one((entity.ns, entity.entity_id)) or ""
        return found
