"""Says in plain Python how the items of a pack read and what they cost; shares no code with the product."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.contract import lists
from tests.contract.oracle import View, public_id
from tests.fixtures.company import Entity, Fact, Fragment

if TYPE_CHECKING:
    from tests.contract.packs import Item, Pack, Thing

LETTERS_A_TOKEN = 3
HEADINGS = {
    "CURRENT": ("# Текущее состояние", "# Current state"),
    "RELEVANT_FACTS": ("# Факты", "# Relevant facts"),
    "EPISODES": ("# Эпизоды", "# Episodes"),
    "DOCUMENTS": ("# Документы", "# Documents"),
    "RELATED_ENTITIES": ("# Связанные сущности", "# Related entities"),
    "RECENT_OBSERVATIONS": ("# Недавние наблюдения", "# Recent observations"),
}
UNFINISHED = re.compile(r"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$")
"""The beginning of an escape sequence at the end of a text."""


def price(text: str) -> int:
    return math.ceil(len(text) / LETTERS_A_TOKEN)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def said(value: Any) -> str:
    """A value as a reader sees it."""
    return value if isinstance(value, str) else compact(value)


def named(view: View, entity: Entity) -> str:
    return str(view.text(entity.space, entity.title)) or entity.key


def moment(at: datetime | None) -> str:
    """An end of an interval; an open one is an ellipsis."""
    if at is None:
        return "…"
    plain = at.astimezone(UTC).isoformat().removesuffix("+00:00")
    return plain.removesuffix("T00:00:00") if plain.endswith("T00:00:00") else f"{plain}Z"


def said_by(fact: Fact) -> str:
    """What a fact says of its subject, such that different things read differently."""
    return compact(fact.value) if fact.object is None else f"entity {fact.object.id}"


def title_of(view: View, thing: Thing) -> str:
    """The title of an item as a reader sees it, who need not be who made the pack."""
    if isinstance(thing, Fact):
        return thing.predicate
    return str(view.text((thing.entity if isinstance(thing, Fragment) else thing).space, thing.title))


def sentence(view: View, fact: Fact) -> str:
    """What a fact says, without its dates."""
    end = said(view.value(fact.subject.space, fact.value)) if fact.object is None else named(view, fact.object)
    return f"{named(view, fact.subject)} {fact.predicate} {end}"


def text_of(view: View, thing: Thing, at: datetime) -> str:
    """The text of an item as a caller reads it; nothing in a world needs neutralising."""
    if isinstance(thing, Fragment):
        return str(view.text(thing.entity.space, thing.text))
    if isinstance(thing, Fact):
        return f"{sentence(view, thing)} ({moment(thing.valid_from)} – {moment(thing.valid_to)})"
    title, status = (view.text(thing.space, text) for text in (thing.title, thing.status))
    head = f"[{thing.key}] ({thing.type}) {title}" + (f" status={status}" if status else "")
    held = view.value(thing.space, lists.attributes_of(thing, at))
    return "\n".join([head, *(f"{name}: {said(value)}" for name, value in sorted(held.items()))])


def cut(text: str, budget: int) -> str:
    """As much of the caller's state as a budget has room for, up to a sensible place."""
    most = budget * LETTERS_A_TOKEN
    if len(text) <= most:
        return text
    places = [n for n in range(most // 2, most) if text[n] in ",}]" or text[n].isspace()]
    kept = text[: places[-1] + 1] if places else text[:most]
    unfinished = UNFINISHED.search(kept)
    kept = kept[: unfinished.start(1)] if unfinished else kept
    return f"{kept}…" if len(kept) < most else kept


def rendered(pack: Pack) -> str:
    """The pack for a prompt."""
    russian = pack.language == "RU"
    return "\n\n".join(section(name, items, russian) for name, items in pack.sections)


def section(name: str, items: list[Item], russian: bool) -> str:
    heading = HEADINGS[name][0 if russian else 1]
    if name == "RELEVANT_FACTS":
        return "\n".join([heading, *(fact_line(item, russian) for item in items)])
    if name == "RELATED_ENTITIES":
        return "\n".join([heading, *("- " + item.text.replace("\n", "\n  ") for item in items)])
    return "\n\n".join([heading, *(item.text if item.thing is None else quoted(item, russian) for item in items)])


def fact_line(item: Item, russian: bool) -> str:
    assert isinstance(item.thing, Fact)
    mark = (" (в конфликте)" if russian else " (in conflict)") if item.conflict else ""
    return f"- [{public_id('a', item.thing.subject.space, item.thing.fact)}] {item.text}{mark}"


def quoted(item: Item, russian: bool) -> str:
    assert isinstance(item.thing, Fragment)
    entity = item.thing.entity
    title, heading, path = (item.pack.view.text(entity.space, one) for one in (entity.title, item.thing.heading, entity.path))
    lines = [f"## [{entity.key}] {title}" + (f" — {heading}" if heading else "")]
    lines += [f"{'Источник' if russian else 'Source'}: {path}"] if path else []
    return "\n".join(lines) + "\n\n" + item.text
