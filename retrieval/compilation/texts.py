"""The text of each item of a pack, as it is returned, priced and put into a prompt: everything stored is neutralised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from retrieval.compilation.choosing import Current
from retrieval.ports import Tokenizer
from retrieval.records import Entity, Fact, Fragment
from retrieval.sealing import safe_text
from retrieval.text import blank
from retrieval.untrusted import neutralize, neutralize_line

OPEN_END = "…"
MARK = "…"
_SENSIBLE = re.compile(r"[,}\]\s]")
_BREAK = re.compile(r"\\[nrtbf]")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ItemText:
    """What an item says, and where it stands."""

    title: str
    text: str
    namespace: str | None
    source_path: str | None
    neutralized: bool
    """Whether the text or the title is not as it is stored."""
    label: str | None = None
    """What it is called where its text is not shown; None: by its title."""


def text_of_fragment(fragment: Fragment) -> ItemText:
    """The text of a fragment."""
    title, text, entity = neutralize_line(fragment.title), safe_text(fragment), fragment.entity
    changed = (title, text) != (fragment.title, fragment.text)
    return ItemText(title, text, entity.namespace, path_of(entity), changed)


def text_of_fact(fact: Fact, subject: Entity, object: Entity | None) -> ItemText:
    """`subject predicate object (from – to)`; its title is the predicate, which alone tells nobody what was said of what."""
    parts = _Parts()
    predicate = parts.line(fact.predicate)
    end = parts.value(fact.value) if object is None else parts.line(name_of(object))
    said = f"{parts.line(name_of(subject))} {predicate} {end}"
    text = parts.joined(f"{said} ({instant_text(fact.valid_from)} – {instant_text(fact.valid_to)})")
    return ItemText(predicate, text, fact.namespace, None, parts.changed, neutralize_line(said))


def text_of_entity(entity: Entity, attributes: Mapping[str, Any]) -> ItemText:
    """`[key] (type) title status=…`, and a line for each attribute, by name."""
    parts = _Parts()
    title = parts.line(entity.title)
    head = f"[{parts.line(entity.key)}] ({parts.line(entity.type)}) {title}"
    if entity.status:
        head += f" status={parts.line(entity.status)}"
    lines = [f"{parts.line(name)}: {parts.value(value)}" for name, value in sorted(attributes.items())]
    return ItemText(title, parts.joined("\n".join([head, *lines])), entity.namespace, path_of(entity), parts.changed)


def current_of(state: str, budget: int, tokenizer: Tokenizer) -> Current:
    """The caller's own state as an item that fits into the budget, cut at a sensible place where it must be."""
    text = neutralize(unescaped_safe(state))
    price, neutralized = tokenizer.count(text), text != state
    if price <= budget:
        return Current(text, price, neutralized=neutralized)
    cut = shortened(text, budget, tokenizer)
    return Current(cut, tokenizer.count(cut), is_cut=True, neutralized=neutralized)


def text_of_current(current: Current) -> ItemText:
    """The caller's own state, which is in no namespace."""
    return ItemText("", current.text, None, None, current.neutralized)


def shortened(text: str, budget: int, tokenizer: Tokenizer) -> str:
    """As much of a text as fits: to the last comma, bracket or space of its last half, never inside an escape sequence."""
    most = longest_prefix(text, budget, tokenizer)
    places = [found.end() for found in _SENSIBLE.finditer(text, most // 2, most)]
    end = outside_escapes(text, places[-1] if places else most)
    marked = text[:end] + MARK
    if tokenizer.count(marked) <= budget:
        return marked
    while end and tokenizer.count(text[:end]) > budget:  # a shorter text may take more tokens of an exact tokenizer
        end = outside_escapes(text, end - 1)
    return text[:end]


def longest_prefix(text: str, budget: int, tokenizer: Tokenizer) -> int:
    """How many characters of a text the budget pays for, by halving."""
    fits, too_many = 0, len(text)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if tokenizer.count(text[:middle]) <= budget:
            fits = middle
        else:
            too_many = middle
    return fits


def outside_escapes(text: str, end: int) -> int:
    """The place, or the beginning of the escape sequence of JSON that it would cut."""
    for found in _ESCAPE.finditer(text, 0, min(len(text), end + 6)):
        if found.start() < end < found.end():
            return found.start()
    return end


def name_of(entity: Entity) -> str:
    """What an entity is called in a sentence: its title, or its key where that is blank."""
    return entity.key if blank(entity.title) else entity.title


def path_of(entity: Entity) -> str | None:
    """Where people find an entity."""
    return None if entity.source_path is None else neutralize_line(entity.source_path)


def value_text(value: Any) -> str:
    """A value for people: a text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def unescaped_safe(text: str) -> str:
    r"""JSON that hides nothing in its escapes: `\nsystem` is a word to the rules, and the beginning of a line to a model."""
    if "\\" not in text or neutralize(seen := _BREAK.sub("\n", text)) == seen:
        return text
    return orjson.dumps(safe_strings(orjson.loads(text))).decode()


def safe_strings(value: Any) -> Any:
    """A value of JSON with all of its strings safe."""
    if isinstance(value, str):
        return neutralize(value)
    if isinstance(value, list):
        return [safe_strings(one) for one in value]
    return {neutralize(name): safe_strings(one) for name, one in value.items()} if isinstance(value, dict) else value


def instant_text(instant: datetime | None) -> str:
    """A day where it is midnight UTC, else the instant; an open end is an ellipsis."""
    if instant is None:
        return OPEN_END
    text = instant.astimezone(UTC).isoformat().removesuffix("+00:00")
    return text.removesuffix("T00:00:00") if text.endswith("T00:00:00") else text + "Z"


class _Parts:
    """Makes parts of a text safe, then the text that they make, and remembers whether any of it was not.

    Parts that are safe alone may not be so together: an attribute `system`, a key `/INST` in brackets.
    """

    def __init__(self) -> None:
        self.changed = False

    def line(self, stored: str) -> str:
        return self._noted(neutralize_line(stored), stored)

    def value(self, stored: Any) -> str:
        text = value_text(stored)
        return self._noted(neutralize_line(text if isinstance(stored, str) else unescaped_safe(text)), text)

    def joined(self, parts: str) -> str:
        return self._noted(neutralize(parts), parts)

    def _noted(self, safe: str, before: str) -> str:
        self.changed = self.changed or safe != before
        return safe
