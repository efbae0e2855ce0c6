"""Tokens: only a digest is stored, they expire, they can be revoked."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest

from retrieval.administration.principals import delete_principal
from retrieval.administration.tokens import create_token, list_tokens, revoke_token
from retrieval.errors import BadInput, Forbidden
from retrieval.store import Store
from tests.fixtures.callers import caller_of, holds
from tests.fixtures.writing import ADMIN, values

pytestmark = pytest.mark.usefixtures("ns")


async def test_a_token_stands_for_its_principal_and_its_secret_is_not_stored(store: Store) -> None:
    made = await create_token(store.database, ADMIN, "ann", label="ноутбук")
    assert made.token.startswith("ctxql_")
    assert len(made.token) == 49
    assert made.token not in repr(made)
    assert await values(store, "select digest from token") == [hashlib.sha256(made.token.encode()).digest()]
    assert await holds(store, made.token)
    assert not await holds(store, made.token + "x")
    assert (await caller_of(store, "ann")).name == "ann"


async def test_a_revoked_token_holds_no_longer(store: Store) -> None:
    made = await create_token(store.database, ADMIN, "ann")
    assert (await revoke_token(store.database, ADMIN, made.token_id)).deleted
    assert not (await revoke_token(store.database, ADMIN, made.token_id)).deleted
    assert not (await revoke_token(store.database, ADMIN, 2**40)).deleted
    assert not await holds(store, made.token)
    (listed,) = await list_tokens(store.database, ADMIN, "ann")
    assert listed.revoked_at is not None


async def test_an_expired_token_holds_no_longer(store: Store) -> None:
    made = await create_token(store.database, ADMIN, "ann", expires_at=datetime.now(UTC) + timedelta(hours=1))
    assert await holds(store, made.token)
    async with store.database.writing() as connection:
        await connection.execute("update token set expires_at = now() - interval '1 s'")
    assert not await holds(store, made.token)


async def test_tokens_go_with_their_principal(store: Store) -> None:
    made = await create_token(store.database, ADMIN, "ann")
    assert (await delete_principal(store.database, ADMIN, "ann")).counts["tokens"] == 1
    assert not await holds(store, made.token)


async def test_what_cannot_be_a_token_is_refused(store: Store) -> None:
    with pytest.raises(BadInput, match="group"):
        await create_token(store.database, ADMIN, "team")
    with pytest.raises(BadInput, match="no principal"):
        await create_token(store.database, ADMIN, "nobody")
    with pytest.raises(BadInput, match="passed"):
        await create_token(store.database, ADMIN, "ann", expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    with pytest.raises(BadInput, match="zone"):
        await create_token(store.database, ADMIN, "ann", expires_at=datetime(2999, 1, 1))
    ann = await caller_of(store, "ann")
    for act in (create_token(store.database, ann, "ann"), revoke_token(store.database, ann, 1), list_tokens(store.database, ann)):
        with pytest.raises(Forbidden):
            await act


async def test_tokens_are_listed_newest_first(store: Store) -> None:
    made = [await create_token(store.database, ADMIN, name, label=name) for name in ("ann", "bob", "ann")]
    listed = await list_tokens(store.database, ADMIN)
    assert [token.token_id for token in listed] == [one.token_id for one in reversed(made)]
    assert [token.label for token in await list_tokens(store.database, ADMIN, "bob")] == ["bob"]


async def test_tokens_of_nobody_are_refused_and_who_has_none_has_an_empty_list(store: Store) -> None:
    assert await list_tokens(store.database, ADMIN, "bob") == ()
    with pytest.raises(BadInput, match="There is no principal 'nobody'"):
        await list_tokens(store.database, ADMIN, "nobody")
