"""Arguments of packs, drawn at random: every strategy, budgets from tiny to large, things seen, hidden, missing and elsewhere."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.contract.oracle import Refused, View
from tests.contract.packs import Pack
from tests.fixtures.company import CLOCK, Entity, World

NEVER = "docs/0/neverexisted"
STRATEGIES = ("HYBRID", "HYBRID", "HYBRID", "CONTEXT", "SEMANTIC", "EXACT", "GRAPH", "BRIEFING", "BRIEFING")
STATES: tuple[dict[str, Any], ...] = (
    {}, {"task": "bill", "step": 3, "open": True}, {"a": "b" * 700, "c": ["д" * 40, None, 1.5]}, {"said": 'one "two"\n' * 30},
    {"deep": {"er": [{"x": 1}, {"y": "\\" * 20}]}, "wide": "no place to cut" + "x" * 300},
)  # fmt: skip
Arguments = Callable[[View, random.Random, str], dict[str, Any]]
ENUMS = ("strategy", "locale")


def pack_arguments(view: View, chance: random.Random, question: str) -> dict[str, Any]:
    """The arguments of one pack; some have nothing to start from, some name a namespace that is closed."""
    world = view.world
    spaces = chance.sample(view.spaces, chance.randint(1, len(view.spaces))) if view.spaces and chance.random() < 0.3 else []
    names = [space.name for space in spaces] or None
    if chance.random() < 0.02:
        names = [chance.choice([space.name for space in world.namespaces])]
    given: dict[str, Any] = {
        "question": question if chance.random() < 0.85 else chance.choice(("", "  ")),
        "namespaces": names,
        "strategy": chance.choice(STRATEGIES),
        "k": chance.choice((1, 2, 3, 5, 8, 8, 20, 100)),
        "maxTokens": chance.choice((None, 1, 3, 12, 25, 40, 60, 90, 150, 300, 1_000, 1_000_000)),
    }
    parts: dict[str, tuple[float, Any]] = {
        "relevanceScopes": (0.45, scopes(world, chance)),
        "allowedScopes": (0.25, chance.choice(([], scopes(world, chance), scopes(world, chance)))),
        "anchors": (0.6, [anchor(world, chance) for _ in range(chance.choice((1, 1, 2, 4)))]),
        "subject": (0.25, subject(world, chance)),
        "ephemeralContext": (0.3, chance.choice(STATES)),
        "asOf": (0.25, moment(world, chance, ("valid_from", "valid_to"))),
        "knownAt": (0.2, moment(world, chance, ("recorded", "retracted"))),
        "locale": (0.3, chance.choice(("RU", "EN", "AUTO"))),
    }
    return {name: value for name, value in (given | {
        name: value for name, (share, value) in parts.items() if chance.random() < share
    }).items() if value is not None}  # fmt: skip


def wide_arguments(view: View, chance: random.Random, question: str) -> dict[str, Any]:
    """The arguments of a pack that holds nearly all that lies around much of a world."""
    keys = [entity.key for entity in chance.sample(view.world.entities, min(18, len(view.world.entities)))]
    given = pack_arguments(view, chance, question)
    given |= {"k": 100, "maxTokens": 1_000_000, "anchors": [{"key": key} for key in keys]}
    given["strategy"] = chance.choice(("HYBRID", "GRAPH", "BRIEFING"))
    if chance.random() < 0.4:
        given["knownAt"] = moment(view.world, chance, ("recorded", "retracted"))
    return given


def lawful(view: View, chance: random.Random, question: Callable[[], str]) -> dict[str, Any]:
    """The arguments of a pack that has something to start from, maybe in a namespace that is closed."""
    while True:
        given = pack_arguments(view, chance, question())
        try:
            Pack(view, **given)
        except Refused as refused:
            if str(refused) == "BAD_INPUT":
                continue
        return given


def startable(
    view: View, chance: random.Random, question: Callable[[], str], arguments: Arguments = pack_arguments
) -> dict[str, Any]:
    """The arguments of a pack that is no error and in which no two results are nearly equal."""
    while True:
        given, view.is_close = arguments(view, chance, question()), False
        try:
            if Pack(view, **given).candidates is not None and not view.is_close:
                return given
        except Refused:
            continue


def scopes(world: World, chance: random.Random) -> list[str]:
    """Relevance scopes: those that many share, and one of a thing, seen or hidden."""
    held = [scope for thing in chance.choices([*world.entities, *world.facts], k=6) for scope in thing.scopes]
    return list(
        dict.fromkeys(chance.sample([*held, "project:shared", "project:other", "project:never"], chance.choice((1, 2, 3))))
    )


def anchor(world: World, chance: random.Random) -> dict[str, str]:
    """A thing to start from: by key alone, in its namespace, in another's, or one that never was."""
    entity = busy(world, chance)
    where = chance.random()
    if where < 0.6:
        return {"key": entity.key}
    if where < 0.8:
        return {"namespace": entity.space.name, "key": entity.key}
    if where < 0.9:
        return {"namespace": chance.choice([*(space.name for space in world.namespaces), "never"]), "key": entity.key}
    return {"key": NEVER}


def busy(world: World, chance: random.Random) -> Entity:
    """An entity, mostly one that a fact is about, mostly by a predicate that holds one value."""
    single = [fact for fact in world.facts if (fact.subject.space, fact.predicate) in world.single]
    which = chance.random()
    if which < 0.55 and single:
        return chance.choice(single).subject
    return chance.choice(world.facts).subject if which < 0.85 and world.facts else chance.choice(world.entities)


def subject(world: World, chance: random.Random) -> dict[str, str]:
    named = [entity.key.split(":", 1) for entity in world.entities if ":" in entity.key]
    kind, id = chance.choice([*named, ["user", "never"]])
    return {"type": kind, "id": id}


def moment(world: World, chance: random.Random, ends: tuple[str, ...]) -> str | None:
    """An instant at which a fact begins or ends by one of its times, exactly."""
    found = [at for fact in chance.choices(world.facts, k=4) for end in ends if (at := getattr(fact, end))] if world.facts else []
    return str(chance.choice([CLOCK, *found]).isoformat())


def written(given: dict[str, Any]) -> str:
    """Arguments as literals of the query language."""
    return ", ".join(f"{name}: {value if name in ENUMS else literal(value)}" for name, value in given.items())


def literal(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {literal(one)}" for name, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(one) for one in value) + "]"
    return json.dumps(value)
