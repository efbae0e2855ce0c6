"""Compares answers with what the oracle says: forbidden tokens anywhere in their bytes, and every value."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from retrieval.store import Store
from tests.contract.asking import documents
from tests.contract.expecting import differences, expected
from tests.contract.oracle import Refused, View
from tests.fixtures.personal_numbers import Number, normal
from tests.fixtures.random_world import LETTERS, TOKEN
from tests.fixtures.world import api, codes, execute

RUNS = re.compile(f"[{LETTERS}]{{{TOKEN},}}")
CODED = re.compile(r"[A-Za-z0-9_-]{20,}")


class Checks:
    """Asks one store and remembers what was wrong; one comparison is one document of one caller at one moment."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.found: list[str] = []
        self.done = 0
        self.close = 0
        """Answers searched for tokens only, since rounding decides their order; not counted as done."""

    async def ask(self, view: View, document: str) -> None:
        """One comparison."""
        answer = await execute(self.store, document, view.me.token)
        self.compare(view, document, answer)

    def compare(self, view: View, document: str, answer: dict[str, Any]) -> None:
        """Hold an answer that has come against the oracle."""
        said = f"{view.me.name} asked {document[:400]}"
        self.found += [f"{said}: leak of {token}" for token in leaks(view, document, json.dumps(answer))]
        view.is_close = False
        wrong = errors(view, document, answer)
        if view.is_close:
            self.close += 1
            return
        self.done += 1
        self.found += [f"{said}: {line}" for line in wrong[:5]]

    async def ask_all(self, view: View, asked: Iterable[str]) -> None:
        """Compare until something is wrong."""
        for document in asked:
            await self.ask(view, document)
            if self.found:
                return


async def violations(store: Store, view: View, seed: int) -> list[str]:
    """What is wrong with the answers of one caller to the wide documents."""
    checks = Checks(store)
    await checks.ask_all(view, documents(view, seed))
    return checks.found


def errors(view: View, document: str, answer: dict[str, Any]) -> list[str]:
    """Where an answer is not what it must be: data without errors, or one error and no data."""
    try:
        if view.me.is_refused:
            raise Refused("UNAUTHENTICATED")
        wanted = {"data": expected(api()._schema, view, document)}
        return differences(wanted, answer) if "errors" not in answer else [json.dumps(answer["errors"])]
    except Refused as refused:
        held = [value for value in (answer["data"] or {}).values() if value is not None]
        told = codes(answer)
        return [] if told == [str(refused)] and not held else [f"{told} with {held}, not {refused}"]


def leaks(view: View, document: str, answer: str) -> list[str]:
    """Forbidden tokens of an answer, also inside what is coded in base64, but for those that the caller sent."""
    found = [token for token in tokens_in(answer) & view.forbidden if token not in document]
    return found + [one.shown for one in numbers_in(view, answer) if not told(one, document)]


def numbers_in(view: View, text: str) -> list[Number]:
    """Numbers of personal data that the caller may not read in a text, however they are written."""
    said = normal("|".join((text, *decoded(text))))
    return [one for one in view.unread if one.normal in said]


def told(number: Number, document: str) -> bool:
    """Whether a caller sent a number."""
    asked = normal(document)
    return any(normal(way) in asked for way in number.ways)


def tokens_in(text: str) -> set[str]:
    """Every run of letters in a text that could be a token, in what it says and in what its cursors and ids hold."""
    return {found for part in (text.lower(), *decoded(text)) for found in windows(part)}


def windows(text: str) -> Iterator[str]:
    """All pieces as long as a token, of every run of its letters."""
    for run in RUNS.findall(text):
        for start in range(len(run) - TOKEN + 1):
            yield run[start : start + TOKEN]


def decoded(text: str) -> Iterator[str]:
    """What stands in the words of a text that are base64."""
    for word in CODED.findall(text):
        try:
            yield base64.urlsafe_b64decode(word + "=" * (-len(word) % 4)).decode("latin-1")
        except binascii.Error:
            continue
