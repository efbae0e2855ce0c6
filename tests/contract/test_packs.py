"""Packs are what an independent compiler makes of the same world, slowly, in every value (spec 7 and 8)."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from graphql import FieldNode, OperationDefinitionNode, SelectionSetNode, parse

from retrieval.store import Store
from tests.contract.asking import AROUND, NEVER, some_words, text
from tests.contract.checking import errors, leaks
from tests.contract.fields import chosen, differences
from tests.contract.oracle import Refused, View, public_id
from tests.contract.pack_asking import pack_arguments, startable, written
from tests.contract.pack_why import OUTCOMES
from tests.contract.packs import Pack, Thing, id_of
from tests.contract.selections import random_choice, selection
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import Entity, Size, World, random_world
from tests.fixtures.world import api, execute, opened, store_world

SEEDS, MANY_SEEDS, PACKS, WHYS, BATCH, WHYS_AT_ONCE = range(400, 405), range(4_000, 4_050), 100, 10, 4, 30
SIZES = (Size(), Size(entities=25, facts=3))
SIGNALS = "signals { kind channel rank rawScore weight contribution }"
DROPPED = "dropped { itemId kind title score tokenEstimate reason }"
ITEMS = f"items {{ itemId kind title text namespace sourcePath score tokenEstimate conflict neutralized {SIGNALS} }}"
WHOLE = f"tokenEstimate budget {{ maxTokens usedTokens truncated {DROPPED} }} sections {{ kind tokenEstimate {ITEMS} }}"
WHY = "outcome score signals { kind contribution } channels { channel rank worstAdmittedRank }"
DEEP = frozenset({*AROUND, "Entity.source", "SourceCard.source", "ProvenanceStep.node", "ContextPack.trace"})


def asked(view: View, chance: random.Random, count: int) -> list[str]:
    """Packs to ask for: each whole, and once more with a random part of what lies below it."""
    made = []
    for _ in range(count):
        given = written(pack_arguments(view, chance, some_words(view.world, chance)))
        some = selection(api()._schema, "ContextPack", 3, random_choice(chance, 0.35), avoid=DEEP)
        made += [f"contextPack({given}) {{ {WHOLE} }}", f"contextPack({given}) {some}"]
    return made


def answers(view: View, document: str, answer: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Every root field of a document with what it must give and what it gave: data, or the code of an error."""
    (operation,) = parse(document).definitions
    assert isinstance(operation, OperationDefinitionNode)
    codes = {error["path"][0]: error["extensions"]["code"] for error in answer.get("errors", ())}
    for node in operation.selection_set.selections:
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


async def ask_packs(store: Store, world: World, seed: int, count: int, seen: Seen) -> list[str]:
    """Ask the callers of a world for packs; gives what was wrong."""
    chance, wrong = random.Random(seed), list[str]()
    views = [View(world, one) for one in world.callers]
    views = [view for view in views if view.fragments(view.spaces)]
    for turn in range(count // BATCH):
        view = views[turn % len(views)]
        document = "{ " + " ".join(f"p{n}: {one}" for n, one in enumerate(asked(view, chance, BATCH))) + " }"
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


async def check_world(bases: Bases, seed: int, seen: Seen) -> None:
    """One world and its packs."""
    url, world = bases.new(), random_world(seed, SIZES[seed % len(SIZES)])
    await store_world(url, world)
    async with opened(url) as store:
        assert await ask_packs(store, world, seed, PACKS, seen) == []


async def ask_why(store: Store, view: View, given: dict[str, Any], asked: list[str], is_stored: bool) -> Counter[str]:
    """Ask why things are in a pack or not, beside the pack or of its stored trace; gives what was told, if nothing was wrong."""
    whys, told = [f"w{n}: why({one}) {{ {WHY} }}" for n, one in enumerate(asked)], Counter[str]()
    start, end = f"contextPack({written(given)}) {{ trace", "}"
    if is_stored:
        answer = await execute(store, f"{{ contextPack({written(given)}) {{ traceId }} }}", view.me.token)
        traced = answer["data"]["contextPack"]["traceId"]
        view.world.traces[traced] = (view.me, Pack(view, **given))
        start, end = f"trace(traceId: {text(traced)})", ""
    for first in range(0, len(whys), WHYS_AT_ONCE):
        document = f"{{ {start} {{ {' '.join(whys[first : first + WHYS_AT_ONCE])} }} {end} }}"
        answer = await execute(store, document, view.me.token)
        assert leaks(view, document, json.dumps(answer)) == []
        assert errors(view, document, answer) == [], document
        selected = answer["data"]["trace"] if is_stored else answer["data"]["contextPack"]["trace"]
        told.update(one["outcome"] for one in selected.values())
    return told


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


async def check_whys(bases: Bases, seed: int, count: int) -> Counter[str]:
    """Packs of one world, and why of every row in it; gives the outcomes that were told."""
    url, world, chance, told = bases.new(), random_world(seed, SIZES[0]), random.Random(seed), Counter[str]()
    await store_world(url, world)
    async with opened(url) as store:
        views = [View(world, one) for one in world.callers]
        views = [view for view in views if view.fragments(view.spaces)]
        for turn in range(count):
            view = views[turn % len(views)]
            given = startable(view, chance, lambda: some_words(world, chance)) | {"k": chance.choice((1, 2, 3, 8))}
            told += await ask_why(store, view, given, rows_of(view, chance), turn % 2 == 0)
    return told


async def test_five_hundred_random_packs_are_what_a_slow_compiler_makes_of_them(bases: Bases) -> None:
    seen = Seen()
    for seed in SEEDS:
        await check_world(bases, seed, seen)
    counts = seen.counts
    assert counts["packs"] > 400, counts
    assert min(counts[name] for name in ("CURRENT", "RELEVANT_FACTS", "EPISODES", "DOCUMENTS", "RELATED_ENTITIES")) > 20, counts
    assert min(counts[name] for name in ("conflict", "DUPLICATE FRAGMENT", "DUPLICATE ENTITY", "OVER_BUDGET FACT")) > 5, counts
    ranks = [f"RANK {channel}" for channel in ("LEXICAL", "VECTOR", "FACTS", "GRAPH", "RECENT")]
    others = [f"{kind} None" for kind in ("IDENTIFIER", "RELEVANCE_SCOPE", "IN_FORCE", "EVIDENCE", "FRESHNESS")]
    assert min(counts[name] for name in (*ranks, *others)) > 5, counts
    assert counts["BAD_INPUT"] > 5, counts


async def test_why_tells_of_every_row_what_the_slow_compiler_did_with_it(bases: Bases) -> None:
    told = Counter[str]()
    for seed in SEEDS:
        told += await check_whys(bases, seed, WHYS)
    assert min(told[name] for name in (*OUTCOMES, "NOT_FOUND")) > 1, told


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY_SEEDS)
async def test_why_tells_of_every_row_of_many_worlds_what_the_slow_compiler_did_with_it(bases: Bases, seed: int) -> None:
    await check_whys(bases, seed, WHYS)


@pytest.mark.long
@pytest.mark.parametrize("seed", MANY_SEEDS)
async def test_five_thousand_random_packs_are_what_a_slow_compiler_makes_of_them(bases: Bases, seed: int) -> None:
    await check_world(bases, seed, Seen())
