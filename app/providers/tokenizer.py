"""Counts tokens exactly with an encoding of tiktoken, for those who have installed it."""

from __future__ import annotations

import importlib
from typing import Any

from app.config import ESTIMATE, BadConfiguration
from retrieval.ports import Tokenizer


class ExactTokens:
    """Tokens of one encoding; names of special tokens inside a text count as the text that they are."""

    def __init__(self, encoding: Any) -> None:
        self._encoding = encoding

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self._encoding.encode_ordinary(text))


def make_tokenizer(name: str) -> Tokenizer | None:
    """The encoding of that name, or None for an estimate; raises `BadConfiguration` when it cannot be had."""
    if name == ESTIMATE:
        return None
    try:
        tiktoken: Any = importlib.import_module("tiktoken")
    except ImportError:
        raise _mistake(f"{name} needs the package tiktoken; install it, or leave the setting out") from None
    try:
        return ExactTokens(tiktoken.get_encoding(name))
    except ValueError:
        raise _mistake(f"tiktoken has no encoding {name}; it has {', '.join(tiktoken.list_encoding_names())}") from None
    except Exception as error:
        raise _mistake(f"tiktoken could not load {name} ({type(error).__name__}); it fetches an encoding once") from error


def _mistake(sentence: str) -> BadConfiguration:
    return BadConfiguration([f"CB_CONTEXT_TOKENIZER: {sentence}"])
