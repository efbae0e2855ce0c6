"""The stand-in for providers speaks the protocol that the server's own clients speak, says what it is told, and hangs."""

from __future__ import annotations

import asyncio

import pytest

from app.bench.stand_in import standing_in
from app.bench.streams import PIECES, number_of, piece, said_in_turn, text_of
from app.providers.chat import OpenAIChat
from app.providers.openai import OpenAIEmbedder
from retrieval.errors import ProviderUnavailable
from retrieval.ports import Finish, Message


async def heard(chat: OpenAIChat, question: str) -> list[str | Finish]:
    """All that a chat says."""
    return [part async for part in chat.stream([Message("user", question)], temperature=0.0, seconds=60)]


async def test_chats_get_the_pieces_that_are_said_to_them_in_order() -> None:
    async with standing_in() as stand_in:
        chat = OpenAIChat(model="m", base_url=f"{stand_in.address}/answers/v1")
        listening = [asyncio.create_task(heard(chat, f"which stream {number}")) for number in (7, 31)]
        chats = [await stand_in.chats.get() for _ in listening]
        assert {number_of(one) for one in chats} == {7, 31}
        await said_in_turn(chats)
        for number, task in zip((7, 31), listening, strict=True):
            *pieces, finish = await task
            assert finish is Finish.STOP
            assert pieces == [piece(number, place) for place in range(PIECES)]
            assert "".join(map(str, pieces)) == text_of(number)
        await chat.close()


async def test_a_chat_that_its_client_leaves_is_known_to_be_left() -> None:
    async with standing_in() as stand_in:
        chat = OpenAIChat(model="m", base_url=f"{stand_in.address}/answers/v1")
        listening = asyncio.create_task(heard(chat, "nobody answers"))
        one = await stand_in.chats.get()
        assert not one.left.is_set()
        listening.cancel()
        await asyncio.wait_for(one.left.wait(), 60)
        await chat.close()


async def test_embeddings_come_for_each_text_and_hang_below_a_path_that_hangs() -> None:
    async with standing_in() as stand_in:
        hurried, patient = (
            OpenAIEmbedder(model="m", dimensions=384, base_url=f"{stand_in.address}/one/v1", timeout=seconds)
            for seconds in (2, 60)
        )
        assert (await patient.embed_questions(["a", "b"])).shape == (2, 384)
        stand_in.hanging = {"one"}
        with pytest.raises(ProviderUnavailable, match="did not answer"):
            await hurried.embed_questions(["c"])
        stand_in.hanging = {"two"}
        assert (await patient.embed_questions(["d"])).shape == (1, 384)
        assert stand_in.embeddings == {"one": 3}
        await hurried.close()
        await patient.close()
