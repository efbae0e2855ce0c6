"""Lets a write that is sent twice under one idempotency key happen once, and gives both times what came of it."""

from __future__ import annotations

import hashlib
from typing import Any

from retrieval.access import Caller
from retrieval.database import Connection, json_text
from retrieval.errors import Conflict
from retrieval.ingest.source_input import check_text
from retrieval.ingest.sql import statement
from retrieval.tuning import IDEMPOTENCY_SECONDS, PRINCIPAL_LENGTH


class Once:
    """One write under a key of one sender, inside the transaction that does it; without a key it is done each time."""

    def __init__(self, operation: str, caller: Caller, key: str | None, given: Any) -> None:
        self._key = None if key is None else check_text("idempotencyKey", key, PRINCIPAL_LENGTH)
        self._operation = operation
        self._sender = caller.name
        self._input = digest(repr(given))

    async def results(self, connection: Connection, ns: int) -> Any:
        """What the write gave before; None when it is to be done now.

        Raises `Conflict` when the key was used for another input. Waits for a write under the same key that is not over yet.
        """
        if (
            self._key is None
            or await connection.fetchval(statement("claim_idempotency_key"), *self._of(ns), self._input) is not None
        ):
            return None
        row = await connection.fetchrow(statement("idempotent_results"), *self._of(ns))
        if row is None:
            raise Conflict("The idempotency key was forgotten while this was written; send it again.")
        if row["input_digest"] != self._input:
            raise Conflict("`idempotencyKey` was used for another input; use a new one, or send what was sent before.")
        return row["results"]

    async def keep(self, connection: Connection, ns: int, results: Any) -> None:
        """Remember what the write gave."""
        if self._key is not None:
            await connection.execute(statement("keep_idempotent_results"), *self._of(ns), json_text(results), IDEMPOTENCY_SECONDS)

    def _of(self, ns: int) -> tuple[int, str, str, bytes]:
        return ns, self._operation, self._sender, digest(self._key or "")


def digest(text: str) -> bytes:
    """SHA-256 of a text, also of one that holds lone surrogates."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
