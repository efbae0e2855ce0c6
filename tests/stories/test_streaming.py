"""Answers followed while they are written, over sockets and events: in order, final, under rights, given up at once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from retrieval.administration.grants import grant, revoke
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.answering import ANSWER, QUESTION, TEXTS, answered, answering_desk, cut
from tests.fixtures.completions import ChatFaults
from tests.fixtures.desk import Desk
from tests.fixtures.openai_server import Faults, OpenAIServer, says
from tests.fixtures.patience import SECONDS
from tests.fixtures.world import Recorder, tuned
from tests.fixtures.writing import ADMIN, DOCS

FOLLOW = f"""subscription($question: String!, $namespaces: [String!], $k: Int! = 8, $rerank: Boolean) {{
    answer(question: $question, namespaces: $namespaces, k: $k, rerank: $rerank) {{ __typename
        ... on AnswerFound {{ hits {{ fragment {{ id text }} card {{ key }} }} sources {{ key }} }}
        ... on AnswerDelta {{ text }}
        ... on AnswerDone {{ answer {{ {ANSWER} }} }} }} }}"""
CITED = "🦓 Зебра живёт в саванне [1]. Ещё её ест лев [2, 9]. И `код[7]` [1]. Вот и всё, что известно о зебрах и львах."
SLOWLY = Faults(chat=ChatFaults(piece_seconds=0.05, endless=True))

Events = AsyncIterator[dict[str, Any]]
Follow = Callable[..., Any]


@pytest.fixture
async def desk(base_url: str, server: OpenAIServer) -> AsyncIterator[Desk]:
    async with answering_desk(base_url, server) as desk:
        server.mind = says(CITED)
        yield desk


@asynccontextmanager
async def socket(desk: Desk, token: str | None = None) -> AsyncIterator[ClientConnection]:
    """A greeted socket."""
    url = f"ws://{desk.client.base_url.host}:{desk.client.base_url.port}/graphql"
    async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")]) as connection:
        await connection.send(
            json.dumps({"type": "connection_init", "payload": {"Authorization": f"Bearer {token}"} if token else {}})
        )
        assert json.loads(await connection.recv())["type"] == "connection_ack"
        yield connection


async def over_socket(desk: Desk, token: str | None = None, **variables: Any) -> Events:
    """The payloads of one subscription over a socket of its own."""
    async with socket(desk, token) as connection:
        payload = {"query": FOLLOW, "variables": {"question": QUESTION} | variables}
        await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        while (message := json.loads(await asyncio.wait_for(connection.recv(), 60)))["type"] != "complete":
            assert message["type"] in ("next", "error"), message
            yield message["payload"] if message["type"] == "next" else {"data": None, "errors": message["payload"]}
            if message["type"] == "error":
                return


async def over_events(desk: Desk, token: str | None = None, **variables: Any) -> Events:
    """The payloads of one subscription over server-sent events."""
    headers = {"Accept": "text/event-stream"} | ({"Authorization": f"Bearer {token}"} if token else {})
    request = {"query": FOLLOW, "variables": {"question": QUESTION} | variables}
    name = ""
    async with desk.client.stream("POST", "/graphql", json=request, headers=headers) as response:
        assert response.status_code == 200
        async with aclosing(response.aiter_lines()) as lines:
            async for line in lines:
                if line.startswith("event: "):
                    name = line[7:]
                elif line.startswith("data:") and name == "next":
                    yield json.loads(line[5:])
    assert name == "complete"


TRANSPORTS: dict[str, Follow] = {"socket": over_socket, "events": over_events}


@pytest.fixture(params=TRANSPORTS)
def follow(request: pytest.FixtureRequest) -> Follow:
    return TRANSPORTS[request.param]


def typed(events: list[dict[str, Any]]) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """What was found, the pieces, and the answer, once they are in this order and nothing else is there."""
    assert all("errors" not in event for event in events), events
    found, *pieces, done = [event["data"]["answer"] for event in events]
    assert [found["__typename"], done["__typename"]] == ["AnswerFound", "AnswerDone"]
    assert {piece["__typename"] for piece in pieces} <= {"AnswerDelta"}
    return found, [piece["text"] for piece in pieces], done["answer"]


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.sleep(0.005)


async def no_calls(desk: Desk) -> None:
    """Wait until no room for calls is held, and all connections to the database are back."""
    calls = desk.store.calls
    await until(lambda: not calls._under_way and desk.store.database.in_use() == 0)


async def test_what_is_found_comes_first_then_text_then_the_answer_of_search(
    desk: Desk, server: OpenAIServer, follow: Follow
) -> None:
    for seconds in (0.01, 0.1, 0.5):  # what comes while a machine is busy becomes one piece
        server.faults = Faults(chat=ChatFaults(piece_seconds=seconds))
        found, pieces, answer = typed([event async for event in follow(desk)])
        if len(pieces) > 3:
            break
    assert len(pieces) > 3, "it comes in pieces"
    assert "".join(pieces) == answer["text"]
    assert all(cut(answer["text"], one["start"], one["end"]) == one["marker"] for one in answer["citations"])
    search = await answered(desk)
    assert (answer, found["hits"]) == (search["answer"], search["hits"])
    assert [card["key"] for card in found["sources"]] == [hit["card"]["key"] for hit in search["hits"]]
    await no_calls(desk)


async def test_answers_without_a_model_come_in_the_same_shape(desk: Desk, server: OpenAIServer, follow: Follow) -> None:
    desk.store.chat = None
    found, pieces, answer = typed([event async for event in follow(desk)])
    assert (answer["status"], pieces) == ("ECHO", [answer["text"]])
    desk.store.tuning = tuned()
    nothing = [event async for event in follow(desk, namespaces=[])]
    found, pieces, answer = typed(nothing)
    assert (found["hits"], answer["status"], pieces) == ([], "NOTHING_FOUND", ["В графе знаний нет данных по этому вопросу"])
    assert server.calls == []


async def test_a_model_that_fails_ends_the_stream_with_a_status(desk: Desk, server: OpenAIServer, follow: Follow) -> None:
    for faults, status in ((ChatFaults(cut_after=4), "TRUNCATED"), (ChatFaults(refusal="No."), "REFUSED")):
        server.faults = Faults(chat=faults)
        _, pieces, answer = typed([event async for event in follow(desk)])
        assert (answer["status"], "".join(pieces)) == (status, answer["text"])
        assert pieces
    server.faults = Faults(html=True)
    _, pieces, answer = typed([event async for event in follow(desk)])
    assert (answer["status"], answer["text"], pieces) == ("UNAVAILABLE", "", [])


async def test_bad_input_is_refused_with_its_code(desk: Desk, server: OpenAIServer, follow: Follow) -> None:
    for given, code in (
        ({"question": " "}, "BAD_INPUT"),
        ({"k": 51}, "BAD_INPUT"),
        ({"namespaces": ["closed"]}, "NAMESPACE_NOT_FOUND"),
    ):
        (event,) = [event async for event in follow(desk, **given)]
        assert [error["extensions"]["code"] for error in event["errors"]] == [code]
    assert server.calls == []


async def first_piece(events: Events) -> None:
    """Read up to the first piece of text."""
    async for event in events:
        if event["data"]["answer"]["__typename"] == "AnswerDelta":
            return


async def test_a_client_that_leaves_ends_the_call_at_once(desk: Desk, server: OpenAIServer, follow: Follow) -> None:
    server.faults = SLOWLY
    async with aclosing(follow(desk)) as events:
        await first_piece(events)
    await until(lambda: server.calls[0].progress.left)
    await no_calls(desk)


async def test_a_client_that_completes_ends_the_call_and_keeps_its_socket(desk: Desk, server: OpenAIServer) -> None:
    server.faults = SLOWLY
    async with socket(desk) as connection:
        payload = {"query": FOLLOW, "variables": {"question": QUESTION}}
        await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        while "AnswerDelta" not in str(await connection.recv()):
            pass
        await connection.send(json.dumps({"id": "1", "type": "complete"}))
        await until(lambda: server.calls[0].progress.left)
        await connection.send(json.dumps({"id": "2", "type": "subscribe", "payload": {"query": "{ viewer { principal } }"}}))
        while json.loads(await connection.recv())["id"] != "2":
            pass
    await no_calls(desk)


async def reader(desk: Desk) -> str:
    """A token of Ann, who reads `docs`, personal data and all."""
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("ann", "USER")])
    await grant(desk.store.database, ADMIN, "ann", DOCS)
    await grant(desk.store.database, ADMIN, "ann", DOCS, role="PERSONAL_DATA")
    return await desk.token("ann")


async def close_namespace(desk: Desk, token: str) -> None:
    await close_personal_data(desk, token)
    await revoke(desk.store.database, ADMIN, "ann", DOCS)


async def close_personal_data(desk: Desk, token: str) -> None:
    await revoke(desk.store.database, ADMIN, "ann", DOCS, role="PERSONAL_DATA")


async def revoke_the_token(desk: Desk, token: str) -> None:
    async with desk.store.database.writing() as connection:
        await connection.execute("update token set revoked_at = now()")


async def restrict_a_source(desk: Desk, token: str) -> None:
    await desk.write({"key": "lion.md", "content": TEXTS["lion.md"], "restricted": True})


LOST: dict[str, tuple[Callable[[Desk, str], Awaitable[None]], dict[str, Any], str]] = {
    "the namespace, named": (close_namespace, {"namespaces": [DOCS]}, "NAMESPACE_NOT_FOUND"),
    "the namespace, unnamed": (close_namespace, {}, "FORBIDDEN"),
    "personal data": (close_personal_data, {}, "FORBIDDEN"),
    "the token": (revoke_the_token, {}, "UNAUTHENTICATED"),
    "a source": (restrict_a_source, {}, "FORBIDDEN"),
}


async def keep(events: Events, come: list[dict[str, Any]]) -> None:
    """Keep the events as they come, for who looks meanwhile."""
    async for event in events:
        come.append(event)  # noqa: PERF401 - a comprehension would give them at the end


@pytest.mark.parametrize("what", LOST)
async def test_nothing_comes_after_rights_are_gone(desk: Desk, server: OpenAIServer, what: str) -> None:
    lose, given, code = LOST[what]
    token, after = await reader(desk), list[dict[str, Any]]()
    server.faults = held = Faults(chat=ChatFaults(piece_seconds=0.05, endless=True, held_after=1))
    async with aclosing(over_events(desk, token, **given)) as events:
        await first_piece(events)
        following = asyncio.create_task(keep(events, after))
        await lose(desk, token)
        held.chat.held_after = None
        await following
    (last,) = after
    assert [error["extensions"]["code"] for error in last["errors"]] == [code]
    await until(lambda: server.calls[0].progress.left)
    await no_calls(desk)


async def test_what_is_found_is_not_told_when_rights_are_gone_by_then(desk: Desk, server: OpenAIServer) -> None:
    token = await reader(desk)
    desk.store.rerank_chat, server.faults = desk.store.chat, Faults(hang=True)
    async with aclosing(over_events(desk, token, namespaces=[DOCS], rerank=True)) as events:
        asking = asyncio.ensure_future(anext(events))
        await until(lambda: len(server.calls) == 1)
        await close_namespace(desk, token)
        server.faults = Faults(html=True)
        told = await asking
    assert [error["extensions"]["code"] for error in told["errors"]] == ["NAMESPACE_NOT_FOUND"]
    assert len(server.calls) == 1
    await no_calls(desk)


async def test_other_writes_do_not_end_it(desk: Desk, server: OpenAIServer) -> None:
    token = await reader(desk)
    server.faults = held = Faults(chat=ChatFaults(held_after=1))
    async with aclosing(over_events(desk, token, namespaces=[DOCS])) as events:
        await first_piece(events)
        await desk.write({"key": "lion.md", "content": TEXTS["lion.md"] + " И днём."}, {"key": "new.md", "content": "новое"})
        held.chat.held_after = None
        rest = [event async for event in events]
    assert rest[-1]["data"]["answer"]["answer"]["status"] == "ANSWERED"


async def test_rights_that_changed_are_read_once_and_not_before_each_piece(desk: Desk, server: OpenAIServer) -> None:
    token = await reader(desk)
    for role, seconds in (("WRITER", 0.03), ("ADMIN", 0.5)):  # what comes while a machine is busy becomes one piece
        server.faults = held = Faults(chat=ChatFaults(piece_seconds=seconds, held_after=1))
        async with aclosing(over_events(desk, token, namespaces=[DOCS])) as events:
            await first_piece(events)
            await grant(desk.store.database, ADMIN, "ann", DOCS, role=role)
            desk.store.observer = recorder = Recorder()
            held.chat.held_after = None
            rest = [event async for event in events]
        assert recorder.counted["caller"] == 1
        if len(rest) > 5:
            break
    assert len(rest) > 5


async def test_a_slow_reader_holds_neither_the_model_nor_more_than_the_answer(desk: Desk, server: OpenAIServer) -> None:
    server.mind = says("зебра " * 20_000)
    url = f"ws://{desk.client.base_url.host}:{desk.client.base_url.port}/graphql"
    async with connect(url, subprotocols=[Subprotocol("graphql-transport-ws")], max_queue=1) as connection:
        await connection.send(json.dumps({"type": "connection_init"}))
        payload = {"query": FOLLOW, "variables": {"question": QUESTION}}
        await connection.send(json.dumps({"id": "1", "type": "subscribe", "payload": payload}))
        await until(lambda: bool(server.calls) and (server.calls[0].progress.ended or server.calls[0].progress.left))
        await until(lambda: not desk.store.calls._under_way)
        text, last = "", ""
        while last != "AnswerDone":
            message = json.loads(await connection.recv())
            if message["type"] == "next":
                event = message["payload"]["data"]["answer"]
                last, text = event["__typename"], text + event.get("text", "")
    assert event["answer"]["text"] == text
    assert event["answer"]["status"] == "TRUNCATED"


async def streams(base_url: str, server: OpenAIServer, count: int, words: int) -> None:
    """Many streams at once, each with a text of its own, over both transports; every text comes whole and in order."""

    def mind(messages: list[dict[str, Any]], tools: list[str]) -> dict[str, Any]:
        return {"content": text_of(messages[-1]["content"].rsplit("\n", 1)[-1])}

    def text_of(asked: str) -> str:
        return " ".join(f"{asked}-{number} [1]" for number in range(words))

    async with answering_desk(base_url, server, calls=count) as desk:
        desk.store.tuning = tuned(answer_seconds=100.0)
        server.mind = mind
        server.faults = Faults(hang=True)
        searching, waiting = asyncio.Semaphore(20), set(range(count))
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
        async with httpx.AsyncClient(base_url=desk.client.base_url, timeout=120, limits=limits, verify=False) as client:
            many = Desk(desk.store, client)

            async def one(number: int) -> None:
                follow = over_socket if number % 2 else over_events
                async with aclosing(follow(many, question=f"зебра{number}")) as told:
                    async with searching:
                        events = [await anext(told)]
                    waiting.discard(number)
                    if not waiting:  # all are open, and begin to be written at once
                        server.faults = Faults(chat=ChatFaults(piece_seconds=0.005))
                    events += [event async for event in told]
                _, pieces, answer = typed(events)
                assert "".join(pieces) == answer["text"] == text_of(f"зебра{number}")
                assert len(answer["citations"]) == words

            await asyncio.gather(*(one(number) for number in range(count)))
        await no_calls(desk)


async def test_many_streams_at_once_lose_and_mix_nothing(base_url: str, server: OpenAIServer) -> None:
    await streams(base_url, server, 24, words=20)


@pytest.mark.long
async def test_two_hundred_streams_at_once_lose_and_mix_nothing(base_url: str, server: OpenAIServer) -> None:
    await streams(base_url, server, 200, words=20)
