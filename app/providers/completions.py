"""What a chat provider answered, whole or as a stream of events, turned into text or refused."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

import orjson

from app.providers.failures import Failed, Refused
from retrieval.ports import Finish, Reply

MOST_CHARACTERS = 100_000
MOST_BYTES = 4 * 1024 * 1024  # of a whole reply, or of one event
UNUSABLE = "The chat provider gave a reply that cannot be used"


def reply_of(body: bytes) -> Reply:
    """The reply in the body of a whole completion; raises `ProviderUnavailable` for what is none, and for an empty one."""
    choice = _choice(body)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Failed(f"{UNUSABLE}: no message.")
    finish = _finish(choice, message)
    text = _text(message).encode("utf-8", "replace").decode()
    if finish is None:
        raise Failed(f"{UNUSABLE}: it has no end.")
    if not text.strip() and finish is Finish.STOP:
        raise _empty()
    if len(text) > MOST_CHARACTERS:
        return Reply(text[:MOST_CHARACTERS], Finish.LENGTH)
    return Reply(text, finish)


class StreamedReply:
    """Reads the events of a streamed completion; `finish` is there once the reply said why it ends, or was too long."""

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self._rest = b""
        self._characters = 0
        self._blank = True
        self._refused = False

    def feed(self, part: bytes) -> Iterator[str]:
        """The pieces of text in the bytes that came; raises `ProviderUnavailable` for what is no event of a completion."""
        *lines, self._rest = (self._rest + part).split(b"\n")
        if len(self._rest) > MOST_BYTES:
            raise Failed(f"{UNUSABLE}: an event of more than {MOST_BYTES} bytes.")
        for line in lines:
            data = line.removeprefix(b"data:").strip()
            if line.startswith(b"data:") and data != b"[DONE]" and self.finish is None:
                yield from self._event(data)

    def end(self) -> Finish:
        """Why it ended; raises `ProviderUnavailable` when it broke off, or gave no text."""
        if self.finish is None:
            raise Failed(f"{UNUSABLE}: it broke off." if self._characters else f"{UNUSABLE}: no text and no end.")
        if self._blank and self.finish is Finish.STOP:
            raise _empty()
        return self.finish

    def _event(self, data: bytes) -> Iterator[str]:
        choice = _choice(data, may_be_none=True)
        delta = choice.get("delta") or {}
        if not isinstance(delta, dict):
            raise Failed(f"{UNUSABLE}: a piece without text.")
        piece = _text(delta)[: MOST_CHARACTERS - self._characters]
        self._characters += len(piece)
        self._blank = self._blank and not piece.strip()
        self._refused = self._refused or bool(delta.get("refusal"))
        # Some servers send an empty reason with each piece.
        self.finish = _finish(choice, delta) if choice.get("finish_reason") != "" else None
        if self.finish is not None and self._refused:
            self.finish = Finish.REFUSED
        elif self._characters >= MOST_CHARACTERS:
            self.finish = Finish.LENGTH
        if piece:
            yield piece


def _choice(data: bytes, *, may_be_none: bool = False) -> dict[str, Any]:
    """The first choice; events that only count tokens have none."""
    body = _json(data)
    if not isinstance(body, dict) or body.get("error"):
        raise Failed(f"{UNUSABLE}: an error in place of a completion.")
    choices = body.get("choices")
    if may_be_none and not choices:
        return {}
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Failed(f"{UNUSABLE}: no completion.")
    return choices[0]


def _json(data: bytes) -> Any:
    """What the bytes hold; a half of a character is none for orjson, and comes from servers that cut texts by UTF-16 units."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        if b"\\ud" in data.lower():
            with contextlib.suppress(ValueError, RecursionError):
                return json.loads(data)
        raise Failed(f"{UNUSABLE}: it is no JSON.") from error


def _text(message: dict[str, Any]) -> str:
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise Failed(f"{UNUSABLE}: its text is none.")
    return text or ""


def _finish(choice: dict[str, Any], message: dict[str, Any]) -> Finish | None:
    reason = choice.get("finish_reason")
    if reason == "content_filter" or (reason and message.get("refusal")):
        return Finish.REFUSED
    if reason == "length":
        return Finish.LENGTH
    return Finish.STOP if isinstance(reason, str) else None


def _empty() -> Refused:
    """Counted as no failure of the provider: a question may provoke it, and must not take the provider from others."""
    return Refused(f"{UNUSABLE}: it is empty.")
