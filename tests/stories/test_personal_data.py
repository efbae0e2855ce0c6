"""Who may not read personal data reads masks in every field and finds nobody by a number; who may finds exactly."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.personal.masking import personal_spans
from tests.fixtures.bases import Bases
from tests.fixtures.desk import Desk, desk_at, with_namespace
from tests.fixtures.writing import ADMIN, DOCS

CARD, PHONE, MAIL, INN = "4012 8888 8888 1881", "+7 (916) 123-45-67", "ann@example.com", "7707083893"
SECRETS = ("40128888", "4012 8888", "9161234567", "123-45-67", "ann@example", INN)
TEXT = f"# Клиент Анна {PHONE}\n\nПишите на {MAIL}. Карта {CARD}.\n\n## ИНН {INN}\n\nДоговор подписан, оплата раз в месяц."
SOURCE = {
    "key": "client-1", "content": TEXT, "sourcePath": f"crm/{MAIL}", "status": f"звонить {PHONE}",
    "meta": {"mail": MAIL, "inn": int(INN), "notes": [f"тел. {PHONE}"]}, "attributes": {"phone": PHONE, MAIL: "main", "inn": INN},
    "origin": {"connector": "crm", "uri": f"mailto:{MAIL}", "author": MAIL},
}  # fmt: skip
FACTS = (
    """mutation($facts: [FactInput!]!) { assertFacts(input: {namespace: "docs", facts: $facts}) { results { code message } } }"""
)
STATED = [
    {"subject": "client-1", "predicate": "phone", "value": PHONE},
    {"subject": "client-1", "predicate": "inn", "value": int(INN)},
    {"subject": "client-1", "predicate": "card", "value": {"number": CARD}},
]
ENTITY = "key title status sourcePath attributes"
STEP = "provenance { label key by uri }"
READ = f"""query($question: String!) {{
    search(question: $question, k: 5) {{
        hits {{ fragment {{ title heading text safe: text(neutralized: true) meta identifiers card {{ title }} {STEP} }}
               highlights {{ field start end }} }}
        lexical {{ fragment {{ text }} }} vector {{ fragment {{ text }} }} entities {{ entity {{ {ENTITY} }} }}
        sources {{ title sourcePath }} context answer {{ text citations {{ fragment {{ text }} }} }} }}
    entity(namespace: "docs", key: "client-1") {{ {ENTITY} facts {{ nodes {{ predicate value }} }} }}
    entities(filter: {{kinds: [DOCUMENT]}}, orderBy: TITLE, first: 1) {{ edges {{ cursor node {{ {ENTITY} }} }} }}
    source(namespace: "docs", key: "client-1") {{ title sourcePath content personalData {{ kind count }} {STEP}
        fragments {{ nodes {{ title heading text meta }} }} }}
    aggregate(metric: ENTITIES, dimensions: [STATUS, SOURCE_PATH]) {{ buckets {{ values {{ value }} count }} }}
    contextPack(question: $question, anchors: [{{key: "client-1"}}]) {{ text tokenEstimate
        sections {{ items {{ text title sourcePath tokenEstimate {STEP} }} }} }}
    typedContext(anchors: [{{kind: "document", value: "client-1"}}], traverse: []) {{
        sections {{ items {{ attributes entity {{ title }} }} }} }} }}"""
PAGE = """query($after: String) {
    entities(filter: {kinds: [DOCUMENT]}, orderBy: TITLE, first: 1, after: $after) { edges { cursor node { key } } } }"""
TITLES = "{ entities(filter: {kinds: [DOCUMENT]}, orderBy: TITLE) { nodes { key } } }"
BY_VALUE = """query($meta: JSON, $attributes: JSON) {
    a: entities(filter: {meta: $meta}) { totalCount } b: entities(filter: {attributes: $attributes}) { totalCount } }"""


@pytest.fixture(scope="module")
def stored(shared_bases: Bases) -> str:
    """A base with a client's personal data in every field that takes text; `ann` may read them, `bob` only writes."""
    return shared_bases.filled(fill)


async def fill(url: str) -> None:
    async with desk_at(url) as desk:
        await with_namespace(desk)
        (result,) = await desk.write(SOURCE)
        assert result["code"] is None, result
        await desk.write({"key": "other", "content": "Договор без личных данных, оплата раз в год."})
        stated = await desk.ask(FACTS, facts=STATED)
        assert [one["code"] for one in stated["assertFacts"]["results"]] == [None] * 3
        await desk.settle()
        for name, role in (("ann", "PERSONAL_DATA"), ("bob", "WRITER")):
            await upsert_principals(desk.store.database, ADMIN, [PrincipalInput(name, "USER")])
            await grant(desk.store.database, ADMIN, name, DOCS, role)


@pytest.fixture
async def filled(stored: str, bases: Bases) -> AsyncIterator[Desk]:
    """A desk at a copy of it."""
    async with desk_at(bases.clone(stored)) as desk:
        yield desk


@pytest.mark.parametrize("question", ["оплата договора", f"карта {CARD}", MAIL])
async def test_without_the_right_every_field_is_masked(filled: Desk, question: str) -> None:
    data = await filled.ask(READ, await filled.token("bob"), question=question)
    assert unmasked(data) == []
    shown = json.dumps(data, ensure_ascii=False)
    assert all(mask in shown for mask in ("[PHONE]", "[EMAIL]", "[CARD]", "[INN]"))
    content = data["source"]["content"]
    assert content == TEXT.replace(PHONE, "[PHONE]").replace(MAIL, "[EMAIL]").replace(CARD, "[CARD]").replace(INN, "[INN]")
    assert data["source"]["personalData"] == [{"kind": kind, "count": 1} for kind in ("CARD", "EMAIL", "INN", "PHONE")]


async def test_with_the_right_every_field_is_as_stored(filled: Desk) -> None:
    for token in (await filled.token("ann"), None):
        data = await filled.ask(READ, token, question="оплата договора")
        assert data["source"]["content"] == TEXT
        assert len(unmasked(data)) > 10
        assert data["source"]["fragments"]["nodes"][0]["meta"] == SOURCE["meta"]
        assert data["entity"]["attributes"] == SOURCE["attributes"]
        assert {json.dumps(one["value"]) for one in data["entity"]["facts"]["nodes"]} == {
            json.dumps(one["value"]) for one in STATED
        }


@pytest.mark.parametrize(
    "number",
    [CARD, "4012888888881881", "4012-8888-8888-1881", PHONE, "89161234567", MAIL, "ANN@example.com", "аnn@example.com", INN],
)
async def test_a_number_is_found_by_who_holds_the_right_and_by_nobody_else(filled: Desk, number: str) -> None:
    assert set(await filled.find(number, token=await filled.token("ann"))) == {"client-1"}
    assert await filled.find(number, token=await filled.token("bob")) == []


async def test_a_wrong_number_is_found_by_nobody(filled: Desk) -> None:
    assert await filled.find("4111 1111 1111 1111", token=await filled.token("ann")) == []


async def test_no_filter_tells_a_number(filled: Desk) -> None:
    given = {"meta": {"mail": MAIL}, "attributes": {"phone": PHONE}}
    counts = {name: await filled.ask(BY_VALUE, await filled.token(name), **given) for name in ("ann", "bob")}
    assert counts["ann"] == {"a": {"totalCount": 1}, "b": {"totalCount": 1}}
    assert counts["bob"] == {"a": {"totalCount": 0}, "b": {"totalCount": 0}}


async def test_pages_by_title_go_on_behind_a_masked_one_and_its_cursor_does_not_tell(filled: Desk) -> None:
    token, after, keys = await filled.token("bob"), None, []
    for _ in range(3):
        page = await filled.ask(PAGE, token, after=after)
        edges = page["entities"]["edges"]
        keys += [edge["node"]["key"] for edge in edges]
        after = edges[-1]["cursor"] if edges else after
        assert PHONE.encode() not in base64.b64decode(f"{after}==", altchars=b"-_")
    assert sorted(keys) == ["client-1", "other"]


async def test_no_order_of_titles_tells_a_number_to_who_writes_titles_beside_it(filled: Desk) -> None:
    for number in ("+7 (916) 000-00-00", "+7 (999) 123-45-67"):
        await filled.write({"key": number[4:7], "content": "Проба.", "title": f"Клиент Анна {number}"})
    keys = {}
    for name in ("ann", "bob"):
        page = await filled.ask(TITLES, await filled.token(name))
        keys[name] = [node["key"] for node in page["entities"]["nodes"]]
    assert keys == {"ann": ["other", "916", "client-1", "999"], "bob": ["other", "client-1", "916", "999"]}


@pytest.mark.parametrize(
    "hidden", ["Ян м%40example.com", "Ян м&commat;example.com", "Ян м<b class='x'>@</b>example.com", "Ян ٩١٦١٢٣٤٥٦٧"]
)
async def test_no_order_of_titles_tells_an_address_or_a_number_that_is_written_otherwise(filled: Desk, hidden: str) -> None:
    before, behind = ("Ян ٥", "Ян ٩٥") if hidden.endswith("٧") else ("Ян а", "Ян я")
    for title in (before, hidden, behind):
        await filled.write({"key": title, "content": "Проба.", "title": title})
    page = await filled.ask(TITLES, await filled.token("bob"))
    keys = [node["key"] for node in page["entities"]["nodes"]]
    assert [key for key in keys if key.startswith("Ян")] == [hidden, before, behind]


async def test_titles_with_dates_are_ordered_by_them(filled: Desk) -> None:
    for day in ("2026-02-01", "2025-12-31", "2026-01-15"):
        await filled.write({"key": day, "content": "Встреча.", "title": f"Встреча {day} 10:30"})
    page = await filled.ask(TITLES, await filled.token("bob"))
    assert [node["key"] for node in page["entities"]["nodes"]][1:4] == ["2025-12-31", "2026-01-15", "2026-02-01"]


async def test_highlights_stand_where_the_masked_text_has_the_words(filled: Desk) -> None:
    data = await filled.ask(READ, await filled.token("bob"), question="карта")
    (hit,) = [one for one in data["search"]["hits"] if "[CARD]" in one["fragment"]["text"]]
    assert [hit["fragment"]["text"][mark["start"] : mark["end"]] for mark in hit["highlights"]] == ["Карта"]


def unmasked(value: Any) -> list[str]:
    """The texts in an answer that hold personal data."""
    if isinstance(value, dict):
        return [found for key, part in value.items() for found in (*unmasked(key), *unmasked(part))]
    if isinstance(value, list):
        return [found for part in value for found in unmasked(part)]
    text = str(value)
    return [text] if personal_spans(text) or any(secret in text for secret in SECRETS) else []
