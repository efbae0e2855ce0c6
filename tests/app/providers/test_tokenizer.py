"""Tokens are estimated unless an encoding is named, and one that cannot be had is refused by name before anything starts."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from app.config import BadConfiguration
from app.providers.tokenizer import make_tokenizer


class Encoding:
    """A stand-in for an encoding: a token for each word."""

    def encode_ordinary(self, text: str) -> list[int]:
        return list(range(len(text.split())))


def stand_in(*, offline: bool = False) -> ModuleType:
    """A package with the two functions of tiktoken that are used."""

    def get_encoding(name: str) -> Encoding:
        if offline:
            raise ConnectionError
        if name != "words":
            raise ValueError(name)
        return Encoding()

    module = ModuleType("tiktoken")
    vars(module).update(get_encoding=get_encoding, list_encoding_names=lambda: ["words"])
    return module


def refused(name: str) -> str:
    with pytest.raises(BadConfiguration) as error:
        make_tokenizer(name)
    (line,) = error.value.mistakes
    assert line.startswith("CB_CONTEXT_TOKENIZER: ")
    return line


def test_an_estimate_needs_no_package() -> None:
    assert make_tokenizer("estimate") is None


def test_an_encoding_counts_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", stand_in())
    tokenizer = make_tokenizer("words")
    assert tokenizer is not None
    assert (tokenizer.count(""), tokenizer.count("two words")) == (0, 2)


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert "needs the package tiktoken" in refused("o200k_base")


def test_an_encoding_that_does_not_exist_is_refused_with_those_that_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", stand_in())
    assert refused("letters").endswith("tiktoken has no encoding letters; it has words")


def test_an_encoding_that_cannot_be_fetched_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", stand_in(offline=True))
    assert "could not load words (ConnectionError)" in refused("words")
