"""Documents as the world has them: each is stored whole, or refused by itself with a code; none stops the others."""

from __future__ import annotations

import json
import random
import string
import sys
import time
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from retrieval.ingest.sync import ingest_folder
from tests.fixtures.desk import INGEST, Desk, with_namespace
from tests.fixtures.writing import ADMIN, DOCS, row_counts, rows, values

CHANCE = random.Random(3)
LINES = (
    b'{"key": "j1", "content": "x"}',
    b"{broken",
    b"",
    b'{"key": "j2", "content": "x\\ud800"}',
    b'{"key": "j3", "content": "x"}',
)
SOURCE = 'query($key: String!) { source(namespace: "docs", key: $key) { key content title fragmentCount } }'


def letters(count: int) -> str:
    """Random letters, which do not compress."""
    return "".join(CHANCE.choices(string.ascii_letters, k=count))


async def outcomes(desk: Desk, *sources: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Outcome and code of each source."""
    return [(result["outcome"], result["code"]) for result in await desk.write(*sources)]


async def test_nul_is_taken_out_or_refused_where_it_may_not_go(desk: Desk) -> None:
    nul = "\x00"
    given = [
        {
            "key": "a",
            "content": f"до{nul}после",
            "title": f"и{nul}мя",
            "meta": {f"t{nul}": f"v{nul}"},
            "attributes": {f"a{nul}": nul},
        },
        {"key": "b", "content": "ок"},
        {"key": f"c{nul}", "content": "ок"},
        {"key": "d", "content": "ок", "relevanceScopes": [f"project:{nul}"]},
        {"key": "e", "content": "ок", "origin": {"author": f"Ан{nul}на"}},
        {"key": "f", "content": nul * 1_000},
    ]
    assert await outcomes(desk, *given) == [
        ("CREATED", None), ("CREATED", None), ("FAILED", "BAD_INPUT"), ("FAILED", "BAD_INPUT"), ("CREATED", None),
        ("FAILED", "BAD_INPUT"),
    ]  # fmt: skip
    assert await rows(desk.store, "select title, meta from entity where key = 'a'") == [("имя", {"t": "v"})]
    assert (await desk.ask(SOURCE, key="a"))["source"]["content"] == "допосле"


@pytest.mark.parametrize("place", ["key", "content", "title", "meta", "namespace"])
async def test_half_a_character_is_refused_at_the_door(desk: Desk, place: str) -> None:
    half = "a\ud800b"
    source: dict[str, Any] = {"key": "a", "content": "x"}
    if place != "namespace":
        source |= {place: {half: half} if place == "meta" else half}
    variables = {"namespace": half if place == "namespace" else DOCS, "sources": [source, {"key": "b", "content": "ок"}]}
    body = json.dumps({"query": INGEST, "variables": variables})
    answer = await desk.client.post("/graphql", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (400, "BAD_INPUT")
    assert not any((await row_counts(desk.store)).values())


async def test_a_document_of_more_words_than_one_index_entry_holds_is_found_by_each(desk: Desk) -> None:
    words = [letters(32).lower() for _ in range(35_000)]
    paragraphs = "\n\n".join(" ".join(words[start : start + 40]) for start in range(0, 23_000, 40))
    await desk.fill({"large": f"{paragraphs} {' '.join(words[23_000:])}"})
    for place in (0, 11_999, 25_000, 34_999):
        assert await desk.find(words[place]) == ["large"]


async def test_a_key_is_any_text_and_comes_back_byte_for_byte(desk: Desk, subtests: pytest.Subtests) -> None:
    keys = [
        "https://kb.example.com/articles/a%2Fb?x=1#y", "a/b", "a%2Fb", "a%2fb", " a b ", "../../x", "/abs", "C:\\x", "..%2fx",
        "чай.md", "ЧАЙ.md", "ключ с пробелами", "%", "_", "a%", "ab", "'; drop table entity; --", "null", "{0}", "$1", "😀",
        "https://kb.example.com/?q=" + letters(1_974), "я" * 2_000, "a" * 2_000,
    ]  # fmt: skip
    opened_files: list[str] = []
    watching = True
    sys.addaudithook(lambda event, given: opened_files.append(str(given[0])) if watching and event == "open" else None)
    await desk.fill({key: f"текст {number}" for number, key in enumerate(keys)})
    for number, key in enumerate(keys):
        with subtests.test(key[:30]):
            found = (await desk.ask(SOURCE, key=key))["source"]
            assert (found["key"], found["content"]) == (key, f"текст {number}")
            assert await desk.find("текст", filter={"keys": [key]}) == [key]
    watching = False
    assert not [name for name in opened_files if name.endswith(("../x", "/abs", "C:\\x", "%2fx", "чай.md", "ЧАЙ.md"))]
    refused = ["k" * 2_001, "https://kb.example.com/?q=" + letters(6_400), "a" * 100_000, "a\x00.md", "", " \t", "\u200b"]
    assert {*await outcomes(desk, *({"key": key, "content": "x"} for key in refused))} == {("FAILED", "BAD_INPUT")}


async def test_two_spellings_of_a_key_are_one_document(desk: Desk) -> None:
    await desk.fill({unicodedata.normalize("NFD", "чай.md"): "зелёный чай"})
    assert (await desk.ask(SOURCE, key="чай.md"))["source"]["content"] == "зелёный чай"
    assert len(await desk.find("чай", filter={"keys": ["чай.md"]})) == 1
    assert await outcomes(desk, {"key": "чай.md", "content": "чёрный чай"}) == [("UPDATED", None)]


async def test_equal_long_texts_are_two_documents(desk: Desk) -> None:
    text = letters(5_000)
    await desk.fill({"a": text, "b": text, "c": letters(5_000)})
    assert await values(desk.store, "select count(*) from source") == [3]
    assert await outcomes(desk, {"key": "a", "content": text}, {"key": "b", "content": letters(5_000)}) == [
        ("UNCHANGED", None), ("UPDATED", None),
    ]  # fmt: skip


async def test_what_a_page_hides_is_not_found_and_a_no_break_space_parts_words(desk: Desk) -> None:
    page = "<style>p{}</style><script>var zebra=1</script><p>Гостевой&nbsp;пропуск&shy;ной &laquo;режим&raquo;</p>"
    await desk.fill({"page": page}, mediaType="text/html")
    await desk.fill({"note": "Гостевой\u00a0пропуск — «лето»"})
    for hidden in ("zebra", "var", "style"):
        assert await desk.find(hidden) == []
    assert sorted(await desk.find("гостевой")) == ["note", "page"]
    for word, key in (("режим", "page"), ("пропускной", "page"), ("пропуск", "note"), ("лето", "note")):
        assert await desk.find(word) == [key], word


async def test_files_of_every_kind_go_in_or_are_named(desk: Desk, tmp_path: Path) -> None:
    text = "# Заголовок\n\nпервый абзац\n\nвторой абзац"
    files = {
        "plain.md": text.encode(),
        "marked.md": b"\xef\xbb\xbf" + text.encode(),
        "windows.md": text.replace("\n", "\r\n").encode(),
        "old-mac.md": text.replace("\n", "\r").encode(),
        "utf-16.md": text.encode("utf-16"),
        "line.txt": ("слово " * 900_000).encode(),
        "empty.md": b"",
        "zeros.md": bytes(5_000_000),
        "picture.md": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10,
        "koi8.md": text.encode("koi8-r"),
        "lines.jsonl": b"\n".join(LINES),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    started = time.monotonic()
    report = await ingest_folder(desk.store.database, desk.store.base, ADMIN, DOCS, tmp_path)
    assert time.monotonic() - started < 90
    stored = set(await values(desk.store, "select key from entity"))
    assert stored == {"plain.md", "marked.md", "windows.md", "old-mac.md", "utf-16.md", "line.txt", "j1", "j3"}
    told = {one.key for one in report.skipped} | {one.key for one in report.failed}
    assert told >= {"empty.md", "zeros.md", "picture.md", "koi8.md"}
    assert len(told) == 6, "and two lines by their numbers"
    assert {number for number in ("2", "4") if any(key.startswith("lines.jsonl") and key.endswith(number) for key in told)} == {
        "2",
        "4",
    }
    same = await rows(
        desk.store,
        """select distinct f.title, string_agg(f.text, '|' order by f.ordinal)
             from fragment f join entity e using (ns, entity_id) where e.key like '%.md' group by e.key, f.title""",
    )
    assert len(same) == 1
    assert same[0][0] == "Заголовок"


async def test_ten_thousand_links_become_ten_thousand_facts_to_come(desk: Desk) -> None:
    started = time.monotonic()
    await desk.fill({"hub.md": "\n".join(f"[страница {number}](p{number}.md)" for number in range(10_000))})
    assert await values(desk.store, "select count(*) from link") == [10_000]
    await desk.fill({f"p{number}.md": "текст" for number in range(0, 10_000, 500)})
    assert await values(desk.store, "select count(*) from fact") == [20]
    assert time.monotonic() - started < 60


async def test_a_deleted_document_leaves_an_empty_base(desk: Desk) -> None:
    state = "{ knowledge { isEmpty pendingEmbeddings namespaces { entityCount fragmentCount factCount } } }"
    before = await desk.ask(state)
    await desk.fill({"a.md": "# Тайна\n\nзебра [b](b.md)", "b.md": "текст"})
    await desk.settle()
    assert (await desk.ask(state))["knowledge"]["isEmpty"] is False
    for key in ("a.md", "b.md"):
        await desk.ask(f'mutation {{ deleteEntity(input: {{namespace: "docs", key: "{key}"}}) {{ deleted }} }}')
    await desk.settle()
    assert await desk.ask(state) == before
    assert before["knowledge"]["isEmpty"] is True
    for among in ("lexical", "vector", "hits"):
        assert await desk.find("зебра", among) == []
    assert not any((await row_counts(desk.store)).values())


async def test_an_instant_is_the_same_whatever_the_clock_of_the_server_says(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "---\ndate: 2026-09-05\n---\nтекст"
    for zone in ("Asia/Tokyo", "UTC", "America/New_York"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        await desk.fill({zone: text}, occurredAt="2026-09-05T00:00:00+03:00")
    monkeypatch.undo()
    time.tzset()
    stored = await rows(desk.store, "select distinct occurred_at at time zone 'UTC', meta from entity")
    assert [(str(at), meta) for at, meta in stored] == [("2026-09-04 21:00:00", {"date": "2026-09-05"})]
    assert await outcomes(desk, {"key": "x", "content": "x", "occurredAt": "2026-09-05T00:00:00"}) == [("FAILED", "BAD_INPUT")]


async def test_equal_keys_of_two_namespaces_live_and_die_apart(desk: Desk) -> None:
    await with_namespace(desk, "other")
    await desk.fill({"note-1": "зебра"})
    await desk.fill({"note-1": "жираф"}, "other")
    await desk.ask('mutation { deleteNamespace(input: {name: "docs", confirm: "docs"}) { deleted } }')
    assert await desk.find("зебра жираф") == ["note-1"]
    assert (await desk.ask('{ source(namespace: "other", key: "note-1") { content } }'))["source"]["content"] == "жираф"
