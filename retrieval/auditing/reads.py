"""Notes in the audit what a service reads for a user, before the answer leaves."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from time import perf_counter

from retrieval.access import Caller
from retrieval.auditing.actions import Action
from retrieval.auditing.sql import statement
from retrieval.database import json_text
from retrieval.store import Store


async def note_read(store: Store, caller: Caller, kind: str, namespaces: Iterable[str], seconds: float) -> None:
    """Add the row of one operation of a service for a user; `kind` is query, mutation or subscription.

    Raises `ReadOnly`, `DatabaseUnavailable`, `DeadlineExceeded`: what cannot be noted is not to be answered.
    """
    started = perf_counter()
    names = sorted({unicodedata.normalize("NFC", name) for name in namespaces})  # as they are stored, however they were written
    values = names, json_text({"operation": kind}), caller.request_id
    async with store.database.writing(seconds) as connection:
        await connection.execute(statement("note_read"), caller.name, caller.service, Action.READ.value, *values, timeout=seconds)
    store.observer.statement("note_read", perf_counter() - started)
