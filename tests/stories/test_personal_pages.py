"""Pages whose markup, cuts and headings part somebody's number are read masked without the right, and found whole with it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.desk import Desk
from tests.fixtures.writing import ADMIN, DOCS

FILLER = "Доставка в срок, оплата по письму. " * 33
SOURCES = {
    "cut": {"content": f"{FILLER}Звоните 8 (916) 123-45-67 до шести. {FILLER}", "mediaType": "text/plain"},
    "tags": {"content": f"<p>{FILLER}</p><p>8 (916) <b>124</b>-45-&#54;7</p>", "mediaType": "text/html"},
    "entities": {"content": f"<p>{FILLER}</p><p>anna&#64;example.com</p>", "mediaType": "text/html"},
    "bold": {"content": f"{FILLER}\n\n8 (916) **12**&#54;-45-67", "mediaType": "text/markdown"},
    "heading": {"content": f"{FILLER}\n\n## Паспорт\n\n4505 678901\n", "mediaType": "text/markdown"},
    "title": {"content": "4506 678901", "title": "Паспорт клиента", "mediaType": "text/plain"},
}
NUMBERS = {
    "cut": "8916123", "tags": "8916124", "entities": "anna", "bold": "8916126", "heading": "45056789", "title": "45066789",
}  # fmt: skip
ASKED = {
    "cut": "+7 916 123-45-67", "tags": "89161244567", "entities": "anna@example.com", "bold": "89161264567",
    "heading": "4505678901", "title": "4506678901",
}  # fmt: skip
READ = """query($key: String!) { source(namespace: "docs", key: $key) { title content
    fragments { nodes { title heading text } } personalData { kind count } } }"""


@pytest.fixture
async def pages(desk: Desk) -> Desk:
    """The pages; `ann` may read personal data, `bob` may not."""
    results = await desk.write(*({"key": key} | given for key, given in SOURCES.items()))
    assert [result["code"] for result in results] == [None] * len(SOURCES)
    await desk.settle()
    for name, role in (("ann", "PERSONAL_DATA"), ("bob", "READER")):
        await upsert_principals(desk.store.database, ADMIN, [PrincipalInput(name, "USER")])
        await grant(desk.store.database, ADMIN, name, DOCS, role)
    return desk


async def test_nothing_of_a_number_that_a_page_parts_is_read_without_the_right_and_holders_find_it(pages: Desk) -> None:
    bob, ann = await pages.token("bob"), await pages.token("ann")
    for key, number in NUMBERS.items():
        shown, whole = [await pages.ask(READ, token, key=key) for token in (bob, ann)]
        assert not tells(shown, number), (key, shown)
        assert shown["source"]["personalData"] != [], key
        assert tells(whole, number), key
        assert set(await pages.find(ASKED[key], token=ann)) == {key}
        assert await pages.find(ASKED[key], token=bob) == []


def tells(data: dict[str, Any], number: str) -> bool:
    """Whether the fields of an answer, read one after another, tell a number or most of it."""
    source = data["source"]
    fields = [source["content"], *(text for node in source["fragments"]["nodes"] for text in node.values())]
    seen = "\n".join(re.sub(r"<[^<>]*>", "", text) for text in fields)
    return number in (re.sub(r"\D", "", re.sub(r"&#54;", "6", seen)) if number[0].isdigit() else seen)
