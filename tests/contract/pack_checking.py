"""Asks for packs, for traces and why, and holds the answers against the slow compiler."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

from graphql import FieldNode, SelectionSetNode

from retrieval.store import Store
from tests.contract.asking import AROUND, NEVER, some_words, text
from tests.contract.checking import errors, leaks
from tests.contract.expecting import chosen, differences
from tests.contract.oracle import Refused, View, public_id
from tests.contract.pack_asking import Arguments, pack_arguments, written
from tests.contract.packs import Pack, Thing, id_of
from tests.contract.parsing import operation_of
from tests.contract.selections import random_choice, selection
from tests.fixtures.company import Entity, World
from tests.fixtures.world import api, execute

BATCH, WHYS_AT_ONCE = 4, 30
Told = tuple[Counter[str], list[str]]
"""What was told, counted, and what was wrong."""
SIGNALS = "signals { kind channel rank rawScore weight contribution }"
DROPPED = "dropped { itemId kind title score tokenEstimate reason }"
ITEMS = f"items {{ itemId kind title text namespace sourcePath score tokenEstimate conflict neutralized {SIGNALS} }}"
BUDGET = f"tokenEstimate sources {{ key }} budget {{ maxTokens usedTokens truncated {DROPPED} }}"
WHOLE = f"{BUDGET} sections {{ kind tokenEstimate {ITEMS} }}"
WHY = "outcome score signals { kind contribution } channels { channel rank worstAdmittedRank }"
DEEP = frozenset({*AROUND, "Entity.source", "SourceCard.source", "ProvenanceStep.node", "ContextPack.trace"})


def asked(view: View, chance: random.Random, count: int, arguments: Arguments = pack_arguments) -> list[str]:
    """Packs to ask for: each whole, and once more with a random part of what lies below it."""
    made = []
    for _ in range(count):
        given = written(arguments(view, chance, some_words(view.world, chance)))
        some = selection(api()._schema, "ContextPack", 3, random_choice(chance, 0.35), avoid=DEEP)
        made += [f"contextPack({given}) {{ {WHOLE} }}", f"contextPack({given}) {some}"]
    return made


def answers(view: View, document: str, answer: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Every root field of a document with what it must give and what it gave: data, or the code of an error."""
    codes = {error["path"][0]: error["extensions"]["code"] for error in answer.get("errors", ())}
    for node in operation_of(document).selection_set.selections:
        assert isinstance(node, FieldNode)
        assert node.alias is not None
        name, view.is_close = node.alias.value, False
        try:
            wanted = chosen(api()._schema, view, SelectionSetNode(selections=(node,)), "Query", None)[name]
        except Refused as refused:
            wanted = str(refused)
        if not view.is_close:
            yield name, wanted, codes.get(name, (answer["data"] or {}).get(name))


def check_sums(pack: dict[str, Any]) -> None:
    """What holds for every pack, whatever is in it."""
    items = [item for section in pack["sections"] for item in section["items"]]
    for item in items:
        score = 0.0
        for signal in item["signals"]:
            score += signal["contribution"]
        assert score == item["score"], item
    used = sum(item["tokenEstimate"] for item in items)
    assert used == pack["budget"]["usedTokens"] == pack["tokenEstimate"]
    assert used <= pack["budget"]["maxTokens"]


class Seen:
    """Counts what packs held, so that a test cannot pass on packs that hold nothing."""

    def __init__(self) -> None:
        self.counts = Counter[str]()

    def note(self, pack: dict[str, Any] | str) -> None:
        if isinstance(pack, str):
            self.counts[pack] += 1
            return
        self.counts["packs"] += 1
        for section in pack["sections"]:
            self.counts[section["kind"]] += 1
            self.counts["conflict"] += any(item["conflict"] for item in section["items"])
            self.counts.update(f"{signal['kind']} {signal['channel']}" for item in section["items"] for signal in item["signals"])
        self.counts.update(f"{one['reason']} {one['kind']}" for one in pack["budget"]["dropped"])


async def ask_packs(
    store: Store, world: World, seed: int, count: int, seen: Seen, arguments: Arguments = pack_arguments
) -> list[str]:
    """Ask the callers of a world for packs; gives what was wrong."""
    chance, wrong = random.Random(seed), list[str]()
    views = [View(world, one) for one in world.callers]
    views = [view for view in views if view.fragments(view.spaces)]
    for turn in range(count // BATCH):
        view = views[turn % len(views)]
        document = "{ " + " ".join(f"p{n}: {one}" for n, one in enumerate(asked(view, chance, BATCH, arguments))) + " }"
        answer = await execute(store, document, view.me.token)
        wrong += [f"leak of {token}" for token in leaks(view, document, json.dumps(answer))]
        for name, wanted, got in answers(view, document, answer):
            unlike = differences(wanted, got, name)
            wrong += [f"{view.me.name} asked {document}: {line}" for line in unlike[:5]]
            if int(name[1:]) % 2 == 0 and not unlike:
                seen.note(got)
                if isinstance(got, dict):
                    check_sums(got)
        if wrong:
            break
    return wrong


async def ask_why(store: Store, view: View, given: dict[str, Any], asked: list[str], is_stored: bool) -> Told:
    """Ask why things are in a pack or not, beside the pack or of its stored trace; gives what was told and what was wrong."""
    whys, wrong = [f"w{n}: why({one}) {{ {WHY} }}" for n, one in enumerate(asked)], list[str]()
    told = Counter[str]()
    start, end = f"contextPack({written(given)}) {{ trace", "}"
    if is_stored:
        traced = await trace_pack(store, view, given)
        start, end = f"trace(traceId: {text(traced)})", ""
    for first in range(0, len(whys), WHYS_AT_ONCE):
        document = f"{{ {start} {{ {' '.join(whys[first : first + WHYS_AT_ONCE])} }} {end} }}"
        answer = await execute(store, document, view.me.token)
        wrong += wrongs(view, document, answer)
        selected = answer["data"]["trace"] if is_stored else answer["data"]["contextPack"]["trace"]
        told.update(one["outcome"] for one in (selected or {}).values())
    return told, wrong


def rows_of(view: View, chance: random.Random) -> list[str]:
    """Arguments that name every visible entity by key and every visible item by id, some hidden ones, and what never was."""
    world, spaces = view.world, view.spaces
    seen: list[Thing] = [*view.entities(spaces), *view.fragments(spaces), *(f for f in view.facts(spaces) if f.retracted is None)]
    others: list[Thing] = [one for one in (*world.entities, *world.fragments, *world.facts) if one not in seen]
    things = [*seen, *chance.sample(others, min(20, len(others)))]
    asked = [f"namespace: {text(one.space.name)}, key: {text(one.key)}" for one in things if isinstance(one, Entity)]
    asked += [f"itemId: {text(id_of(one))}" for one in things]
    asked += [f"itemId: {text(public_id(letter, world.namespaces[0], 77_777))}" for letter in "efa"]
    return [*asked, f"key: {text(NEVER)}", f'namespace: "never", key: {text(world.entities[0].key)}']


async def trace_pack(store: Store, view: View, given: dict[str, Any]) -> str:
    """Let a caller trace a pack; gives its id, and remembers what it is of, as the world is now."""
    answer = await execute(store, f"{{ contextPack({written(given)}) {{ traceId }} }}", view.me.token)
    found, pack = str(answer["data"]["contextPack"]["traceId"]), Pack(view, **given)
    assert pack.choice is not None, "compiled now"
    view.world.traces[found] = (view.me, pack)
    return found


def wrongs(view: View, document: str, answer: dict[str, Any]) -> list[str]:
    """What an answer must not hold and what it should not be."""
    said = f"{view.me.name} asked {document}"
    found = [f"leak of {token}" for token in leaks(view, document, json.dumps(answer))] + errors(view, document, answer)
    return [f"{said}: {line}" for line in found]


async def read_traces(store: Store, world: World, traces: list[str], chance: random.Random) -> Told:
    """Let everybody read traces, and why some things were in the packs; gives how many were shown, and what was wrong."""
    shown, wrong, fields = Counter[str](), list[str](), selection(api()._schema, "Trace", 3).removesuffix("}")
    for caller in world.callers:
        view = View(world, caller)
        for one in traces:
            asked = [f"itemId: {text(id_of(entity))}" for entity in chance.sample(world.entities, 3)]
            asked += [f"itemId: {text(id_of(fact))}" for fact in chance.sample(world.facts, 8)]
            asked += [f"namespace: {text(e.space.name)}, key: {text(e.key)}" for e in chance.sample(world.entities, 6)]
            whys = " ".join(f"w{n}: why({given}) {{ outcome score channels {{ rank }} }}" for n, given in enumerate(asked))
            document = f"{{ trace(traceId: {text(one)}) {fields} {whys} }} }}"
            answer = await execute(store, document, caller.token)
            wrong += wrongs(view, document, answer)
            shown["shown"] += answer["data"]["trace"] is not None
    return shown, wrong
