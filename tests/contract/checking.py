"""Compares the answers of one caller with what the oracle says."""

from __future__ import annotations

import json

from retrieval.store import Store
from tests.contract.asking import documents
from tests.contract.fields import differences, expected
from tests.contract.oracle import View
from tests.fixtures.world import api, execute


async def violations(store: Store, view: View, seed: int) -> list[str]:
    """What is wrong with the answers of one caller: tokens that may not be there, and values that are not the true ones."""
    found = []
    for document in documents(view, seed):
        answer = await execute(store, document, view.me.token)
        found += [f"leak of {token} in {document[:60]}" for token in leaks(view, document, json.dumps(answer))]
        found += differences({"data": expected(api()._schema, view, document)}, answer)
    return found


def leaks(view: View, document: str, answer: str) -> list[str]:
    """Forbidden tokens of an answer, but for those that the caller sent."""
    return [token for token in view.forbidden if token in answer and token not in document]
