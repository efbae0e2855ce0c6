"""Calls to chat models are bounded in all and of one caller."""

from __future__ import annotations

import contextlib

import pytest

from retrieval.calls import Calls
from retrieval.errors import Overloaded


def test_one_caller_does_not_take_all_room() -> None:
    calls = Calls(most=3, most_of_one=2)
    with contextlib.ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(calls.of("ann"))
        with pytest.raises(Overloaded, match="You have 2 calls"), calls.of("ann"):
            pass
        with calls.of("bob"), pytest.raises(Overloaded, match="All calls"), calls.of("eve"):
            pass
        stack.enter_context(calls.of("eve"))


def test_room_is_given_back_however_a_call_ends() -> None:
    calls = Calls(most=1, most_of_one=1)
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"), calls.of("ann"):
            raise ValueError("broken")
    with calls.of("ann"), pytest.raises(Overloaded), calls.of("ann"):
        pass
    with calls.of("bob"):
        pass
