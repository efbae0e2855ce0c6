"""Finds identifiers in free text by the patterns of a pack, in time that is linear in the text whatever the pattern is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from string import Formatter
from typing import Any

import re2

from retrieval.domain.pack import IdPattern
from retrieval.errors import BadInput
from retrieval.tuning import PACK_PATTERN_BYTES

LINEAR = "patterns are matched in linear time, so look-around (`(?=`, `(?<!`) and back-references (`\\1`) are not taken"
_NOT_LINEAR = re.compile(r"invalid perl operator|invalid escape sequence: \\\\?[1-9]|invalid named capture")
_GROUP = re.compile(r"[0-9]{1,2}|[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Identifier:
    """What was found: the type and the key of the entity that it stands for."""

    type: str
    key: str


@lru_cache(maxsize=1_000)
def compiled(pattern: str) -> Any:
    """The pattern ready to match; raises `BadInput` that says what is wrong with it."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = PACK_PATTERN_BYTES
    try:
        made = re2.compile(pattern, options=options)
    except re2.error as error:
        said = error.args[0].decode(errors="replace") if isinstance(error.args[0], bytes) else str(error)
        raise BadInput(f"{said}; {LINEAR}" if _NOT_LINEAR.search(said) else said) from None
    if made.search("") is not None:
        raise BadInput("the pattern matches the empty text, so it would find something everywhere")
    return made


def check_pattern(given: IdPattern) -> None:
    """Refuse a pattern that cannot be matched, and a key that names a group which the pattern does not have."""
    made = compiled(given.pattern)
    for name in groups_of(given.key):
        known = int(name) <= made.groups if name.isdigit() else name in made.groupindex
        if not known:
            raise BadInput(f"`key` names the group {{{name}}}, which the pattern does not have")


def groups_of(key: str) -> Iterator[str]:
    """The groups that a key is made of; raises `BadInput` for braces that are no group."""
    try:
        parts = list(Formatter().parse(key))
    except ValueError as error:
        raise BadInput(f"`key` has a brace that stands alone ({error}); write {{{{ or }}}} for a brace") from None
    for _, name, spec, conversion in parts:
        if name is not None:
            if spec or conversion or not _GROUP.fullmatch(name):
                raise BadInput(f"`key` names a group as {{0}}, {{1}} or {{name}}, not {{{name}}}")
            yield name


def identifiers(patterns: tuple[IdPattern, ...], text: str) -> list[Identifier]:
    """What the patterns find in a text, each once: in the order of the patterns, then of the text."""
    found: dict[Identifier, None] = {}
    for given in patterns:
        for match in compiled(given.pattern).finditer(text):
            if match[0]:
                found[Identifier(given.type, filled(given.key, match))] = None
    return list(found)


def filled(key: str, match: Any) -> str:
    """A key with what the groups found; a group that took no part is empty."""
    written = []
    for literal, name, _, _ in Formatter().parse(key):
        written.append(literal)
        if name is not None:
            written.append(match[int(name) if name.isdigit() else name] or "")
    return "".join(written)
