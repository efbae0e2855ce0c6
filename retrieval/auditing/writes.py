"""Notes a write in the audit, in the transaction that does it: neither is there without the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from retrieval.access import Caller
from retrieval.auditing.actions import Action
from retrieval.auditing.sql import statement
from retrieval.database import Connection, json_text
from retrieval.outcomes import Outcome
from retrieval.tuning import AUDIT_KEYS_MOST

NOBODY = 0
"""The number of a caller that no principal stands for."""


async def note_write(
    connection: Connection, caller: Caller, action: Action, ns: int | None = None, *, entities: Sequence[int] = (),
    digests: Sequence[bytes] = (), items: int = 1, what: Mapping[str, Any] | None = None,
    outcome: Mapping[str, int] | None = None,
) -> None:  # fmt: skip
    """Add the row of a write inside its transaction, while what it names is still there.

    `entities` are those it is about, `digests` (`key_digest`) the same by key. `what` has names of principals, roles, packs or
    models and never a key or anything stored; `outcome` counts. Of a subject that no principal stands for it tells the issuer: a
    principal of that name may be made later, and be somebody else.
    """
    told = {**(what or {}), **({"issuer": caller.issuer} if caller.principal_id == NOBODY and caller.issuer is not None else {})}
    await connection.execute(
        statement("note_write"), caller.name, caller.service, action.value, ns, list(entities), list(digests), AUDIT_KEYS_MOST,
        items, json_text(told), json_text(outcome or {}), caller.request_id,
    )  # fmt: skip


def counted(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """How many items ended in each way, as the audit has it.

    >>> counted([Outcome.CREATED, Outcome.CREATED, Outcome.FAILED])
    {'created': 2, 'failed': 1}
    """
    return {outcome.value.lower(): number for outcome, number in sorted(Counter(outcomes).items())}
