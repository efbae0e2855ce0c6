"""Questions as people and attackers type them: each is answered, or refused with a code, and none breaks anything."""

from __future__ import annotations

import itertools
import json
import time
import unicodedata

import pytest

from tests.fixtures.desk import Desk, with_namespace
from tests.fixtures.world import recorder

OPERATORS = list("&|!:*()<>'\"\\%_")
SEARCH = """query($q: String!) { search(question: $q) {
    hits { score } vector { score } lexical { score } neighbors { hops } sources { key } context degraded { code } } }"""


async def test_signs_of_the_word_search_are_only_signs(desk: Desk) -> None:
    await desk.fill({"a": "договор поставки", "b": "акт сверки", "c": "договор и акт", "d": "ничего общего"})
    await desk.settle()
    plain = await desk.find("договор акт")
    assert sorted(plain) == ["a", "b", "c"]
    for pair in itertools.product(OPERATORS, repeat=2):
        assert await desk.find(f"договор {''.join(pair)} акт") == plain, pair
    for sign in OPERATORS:
        assert sorted(await desk.find(f"{sign}договор{sign} {sign}акт{sign}")) == ["a", "b", "c"], sign


async def test_a_question_is_words_whatever_else_it_is(desk: Desk, subtests: pytest.Subtests) -> None:
    await desk.fill({"a": "Код доступа лежит у охраны.", "b": "Прочее."})
    await desk.settle()
    for question in (
        "what's the код доступа",
        "'; drop table fragment; -- код",
        "код' OR '1'='1",
        "-код",
        "код:* & !доступа <-> ",
        "\\'код\\' $1 %s {0}",
        "«КОД»\u00a0доступа\u2028— “где”…",
        "код 😀 \u202eапутсод",
    ):
        with subtests.test(question):
            assert await desk.find(question) == ["a"]


async def test_nothing_to_look_up_is_no_word_found_and_never_everything(desk: Desk, subtests: pytest.Subtests) -> None:
    await desk.fill({str(number): f"и в на не или ни !!! ??? 😀 « » текст {number}" for number in range(30)})
    await desk.settle()
    for question in ("и в на", "!!! ???", "😀", "...", "«»", "не или ни", "— …"):
        with subtests.test(question):
            found = (await desk.ask(SEARCH, q=question))["search"]
            assert found["lexical"] == []
            assert len(found["vector"]) == len(found["hits"]) == 8
            assert found["degraded"] == []


async def test_a_question_that_cannot_be_asked_costs_nothing(desk: Desk, subtests: pytest.Subtests) -> None:
    for question in ("", "   ", "\n\t", "\u200b\u00a0", "a\x00b", "x" * 10_001, "слово " * 17_000):
        for query in (SEARCH, "query($q: String!) { recall(question: $q) { memories { score } context } }"):
            with subtests.test(question[:4], query=query[:30]):
                assert await desk.refusal(query, q=question) == "BAD_INPUT"
    assert recorder(desk.store).calls == []


async def test_half_a_character_is_refused_before_anything_reads_it(desk: Desk) -> None:
    body = json.dumps({"query": SEARCH, "variables": {"q": "a\ud800b"}})
    answer = await desk.client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (400, "BAD_INPUT")
    inside = '{ search(question: "a\\ud800b") { question } }'
    assert await desk.refusal(inside) in {"BAD_INPUT", "GRAPHQL_PARSE_FAILED"}


ARGUMENTS = [
    ("k: 0", "BAD_INPUT"),
    ("k: 51", "BAD_INPUT"),
    ("k: -1", "BAD_INPUT"),
    ("k: null", "GRAPHQL_VALIDATION_FAILED"),
    ("k: 1.5", "GRAPHQL_VALIDATION_FAILED"),
    ("k: 99999999999", "GRAPHQL_VALIDATION_FAILED"),
    ("hops: 0", "BAD_INPUT"),
    ("hops: 3", "BAD_INPUT"),
    ('namespaces: ["nowhere"]', "NAMESPACE_NOT_FOUND"),
    ('namespaces: ["docs", "nowhere"]', "NAMESPACE_NOT_FOUND"),
    ('namespaces: [""]', "NAMESPACE_NOT_FOUND"),
    ('asOf: "2026-09-05T00:00:00"', "BAD_INPUT"),
    ('asOf: "yesterday"', "BAD_INPUT"),
    ('asOf: "0000-01-01T00:00:00Z"', "BAD_INPUT"),
    ('asOf: "10000-01-01T00:00:00Z"', "BAD_INPUT"),
    ("asOf: 2026", "BAD_INPUT"),
    ('filter: {updatedAfter: "2026-09-05T00:00:00"}', "BAD_INPUT"),
    ("filter: {meta: [1]}", "BAD_INPUT"),
    ("fusion: {method: WEIGHTED, weights: [{channel: VECTOR, weight: -1}]}", "BAD_INPUT"),
    ("fusion: {method: WEIGHTED, weights: [{channel: VECTOR, weight: 1e400}]}", "BAD_INPUT"),
]


async def test_an_argument_outside_its_limit_has_its_code(desk: Desk, subtests: pytest.Subtests) -> None:
    for argument, code in ARGUMENTS:
        with subtests.test(argument):
            assert await desk.refusal(f'{{ search(question: "x", {argument}) {{ hits {{ score }} }} }}') == code


async def test_the_longest_question_is_answered_in_time(desk: Desk) -> None:
    await desk.fill({str(number): " ".join(f"слово{number * 20 + more}" for more in range(20)) for number in range(200)})
    await desk.settle()
    for question in (" ".join(f"слово{number}" for number in range(1_000))[:10_000], "а" * 10_000, "&|!" * 3_333, "a-1 " * 2_500):
        started = time.monotonic()
        await desk.ask(SEARCH, q=question)
        assert time.monotonic() - started < 20, question[:20]


async def test_one_word_of_a_whole_sentence_is_enough_and_two_are_better(desk: Desk) -> None:
    await desk.fill({"one": "пропуск", "two": "гостевой пропуск", "other": "отпуск"})
    await desk.settle()
    assert await desk.find("как мне оформить гостевой пропуск на завтра утром") == ["two", "one"]


SPELLINGS = [
    ("Ёлочная улица", "елочная"),
    ("Елочная улица", "ёлочная"),
    ("чай", unicodedata.normalize("NFD", "чай")),
    (unicodedata.normalize("NFD", "чай"), "чай"),
    ("İstanbul", "istanbul"),
    ("istanbul", "İSTANBUL"),
    ("ISTANBUL", "istanbul"),
    ("см. отчёт-12.docx", "отчет-12.docx"),
    ("код ERR_CONN-42 вышел", "err_conn-42"),
    ("ПРОПУСК", "пропуска"),
    ("Straße", "straße"),
    ("«пропуск»", "пропуск"),
    ("Гостевой\u00a0пропуск", "гостевой"),
]


async def test_spellings_of_one_word_meet(desk: Desk, subtests: pytest.Subtests) -> None:
    for number, (stored, asked) in enumerate(SPELLINGS):
        key, namespace = f"k{number}", f"n{number}"
        await with_namespace(desk, namespace)
        await desk.fill({key: stored, "b": "прочее"}, namespace)
        with subtests.test(asked):
            assert await desk.find(asked, namespaces=[namespace]) == [key]
            query = "query($ns: String!, $key: String!) { source(namespace: $ns, key: $key) { content } }"
            assert (await desk.ask(query, ns=namespace, key=key))["source"]["content"] == stored, "the original keeps its letters"


async def test_a_number_with_a_comma_is_the_number_with_a_point(desk: Desk) -> None:
    await desk.fill({"whole": "тариф 155,34", "left": "тариф 155", "right": "тариф 34"})
    await desk.settle()
    assert (await desk.find("155,34"))[0] == (await desk.find("155.34"))[0] == "whole"


async def test_an_underscore_and_a_percent_sign_stand_for_themselves(desk: Desk) -> None:
    await desk.fill({"exact": "сбой err_conn_42", "like": "сбой errxconnx42", "longer": "сбой my-err_conn_42"})
    await desk.settle()
    assert (await desk.find("err_conn_42"))[0] == "exact"
    assert "like" not in await desk.find("err_conn_42")
    assert await desk.find("err%42") != ["exact"]


async def test_a_word_without_end_is_stored_and_its_document_is_found(desk: Desk) -> None:
    await desk.fill({"long": "ж" * 3_000 + " подвал", "ascii": "a" * 3_000 + " чердак"})
    await desk.settle()
    assert await desk.find("подвал") == ["long"]
    assert await desk.find("чердак") == ["ascii"]
    assert set(await desk.find("ж" * 20, "vector")) == {"long", "ascii"}
