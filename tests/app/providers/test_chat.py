"""Chats over OpenAI's protocol: what is sent, what is repeated, how each fault ends, and that leaving ends the call."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from app.config import Settings
from app.providers.breaker import FAILURES
from app.providers.chat import OpenAIChat
from app.providers.completions import MOST_CHARACTERS
from app.providers.factory import make_chat
from retrieval.errors import ContextQLError, DeadlineExceeded, ProviderUnavailable
from retrieval.ports import Finish, Message, Reply
from tests.fixtures.completions import ChatFaults
from tests.fixtures.openai_server import Faults, OpenAIServer, says

ASKED = [Message("system", "Answer."), Message("user", "Сколько? 🙂")]
TEXT = "Сорок два, как сказано [1]. 🙂"
GROWING = (0.3, 2.0, 20.0)
"""Seconds for a call that is given up: on a busy machine the first may be over before the call reaches the provider."""


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    running = OpenAIServer()
    yield running
    running.close()


@pytest.fixture
async def chat(server: OpenAIServer) -> AsyncIterator[OpenAIChat]:
    server.reset()
    server.mind = says(TEXT)
    made = OpenAIChat(model="m", base_url=server.url)
    yield made
    server.reset()
    await made.close()


async def whole(chat: OpenAIChat, seconds: float = 60.0) -> tuple[str, Finish]:
    """The text and the end of a whole reply."""
    reply = await chat.complete(ASKED, temperature=0.1, seconds=seconds)
    return reply.text, reply.finish


async def streamed(chat: OpenAIChat, seconds: float = 60.0) -> tuple[str, Finish]:
    """The same of a stream."""
    *pieces, finish = [piece async for piece in chat.stream(ASKED, temperature=0.1, seconds=seconds)]
    assert isinstance(finish, Finish)
    return "".join(map(str, pieces)), finish


async def listen(chat: OpenAIChat, seconds: float, came: list[str | Finish], pause: float = 0.0) -> None:
    """Put what comes where it stays when no more does, and take a pause after each piece."""
    async for piece in chat.stream(ASKED, temperature=0, seconds=seconds):
        came.append(piece)
        await asyncio.sleep(pause)


ask = pytest.mark.parametrize("ask", [whole, streamed])
Ask = Callable[..., Any]


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread does."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)


@ask
async def test_a_reply_comes_as_it_was_said(chat: OpenAIChat, server: OpenAIServer, ask: Ask) -> None:
    assert await ask(chat) == (TEXT, Finish.STOP)
    (call,) = server.calls
    assert call.body["messages"] == [{"role": one.role, "content": one.content} for one in ASKED]
    assert (call.body["model"], call.body["temperature"], call.body.get("stream", False)) == ("m", 0.1, ask is streamed)
    await until(lambda: call.progress.ended)
    assert not call.progress.left


async def test_pieces_come_before_the_end(chat: OpenAIChat, server: OpenAIServer) -> None:
    server.faults.chat = ChatFaults(pause_after=1)
    async with contextlib.aclosing(chat.stream(ASKED, temperature=0, seconds=5)) as pieces:
        assert await anext(pieces) == TEXT[:7]


async def test_json_is_asked_for_and_half_a_character_is_replaced(chat: OpenAIChat, server: OpenAIServer) -> None:
    await chat.complete([Message("user", "JSON\ud800")], temperature=0, seconds=5, json=True)
    assert server.calls[0].body["response_format"] == {"type": "json_object"}
    assert server.calls[0].body["messages"][0]["content"] == "JSON?"


@ask
async def test_a_parameter_that_the_model_does_not_take_is_left_out_from_then_on(
    chat: OpenAIChat, server: OpenAIServer, ask: Ask
) -> None:
    server.faults.not_taken = "temperature"
    for _ in range(2):
        assert await ask(chat) == (TEXT, Finish.STOP)
    assert ["temperature" in call.body for call in server.calls] == [True, False, False]


@ask
@pytest.mark.parametrize(
    ("faults", "text", "finish"),
    [
        (Faults(chat=ChatFaults(finish="length")), TEXT, Finish.LENGTH),
        (Faults(chat=ChatFaults(finish="content_filter")), TEXT, Finish.REFUSED),
        (Faults(chat=ChatFaults(refusal="I will not.")), TEXT, Finish.REFUSED),
        (Faults(filtered=True), "", Finish.REFUSED),
    ],
    ids=["length", "content filter", "refusal", "filter before the model"],
)
async def test_a_reply_says_how_it_ended(
    chat: OpenAIChat, server: OpenAIServer, ask: Ask, faults: Faults, text: str, finish: Finish
) -> None:
    server.faults = faults
    assert await ask(chat) == (text, finish)


@ask
async def test_a_megabyte_is_cut(chat: OpenAIChat, server: OpenAIServer, ask: Ask) -> None:
    server.mind = says("a" * 1_000_000)
    assert await ask(chat) == ("a" * MOST_CHARACTERS, Finish.LENGTH)


async def test_a_stream_without_an_end_is_cut_and_left(chat: OpenAIChat, server: OpenAIServer) -> None:
    server.mind = says("a" * 7_000)
    server.faults.chat = ChatFaults(endless=True)
    assert await streamed(chat, 30) == ("a" * MOST_CHARACTERS, Finish.LENGTH)
    await until(lambda: server.calls[0].progress.left)


USELESS = {
    "html": Faults(html=True),
    "half a JSON": Faults(body=b'{"choices": [{"mess'),
    "an error inside": Faults(body=b'data: {"error": {"message": "down"}}\n\n'),
    "cut": Faults(chat=ChatFaults(cut_after=2)),
    "no end": Faults(chat=ChatFaults(finish=None)),
}


@ask
@pytest.mark.parametrize("fault", USELESS)
async def test_a_reply_that_cannot_be_used_is_refused_and_not_paid_for_twice(
    chat: OpenAIChat, server: OpenAIServer, ask: Ask, fault: str
) -> None:
    server.faults = USELESS[fault]
    with pytest.raises(ProviderUnavailable, match="cannot be used"):
        await ask(chat)
    assert len(server.calls) == 1


async def test_a_whole_reply_without_an_end_is_left(chat: OpenAIChat, server: OpenAIServer) -> None:
    server.faults.chat = ChatFaults(endless=True)
    with pytest.raises(ProviderUnavailable, match="bytes"):
        await whole(chat, 30)
    await until(lambda: server.calls[0].progress.left)


async def test_a_broken_event_ends_a_stream(chat: OpenAIChat, server: OpenAIServer) -> None:
    server.faults.chat = ChatFaults(event=b'{"choices": [{"delta"')
    with pytest.raises(ProviderUnavailable, match="no JSON"):
        await streamed(chat)


@ask
async def test_an_empty_reply_is_refused_and_does_not_take_the_provider_from_others(
    chat: OpenAIChat, server: OpenAIServer, ask: Ask
) -> None:
    server.mind = says(" \n")
    for _ in range(FAILURES + 1):
        with pytest.raises(ProviderUnavailable, match="empty"):
            await ask(chat)
    server.mind = says(TEXT)
    assert await ask(chat) == (TEXT, Finish.STOP)


@ask
async def test_a_hanging_provider_is_given_up_in_time_and_its_connection_closed(
    chat: OpenAIChat, server: OpenAIServer, ask: Ask
) -> None:
    server.faults = Faults(hang=True)
    for seconds in GROWING:
        begun = time.monotonic()
        with pytest.raises(DeadlineExceeded, match=f"within {seconds:g} s"):
            await ask(chat, seconds)
        assert 0.9 * seconds <= time.monotonic() - begun < seconds + 30
        if server.calls:
            break
    await until(lambda: server.calls[0].progress.left)


async def test_a_stream_that_stops_in_the_middle_gives_what_came(chat: OpenAIChat, server: OpenAIServer) -> None:
    server.faults.chat = ChatFaults(pause_after=2)
    for seconds in GROWING:
        came: list[str | Finish] = []
        with pytest.raises(DeadlineExceeded):
            await listen(chat, seconds, came)
        if len(came) == 2:
            break
    assert came == [TEXT[:7], TEXT[7:14]]
    await until(lambda: server.calls[-1].progress.left)


async def test_a_stream_that_drips_ends_with_its_time(chat: OpenAIChat, server: OpenAIServer) -> None:
    server.faults.chat = ChatFaults(endless=True, piece_seconds=0.1)
    for seconds in GROWING:
        taken, most = 0, 100 * seconds  # ten a second come, and more at once to whoever was held up
        async with contextlib.aclosing(chat.stream(ASKED, temperature=0, seconds=seconds)) as pieces:
            with contextlib.suppress(DeadlineExceeded):
                while taken < most:
                    await anext(pieces)
                    taken += 1
        assert taken < most
        if taken:
            break
    assert taken >= 1


async def test_who_takes_the_pieces_slowly_is_no_failure_of_the_provider(chat: OpenAIChat, server: OpenAIServer) -> None:
    for seconds in GROWING:
        taken: list[str | Finish] = []
        with contextlib.suppress(DeadlineExceeded):
            await listen(chat, seconds, taken, pause=0.3 * seconds)
        if len(taken) == 6:
            break
    assert taken[-1] is Finish.STOP
    assert len(taken) == 6


@ask
async def test_a_rate_limit_is_waited_for_as_long_as_it_says(chat: OpenAIChat, server: OpenAIServer, ask: Ask) -> None:
    server.faults = Faults(status=429, headers={"retry-after-ms": "80"}, first=2)
    assert await ask(chat) == (TEXT, Finish.STOP)
    first, second, third = (call.at for call in server.calls)
    assert second - first >= 0.08
    assert third - second >= 0.08


@ask
async def test_a_rate_limit_without_a_hint_or_with_a_long_one_does_not_outlast_the_call(
    chat: OpenAIChat, server: OpenAIServer, ask: Ask
) -> None:
    server.faults = Faults(status=429)
    with pytest.raises(ProviderUnavailable, match="429"):
        await ask(chat, 1.5)  # half a second goes by before the second, and more than what is left then before a third
    assert len(server.calls) == 2
    server.faults = Faults(status=429, headers={"retry-after": "20"})
    with pytest.raises(ProviderUnavailable, match="429"):
        await ask(chat, 10)
    assert len(server.calls) == 3


@ask
async def test_a_server_error_is_tried_again_a_bounded_number_of_times(chat: OpenAIChat, server: OpenAIServer, ask: Ask) -> None:
    server.faults = Faults(status=500, headers={"retry-after-ms": "1"})
    with pytest.raises(ProviderUnavailable, match="500"):
        await ask(chat)
    assert len(server.calls) == 3
    server.faults = Faults(status=503, headers={"retry-after-ms": "1"}, first=5)
    assert await ask(chat) == (TEXT, Finish.STOP)


@pytest.mark.parametrize(("status", "hint"), [(401, "CB_OPENAI_API_KEY"), (404, "CB_LLM_MODEL"), (400, "CB_LLM_MODEL")])
async def test_a_refusal_for_good_is_not_repeated_and_quotes_nothing(
    chat: OpenAIChat, server: OpenAIServer, status: int, hint: str
) -> None:
    server.faults = Faults(status=status)
    with pytest.raises(ProviderUnavailable, match=hint) as caught:
        await whole(chat)
    assert len(server.calls) == 1
    assert caught.value.__cause__ is None, "the cause holds the body of the refusal, which may hold the prompt"
    assert "as the test asked" not in caught.value.message


@ask
async def test_a_provider_that_cannot_be_reached_is_one_clear_line(ask: Ask) -> None:
    chat = OpenAIChat(model="m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ProviderUnavailable, match="cannot be reached"):
        await ask(chat, 0.45)  # too short a time for another try
    await chat.close()


BROKEN = {
    "refuses": Faults(status=500, headers={"retry-after": "100"}),
    "hangs": Faults(hang=True),
    "stops": Faults(chat=ChatFaults(pause_after=1)),
    "cuts": Faults(chat=ChatFaults(cut_after=1)),
}
UNHURRIED = ("refuses", "cuts")
"""Faults that show by themselves; the others are given up after a while, which may be before the call reaches the provider."""


@pytest.mark.parametrize("fault", BROKEN)
async def test_after_five_failures_every_call_is_refused_at_once(chat: OpenAIChat, server: OpenAIServer, fault: str) -> None:
    server.faults = BROKEN[fault]
    for _ in range(5):
        with pytest.raises(ContextQLError):
            await streamed(chat, 30 if fault in UNHURRIED else 0.1)
    server.faults = Faults(hang=True)
    begun = time.monotonic()
    for ask in (whole, streamed):
        with pytest.raises(ProviderUnavailable, match="left alone"):
            await ask(chat, 60)
    assert time.monotonic() - begun < 30
    assert len(server.calls) == 5 if fault in UNHURRIED else len(server.calls) <= 5


async def test_leaving_a_stream_ends_the_call(chat: OpenAIChat, server: OpenAIServer) -> None:
    server.faults.chat = ChatFaults(endless=True, piece_seconds=0.01)
    async with contextlib.aclosing(chat.stream(ASKED, temperature=0, seconds=60)) as pieces:
        for _ in range(3):
            await anext(pieces)
    await until(lambda: server.calls[0].progress.left)
    sent = server.calls[0].progress.pieces
    await asyncio.sleep(0.1)
    assert server.calls[0].progress.pieces == sent


@ask
async def test_cancelling_ends_the_call_and_is_no_failure(chat: OpenAIChat, server: OpenAIServer, ask: Ask) -> None:
    server.faults = Faults(hang=True)
    for number in range(FAILURES + 1):
        task = asyncio.create_task(ask(chat, 60))
        await until(lambda number=number: len(server.calls) > number)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda number=number: server.calls[number].progress.left)
    server.faults = Faults()
    assert await ask(chat) == (TEXT, Finish.STOP)


@ask
async def test_a_connection_is_used_again(chat: OpenAIChat, server: OpenAIServer, ask: Ask) -> None:
    for _ in range(3):
        await ask(chat)
    assert len({call.port for call in server.calls}) == 1


async def test_no_line_of_the_log_holds_a_prompt_or_an_answer(
    chat: OpenAIChat, server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for ask in (whole, streamed):
        await ask(chat)
        server.faults.status = 400
        with pytest.raises(ProviderUnavailable):
            await ask(chat)
        server.faults.status = None
    assert caplog.records, "the level is not low enough to show anything"
    assert not [line for line in caplog.messages if "Сколько" in line or "Answer." in line or "Сорок" in line]


async def test_the_settings_name_the_model_and_echo_is_none(server: OpenAIServer) -> None:
    server.reset()
    server.mind = says(TEXT)
    assert make_chat(Settings(llm_provider="echo")) is None
    made = make_chat(
        Settings(llm_provider="openai", llm_model="large", openai_base_url=server.url, openai_api_key="sk-test")  # type: ignore[arg-type]
    )
    assert made is not None
    assert made.model == "large"
    assert await made.complete(ASKED, temperature=0, seconds=5) == Reply(TEXT, Finish.STOP)
    assert server.calls[0].body["model"] == "large"
    assert server.calls[0].headers["authorization"] == "Bearer sk-test"
    await made.close()
