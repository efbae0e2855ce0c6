"""The database changes, cuts connections, takes no writes or is busy: reads go on or fail clearly, and no restart is needed."""

from __future__ import annotations

import asyncio
import contextlib
import random

import asyncpg
import httpx
import pytest

from retrieval.database import Database
from tests.fixtures.cutting import cut, gone
from tests.fixtures.desk import Desk, desk_at, with_namespace
from tests.fixtures.world import opened
from tests.fixtures.writing import row_counts, values

ASK = """{ search(question: "зебра") { hits { score fragment { text entity { title attributes } } } context }
    entity(namespace: "docs", key: "a") { fragments { totalCount } source { content } provenance { label } }
    knowledge { isEmpty pendingEmbeddings namespaces { entityCount } } viewer { groups } }"""
WRITE = """mutation($key: String!) { ingestSources(input: {namespace: "docs", sources: [{key: $key, content: "зебра"}]}) {
    results { outcome code } } }"""
LEFT_OPEN = """select count(*) from pg_stat_activity
                where datname = current_database() and state like 'idle in transaction%' and pid <> pg_backend_pid()"""
CHANGES = (
    "alter table entity add column extra text",
    "create index extra_index on fragment (ns, title)",
    "reindex table fragment_lexemes",
    "alter table fragment alter column title set statistics 50",
    "alter table entity drop column extra",
    "analyze",
)


async def answered(desk: Desk, query: str = ASK, **variables: object) -> str:
    """`ok`, or the first code of the answer."""
    answer = (await desk.send(query, **variables)).json()
    return str(answer["errors"][0]["extensions"]["code"]) if "errors" in answer else "ok"


async def test_a_migration_under_running_requests_fails_none(desk: Desk) -> None:
    await desk.fill({"a": "зебра"})
    running = True
    seen: list[str] = []

    async def keep_asking(number: int) -> None:
        while running:
            seen.append(await answered(desk))
            seen.append(await answered(desk, WRITE, key=f"k{number}-{len(seen)}"))

    asking = [asyncio.create_task(keep_asking(number)) for number in range(4)]
    direct = await asyncpg.connect(desk.store.database.url)
    async with asyncio.timeout(120):
        for change in CHANGES:
            await direct.execute(change)
            enough = len(seen) + 6
            while len(seen) < enough:
                await asyncio.sleep(0.01)
    running = False
    await asyncio.gather(*asking)
    await direct.close()
    assert set(seen) == {"ok"}
    assert len(seen) > 20


async def test_connections_that_are_cut_ten_times_come_back(desk: Desk) -> None:
    await desk.fill({"a": "зебра"})
    direct = await asyncpg.connect(desk.store.database.url)
    for _ in range(10):
        await asyncio.gather(*(answered(desk) for _ in range(4)))
        processes = await cut(direct)
        async with asyncio.timeout(60):
            while (code := await answered(desk)) != "ok":
                assert code == "DATABASE_UNAVAILABLE"
        await gone(processes)
        assert {await answered(desk) for _ in range(12)} == {"ok"}, "every connection of the pool is good again"
    await direct.close()


async def test_a_database_that_takes_no_writes_is_read_and_written_again_later(desk: Desk) -> None:
    await desk.fill({"a": "зебра"})
    await desk.settle()
    direct = await asyncpg.connect(desk.store.database.url)
    name = await direct.fetchval("select current_database()")
    before = (await desk.ask(ASK))["search"]
    await direct.execute(f'alter database "{name}" set default_transaction_read_only = on')
    await gone(await cut(direct))
    await settled(desk)
    assert (await desk.ask(ASK))["search"] == before
    for mutation in (
        'deleteEntity(input: {namespace: "docs", key: "a"}) { deleted }',
        'createNamespace(input: {name: "new"}) { namespace { name } }',
        'upsertPrincipals(input: {principals: [{name: "x", kind: USER}]}) { results { code } }',
        'grant(input: {principal: "everyone", namespace: "docs"}) { results { code } }',
    ):
        assert "READ_ONLY" in (await desk.send(f"mutation {{ {mutation} }}")).text, mutation
    assert "READ_ONLY" in (await desk.send(WRITE, key="b")).text
    await direct.execute("set default_transaction_read_only = off")
    await direct.execute(f'alter database "{name}" reset default_transaction_read_only')
    await gone(await cut(direct))
    await settled(desk)
    assert (await desk.ask(WRITE, key="b"))["ingestSources"]["results"] == [{"outcome": "CREATED", "code": None}]
    await direct.close()


async def settled(desk: Desk) -> None:
    """Wait until every connection of the pool is a fresh one."""
    async with asyncio.timeout(60):
        while {await answered(desk) for _ in range(12)} != {"ok"}:
            await asyncio.sleep(0.05)


async def test_two_hundred_requests_over_three_connections_all_end(base_url: str) -> None:
    async with desk_at(base_url, size=3) as desk:
        await with_namespace(desk)
        await desk.fill({"a": "зебра"})
        asked = [answered(desk, WRITE, key=f"k{number}") if number % 5 == 0 else answered(desk) for number in range(200)]
        random.Random(1).shuffle(asked)
        codes = await asyncio.wait_for(asyncio.gather(*asked), 60)
        assert set(codes) <= {"ok", "OVERLOADED"}
        assert codes.count("ok") >= 100
        assert await answered(desk) == "ok"
        async with asyncio.timeout(60), desk.store.database.reading() as connection:
            while await connection.fetchval(LEFT_OPEN):
                await asyncio.sleep(0.05)


async def test_no_statement_is_kept_where_a_pooler_would_lose_it(base_url: str) -> None:
    async with desk_at(base_url) as desk:
        await with_namespace(desk)
        await desk.fill({"a": "зебра"})
        kept = await desk.ask(ASK)
        database = desk.store.database
        desk.store.database = await Database.open(base_url, size=2, statement_cache=0)
        try:
            assert await desk.ask(ASK) == kept
            assert await answered(desk, WRITE, key="b") == "ok"
            assert await values(desk.store, "select count(*) from pg_prepared_statements") <= [1]
        finally:
            await desk.store.database.close()
            desk.store.database = database


async def test_two_processes_that_store_the_same_batch_store_it_once(base_url: str) -> None:
    sources = [{"key": f"k{number}", "content": f"зебра {number} [дальше](k{number + 1})"} for number in range(15)]
    async with desk_at(base_url) as desk, opened(base_url) as second:
        await with_namespace(desk)
        async with desk_at(base_url) as other:
            results = await asyncio.gather(*(one.write(*sources) for one in (desk, other, desk, other)))
        outcomes = [[result["outcome"] for result in found] for found in results]
        assert {outcome for found in outcomes for outcome in found} == {"CREATED", "UNCHANGED"}
        assert [sorted(found)[0] for found in zip(*outcomes, strict=True)] == ["CREATED"] * 15
        assert sum(found.count("CREATED") for found in outcomes) == 15
        counts = await row_counts(second)
        assert (counts["source"], counts["fragment"], counts["fact"]) == (15, 15, 14)


async def test_a_client_that_gives_up_and_sends_again_stores_one_version(desk: Desk) -> None:
    text = "\n\n".join(f"# Раздел {number}\n\nзебра {number}" for number in range(3_000))
    body = {
        "query": WRITE.replace('content: "зебра"', "content: $text").replace("$key: String!", "$key: String!, $text: String!")
    }
    body = body | {"variables": {"key": "long", "text": text}}  # type: ignore[dict-item]
    for _ in range(3):
        with contextlib.suppress(httpx.TimeoutException):
            await desk.client.post("/graphql", json=body, timeout=0.3)
    answer = (await desk.client.post("/graphql", json=body)).json()
    assert answer["data"]["ingestSources"]["results"][0]["outcome"] in {"CREATED", "UNCHANGED"}
    assert (await row_counts(desk.store))["fragment"] == 3_000
    assert (await desk.client.post("/graphql", json=body)).json()["data"]["ingestSources"]["results"][0]["outcome"] == "UNCHANGED"


async def test_a_failure_names_no_table_host_or_word_of_the_request(desk: Desk, capfd: pytest.CaptureFixture[str]) -> None:
    await desk.fill({"a": "зебра"})
    async with desk.store.database.writing() as connection:
        await connection.execute("alter table fragment_lexemes rename to elsewhere")
    answer = await desk.send("query($q: String!) { search(question: $q) { lexical { score } question } }", q="жирафы-4711")
    assert answer.json()["data"]["search"] == {"lexical": None, "question": "жирафы-4711"}
    (error,) = answer.json()["errors"]
    assert (error["extensions"]["code"], error["extensions"]["id"] in error["message"]) == ("INTERNAL", True)
    assert not any(word in error["message"] for word in ("lexemes", "postgres", "select", "жирафы"))
    written = "".join(capfd.readouterr())
    assert "жирафы" not in written
    assert "зебра" not in written
