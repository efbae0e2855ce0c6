"""A chat model's own words are masked for whoever does not hold the right to personal data everywhere that was searched."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from retrieval.administration.grants import grant
from retrieval.administration.namespaces import create_namespace
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.answering import ANSWER, QUESTION, answered, answering_desk, cut
from tests.fixtures.completions import ChatFaults
from tests.fixtures.desk import Desk
from tests.fixtures.openai_server import Faults, OpenAIServer, says
from tests.fixtures.world import tuned
from tests.fixtures.writing import ADMIN, DOCS

SAID = "🦓 Зебра [1]: ИНН 77 07 08 38 93, почта ann@example.com [9], тел. 8 (916) 123-45-67 [2, 9]. [EMAIL] — не ссылка [1]."
MASKED = "🦓 Зебра [1]: ИНН [INN], почта [EMAIL], тел. [PHONE] [2]. [EMAIL] — не ссылка [1]."
CHECKED = "🦓 Зебра [1]: ИНН 77 07 08 38 93, почта ann@example.com, тел. 8 (916) 123-45-67 [2]. [EMAIL] — не ссылка [1]."
FOLLOW = f"""subscription($question: String!) {{ answer(question: $question) {{
    ... on AnswerDelta {{ text }} ... on AnswerDone {{ answer {{ {ANSWER} }} }} }} }}"""


@pytest.fixture
async def desk(base_url: str, server: OpenAIServer) -> AsyncIterator[Desk]:
    """The desk with an empty namespace beside; `ann` may read personal data in all of it, `bob` in one, `eve` nowhere."""
    async with answering_desk(base_url, server) as desk:
        server.mind = says(SAID)
        await create_namespace(desk.store.database, ADMIN, "empty")
        for name, roles in (("ann", ("PERSONAL_DATA",) * 2), ("bob", ("PERSONAL_DATA", "READER")), ("eve", ("ADMIN", "ADMIN"))):
            await upsert_principals(desk.store.database, ADMIN, [PrincipalInput(name, "USER")])
            for namespace, role in zip((DOCS, "empty"), roles, strict=True):
                await grant(desk.store.database, ADMIN, name, namespace, role)
        yield desk


async def followed(desk: Desk, token: str) -> tuple[list[str], dict[str, Any]]:
    """The pieces of an answer, and the whole."""
    headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {token}"}
    body = {"query": FOLLOW, "variables": {"question": QUESTION}}
    response = await desk.client.post("/graphql", json=body, headers=headers)
    events = [json.loads(line[5:])["data"]["answer"] for line in response.text.splitlines() if line.startswith("data: {")]
    return [event["text"] for event in events if "text" in event], events[-1]["answer"]


@pytest.mark.parametrize("is_told", [False, True])
async def test_it_is_masked_for_whoever_may_not_read_them_everywhere(desk: Desk, is_told: bool) -> None:
    desk.store.tuning = tuned(chat_personal_data=is_told)
    for name, namespaces, text in (
        ("eve", None, MASKED),
        ("bob", None, MASKED),
        ("bob", [DOCS], CHECKED),
        ("ann", None, CHECKED),
    ):
        given: dict[str, Any] = {} if namespaces is None else {"namespaces": namespaces}
        answer = (await answered(desk, token=await desk.token(name), **given))["answer"]
        assert (answer["text"], answer["removedCitations"]) == (text, 2), name
        assert [one["marker"] for one in answer["citations"]] == ["[1]", "[2]", "[1]"]
        assert all(cut(text, one["start"], one["end"]) == one["marker"] for one in answer["citations"]), name


async def test_a_number_that_comes_in_pieces_is_in_none_of_them(desk: Desk, server: OpenAIServer) -> None:
    for name, text in (("eve", MASKED), ("ann", CHECKED)):
        for seconds in (0.005, 0.05, 0.5):  # what comes while a machine is busy becomes one piece
            server.faults = Faults(chat=ChatFaults(piece_seconds=seconds))
            pieces, whole = await followed(desk, await desk.token(name))
            if len(pieces) > 3:
                break
        assert len(pieces) > 3
        assert "".join(pieces) == whole["text"] == text
        assert all(cut(text, one["start"], one["end"]) == one["marker"] for one in whole["citations"])
    assert not any(piece in "".join(MASKED) for piece in ("7707", "ann@", "916"))
