"""Reads a domain pack from YAML or JSON; whatever is wrong is named with its line and its path."""

from __future__ import annotations

import difflib
import heapq
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson
import yaml
from pydantic import ValidationError

from retrieval.domain.pack import SCHEMA_NAME, DomainPack
from retrieval.domain.patterns import check_pattern
from retrieval.errors import BadInput
from retrieval.text import fold, strict
from retrieval.tuning import (
    NAME_LENGTH,
    PACK_BYTES,
    PACK_HINTS_MOST,
    PACK_LEVELS,
    PACK_NAMES_COMPARED,
    PACK_PROBLEMS_SHOWN,
)

Path = tuple[str | int, ...]
_PLAIN = {"": None, "~": None, "null": None, "true": True, "false": False}
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,17}(\.[0-9]{1,17})?([eE][-+]?[0-9]{1,3})?")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong; `line` counts from 1 and is missing when the pack did not come as text."""

    path: str
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = self.path or "the pack"
        return f"{where}: {self.message}" if self.line is None else f"line {self.line}, {where}: {self.message}"


class BadPack(BadInput):
    """A pack that does not follow its schema, or contradicts itself."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        shown = [str(problem) for problem in self.problems[:PACK_PROBLEMS_SHOWN]]
        more = len(self.problems) - len(shown)
        super().__init__("\n".join([*shown, *([f"and {more} more"] if more else [])]))


def read_pack(text: str) -> DomainPack:
    """The pack in a text of YAML or JSON; raises `BadPack` with everything that is wrong."""
    check_size(text)
    value, lines = parsed(text.removeprefix("\ufeff"))
    return pack_of(value, lines)


def check_size(text: str) -> None:
    """Refuse what is too large to be read in a moment."""
    if len(text.encode(errors="replace")) > PACK_BYTES:
        raise BadPack([Problem("", f"it is larger than {PACK_BYTES // 1024} KB; split it into several packs")])


def check_value_size(value: Any) -> None:
    """Refuse a value of JSON whose text is too large."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        raise BadPack([Problem("", f"it is nested too deeply, or holds a number that is too long; see {SCHEMA_NAME}.")]) from None
    check_size(text)


def pack_of(value: Any, lines: Mapping[Path, int] | None = None) -> DomainPack:
    """The pack in a value of JSON; `lines` say where each path stands in the text that it came from, whose size was checked."""
    known = lines or {}
    if lines is None:
        check_value_size(value)
    if not isinstance(value, dict):
        raise BadPack(
            [Problem("", f"it must be an object with `name`, `version` and `types`, see {SCHEMA_NAME}.", known.get(()))]
        )
    try:
        pack = DomainPack.model_validate(value)
    except ValidationError as error:
        raise BadPack(problem(known, *said(one)) for one in error.errors(include_url=False, include_context=False)) from None
    found = [problem(known, path, message) for path, message in (*unfit(value, ()), *contradictions(pack))]
    if found:
        raise BadPack(found)
    return pack


def problem(lines: Mapping[Path, int], path: Path, message: str) -> Problem:
    """A problem at the line of its path, or of the nearest thing around it that has one."""
    at = next((lines[path[:size]] for size in range(len(path), -1, -1) if path[:size] in lines), None)
    return Problem(".".join(str(part)[:100] for part in path), message, at)


def said(error: Any) -> tuple[Path, str]:
    """The path and the sentence of one error of the schema."""
    path = tuple(part for part in error["loc"] if part != "[key]")
    if error["type"] == "missing":
        return path, "it is missing"
    if error["type"] == "extra_forbidden":
        return path, f"there is no such field, see {SCHEMA_NAME}"
    return path, error["msg"].removeprefix("Value error, ")


# ------------------------------------------------------------------------------------------------ what the schema cannot say


def unfit(value: Any, path: Path) -> Iterable[tuple[Path, str]]:
    """Texts that no database takes: with NUL, or with half a character."""
    if isinstance(value, str):
        try:
            strict(value, "it")
        except BadInput as error:
            yield path, error.message
    elif isinstance(value, dict | list):
        for name, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from unfit(name, path)
            yield from unfit(below, (*path, name))


def contradictions(pack: DomainPack) -> Iterable[tuple[Path, str]]:
    """Where a pack contradicts itself: types that it does not declare, patterns that cannot be matched, aliases in a circle."""
    hints: dict[str, str] = {}

    def undeclared(type_: str) -> str:
        if type_ not in hints and len(hints) < PACK_HINTS_MOST:
            hints[type_] = nearest(type_, pack.types)
        return f"the pack declares no type {type_!r}{hints.get(type_, '')}"

    for name, predicate in pack.predicates.items():
        at: Path = ("predicates", name)
        for side in ("subjects", "objects"):
            for number, type_ in enumerate(getattr(predicate, side) or ()):
                if type_ not in pack.types:
                    yield (*at, side, number), undeclared(type_)
        if (predicate.objects is None) == (predicate.value is None):
            yield at, "it needs `objects` (a fact leads to an entity) or `value` (a fact holds a value), and not both"
        if predicate.values is not None and predicate.value is None:
            yield (*at, "values"), "they go with `value`"
    for number, given in enumerate(pack.idPatterns):
        if given.type not in pack.types:
            yield ("idPatterns", number, "type"), undeclared(given.type)
        try:
            check_pattern(given)
        except BadInput as error:
            yield ("idPatterns", number, "pattern"), error.message
    for alias, message in circles(pack.aliases):
        yield ("aliases", alias), message


def circles(aliases: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    """Aliases that lead back to themselves, each circle once, and those that differ in letter case alone."""
    targets: dict[str, str] = {}
    for alias, target in aliases.items():
        if fold(alias) in targets:
            yield alias, "another alias is the same but for the case of its letters"
        targets[fold(alias)] = target
    cleared: set[str] = set()
    for alias in aliases:
        way, at = [alias], fold(alias)
        seen = {at}
        while at in targets and at not in cleared:
            way.append(targets[at])
            at = fold(targets[at])
            if at in seen:
                yield alias, f"aliases go in a circle: {' → '.join(one[:60] for one in way[:8])}"
                break
            seen.add(at)
        cleared |= seen


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint at the name that was probably meant, or at those that there are."""
    names = sorted(known)
    if len(names) > PACK_NAMES_COMPARED:  # comparing a thousand takes 15 ms, choosing among them 2
        here = pairs(name)
        names = sorted(heapq.nlargest(PACK_NAMES_COMPARED, names, key=lambda other: len(here & pairs(other))))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(names[:8])}{' …' if len(names) > 8 else ''}" if names else ""


def pairs(name: str) -> set[str]:
    """Letters of a name, two by two."""
    return {name[at : at + 2] for at in range(min(len(name), NAME_LENGTH) - 1)}


# ------------------------------------------------------------------------------------------------ text


def parsed(text: str) -> tuple[Any, dict[Path, int]]:
    """The value of a text, and the line of each path in it. JSON is read as JSON, anything else as YAML without tags."""
    lines: dict[Path, int] = {}
    try:
        value = orjson.loads(text)
    except ValueError:
        return of_node(composed(text), (), lines), lines
    # Only for the lines: a tab inside a text of JSON is written \t, and YAML has no halves of characters.
    of_node(composed(_HALF.sub("_", text.replace("\t", " "))), (), lines)
    return value, lines


def composed(text: str) -> yaml.Node:
    """The tree of a text; raises `BadPack` with the line."""
    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            refusal = (
                "an anchor of YAML (`*name`) is not taken; write the value out" if isinstance(event, yaml.AliasEvent)
                else "it is nested too deeply" if depth > PACK_LEVELS else None
            )  # fmt: skip
            if refusal is not None:
                raise BadPack([Problem("", refusal, line_of(event.start_mark))])
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        message = getattr(error, "problem", None) or "it holds a character that is not text"
        raise BadPack([Problem("", f"it is no YAML: {message}", line_of(mark))]) from None
    if node is None:
        raise BadPack([Problem("", f"it is empty; see {SCHEMA_NAME}.")])
    return node


def of_node(node: yaml.Node, path: Path, lines: dict[Path, int]) -> Any:
    """The value of a node; keys are texts as they stand, and words such as `on` and `no` are no truth values."""
    lines.setdefault(path, line_of(node.start_mark) or 1)
    if isinstance(node, yaml.MappingNode):
        value: dict[str, Any] = {}
        for key, below in node.value:
            name = str(key.value)
            lines[(*path, name)] = line_of(key.start_mark) or 1
            if not isinstance(key, yaml.ScalarNode) or name in value:
                raise BadPack([problem(lines, (*path, name), "it stands here twice")])
            value[name] = of_node(below, (*path, name), lines)
        return value
    if isinstance(node, yaml.SequenceNode):
        return [of_node(below, (*path, number), lines) for number, below in enumerate(node.value)]
    assert isinstance(node, yaml.ScalarNode)
    return node.value if node.style else plain(node.value)


def line_of(mark: Any) -> int | None:
    """The line of a place in a text, from 1."""
    return None if mark is None else int(mark.line) + 1


def plain(text: str) -> Any:
    """A text without quotation marks, as JSON would have it."""
    if text in _PLAIN:
        return _PLAIN[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text
