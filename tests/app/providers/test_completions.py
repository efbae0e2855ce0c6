"""Replies of chat providers are turned into text, or refused whatever is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.providers.completions import MOST_BYTES, MOST_CHARACTERS, StreamedReply, reply_of
from retrieval.errors import ProviderUnavailable
from retrieval.ports import Finish, Reply


def body(message: Any, finish: Any = "stop") -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode()


def event(delta: Any, finish: Any = None) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}).encode() + b"\n\n"


def read(*parts: bytes) -> tuple[str, Finish]:
    reply = StreamedReply()
    text = "".join(piece for part in parts for piece in reply.feed(part))
    return text, reply.end()


def test_a_whole_reply_is_its_text_and_why_it_ended() -> None:
    assert reply_of(body({"content": "да"})) == Reply("да", Finish.STOP)
    assert reply_of(body({"content": "half"}, "length")) == Reply("half", Finish.LENGTH)
    assert reply_of(body({"content": ""}, "length")) == Reply("", Finish.LENGTH)
    assert reply_of(body({"content": None, "refusal": "I will not."})) == Reply("", Finish.REFUSED)
    assert reply_of(body({"content": None}, "content_filter")) == Reply("", Finish.REFUSED)


def test_a_megabyte_is_cut_and_said_to_be() -> None:
    assert reply_of(body({"content": "a" * 1_000_000})) == Reply("a" * MOST_CHARACTERS, Finish.LENGTH)
    reply = StreamedReply()
    pieces = [piece for _ in range(20) for piece in reply.feed(event({"content": "a" * 50_000}))]
    assert ("".join(pieces), reply.end()) == ("a" * MOST_CHARACTERS, Finish.LENGTH)


@pytest.mark.parametrize(
    "given",
    [
        b"", b"<html>Please log in</html>", b'{"choices": [{"message": {"con', b"null", b"[]", b"{}", b"\xff\xfe", b"NaN",
        b'{"choices": []}', b'{"choices": [null]}', b'{"choices": {"0": 1}}', b'{"error": {"message": "down"}}',
        b'{"choices": [{"finish_reason": "stop"}]}', b"[" * 100_000,
        body(None), body([]), body({"content": 5}), body({"content": ["a"]}),
        body({"content": "a"}, None), body({"content": "a"}, 5),
        body({"content": ""}), body({"content": " \n"}), body({"content": None}), body({}),
    ],
)  # fmt: skip
def test_what_is_no_reply_is_refused(given: bytes) -> None:
    with pytest.raises(ProviderUnavailable, match="cannot be used"):
        reply_of(given)


def test_a_character_that_comes_in_halves_is_no_broken_reply() -> None:
    text, finish = read(event({"content": "\ud83e"}), event({"content": "\udd93 да"}), event({}, "stop"))
    assert (text.encode("utf-16-le", "surrogatepass").decode("utf-16-le"), finish) == ("🦓 да", Finish.STOP)
    assert reply_of(body({"content": "\ud83e да"})) == Reply("? да", Finish.STOP)
    with pytest.raises(ProviderUnavailable, match="no JSON"):
        reply_of(b"\\ud83e" + b"[" * 100_000)


def test_an_empty_reason_on_the_way_is_no_end() -> None:
    said = (event({"role": "assistant", "content": ""}, ""), event({"content": "Сорок"}, ""), event({"content": " два"}, "stop"))
    assert read(*said) == ("Сорок два", Finish.STOP)
    with pytest.raises(ProviderUnavailable, match="broke off"):
        read(*said[:2])


def test_a_stream_may_come_in_any_parts() -> None:
    sent = b": note\r\n\r\n" + event({"role": "assistant", "content": ""}) + event({"content": "да, "}).replace(b"\n", b"\r\n")
    sent += b'data:{"choices": []}\n\n' + event({"content": "🙂"}) + event({}, "stop") + b"data: [DONE]\n\n"
    for size in (1, 2, 7, 50, len(sent)):
        assert read(*(sent[start : start + size] for start in range(0, len(sent), size))) == ("да, 🙂", Finish.STOP)


def test_a_stream_says_why_it_ended() -> None:
    assert read(event({"content": "a"}), event({}, "length")) == ("a", Finish.LENGTH)
    assert read(event({"content": "a"}, "stop")) == ("a", Finish.STOP)
    assert read(event({"refusal": "I "}), event({"refusal": "will not."}), event({}, "stop")) == ("", Finish.REFUSED)
    assert read(event({}, "content_filter")) == ("", Finish.REFUSED)


@pytest.mark.parametrize(
    "given",
    [
        b"", b"<html>Please log in</html>", b"data: [DONE]\n\n", event({"content": "a"}),
        event({"content": "a"}) + b"data: [DONE]\n\n",
        event({"content": "a"})[:-20], b"data: {\n\n", b"data: 5\n\n", b'data: {"error": {"message": "down"}}\n\n',
        event([1], "stop"), event({"content": 5}, "stop"), event({}, "stop"), event({"content": " "}, "stop"),
        b'data: {"choices": [5]}\n\n', b"data: " + b"a" * (MOST_BYTES + 1),
    ],
)  # fmt: skip
def test_a_stream_that_breaks_off_or_is_none_is_refused(given: bytes) -> None:
    with pytest.raises(ProviderUnavailable, match="cannot be used"):
        read(given)


def test_nothing_after_the_end_is_text() -> None:
    assert read(event({"content": "a"}, "stop"), event({"content": "b"})) == ("a", Finish.STOP)
