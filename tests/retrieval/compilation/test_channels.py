"""Every list of a pack is what an independent compiler makes of the same world: order, ties, scopes, instants, rights, bounds."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest

from retrieval.compilation.channels import Channels, Ranked
from retrieval.compilation.item import Item
from retrieval.compilation.question import Strategy as AskedStrategy
from retrieval.compilation.question import make_pack_question
from retrieval.session import Session
from retrieval.store import Store
from retrieval.subgraph import EntityRef
from tests.contract.oracle import Refused, View
from tests.contract.packs import Pack
from tests.fixtures.company import CLOCK, START, World
from tests.fixtures.random_world import Size, random_world
from tests.fixtures.world import opened, session_for, store_world, tuned

SEEDS = (0, 1, 3)
PACKS = 150
STRATEGIES = ("HYBRID", "HYBRID", "SEMANTIC", "EXACT", "GRAPH", "BRIEFING")


@dataclass(frozen=True)
class Asked:
    """One pack, as it is asked of both compilers."""

    question: str
    strategy: str
    k: int
    anchors: tuple[tuple[str | None, str], ...]
    subject: tuple[str, str] | None
    scopes: tuple[str, ...]
    allowed: tuple[str, ...] | None
    namespaces: tuple[str, ...] | None
    at: datetime | None
    known: datetime | None

    def slowly(self, view: View) -> Pack:
        """The pack of the compiler that looks at everything."""
        return Pack(
            view, self.question, list(self.namespaces) if self.namespaces else None, list(self.scopes),
            None if self.allowed is None else list(self.allowed),
            [{"key": key} | ({"namespace": name} if name else {}) for name, key in self.anchors],
            None if self.subject is None else dict(zip(("type", "id"), self.subject, strict=True)),
            strategy=self.strategy, k=self.k, asOf=self.at.isoformat() if self.at else None,
            knownAt=self.known.isoformat() if self.known else None,
        )  # fmt: skip

    async def ranked(self, session: Session) -> Ranked:
        """The lists of the product."""
        asked = make_pack_question(
            session.store.tuning, self.question, namespaces=self.namespaces, relevance_scopes=self.scopes,
            allowed_scopes=self.allowed, anchors=[EntityRef(*one) for one in self.anchors], subject=self.subject,
            strategy=AskedStrategy(self.strategy), as_of=self.at, known_at=self.known, k=self.k,
        )  # fmt: skip
        return await Channels(session, asked, session.reader(await session.spaces(self.namespaces))).ranked


def draw(view: View, chance: random.Random) -> Asked:
    """A pack about things that are seen, hidden or missing, around instants at which facts change."""
    world = view.world
    moments = [START, CLOCK, *(at for fact in world.facts for at in (fact.valid_from, fact.valid_to) if at)]
    records = [at for fact in world.facts for at in (fact.recorded, fact.retracted) if at]
    scopes = sorted({scope for thing in (*world.entities, *world.facts) for scope in thing.scopes} | {"project:never"})
    busy = [fact.subject for fact in world.facts if (fact.subject.space, fact.predicate) in world.single]
    things = [chance.choice(busy if chance.random() < 0.5 else world.entities) for _ in range(chance.choice((0, 1, 1, 3)))]
    named = chance.sample(view.spaces, chance.randint(1, len(view.spaces))) if chance.random() < 0.3 else []
    subject = chance.choice([scope for scope in scopes if not scope.endswith("never")]) if chance.random() < 0.1 else None
    return Asked(
        " ".join(chance.sample(world.words, 3)) if chance.random() < 0.8 else " ",
        chance.choice(STRATEGIES),
        chance.choice((1, 2, 5, 8, 30)),
        tuple((chance.choice((None, one.space.name)), one.key) for one in things),
        (*subject.split(":", 1),) if subject else None,  # type: ignore[arg-type]
        tuple(chance.sample(["project:shared", *scopes], 2)) if chance.random() < 0.5 else (),
        chance.choice(((), ("project:shared",), tuple(chance.sample(scopes, 3)))) if chance.random() < 0.3 else None,
        tuple(space.name for space in named) or None,
        chance.choice(moments) if chance.random() < 0.4 else None,
        chance.choice(records) + chance.choice((timedelta(0), timedelta(seconds=-1))) if chance.random() < 0.3 else None,
    )


def named(world: World) -> dict[tuple[str, int], Any]:
    """Everything that can be an item, by its kind and number; a fact by its number stands for all its rows."""
    found: dict[tuple[str, int], Any] = {("FRAGMENT", one.id): one for one in world.fragments}
    return found | {("ENTITY", one.id): one for one in world.entities}


def told(item: Item, things: dict[tuple[str, int], Any]) -> Any:
    """What the other compiler calls an item."""
    return things.get((item.kind.value, item.id), item.id)


@pytest.mark.parametrize("seed", SEEDS)
async def test_every_list_is_what_looking_at_everything_gives(base_url: str, seed: int) -> None:
    world, chance, seen = random_world(seed, Size(entities=12, facts=3)), random.Random(seed), Counter[str]()
    await store_world(base_url, world)
    views = [view for view in (View(world, caller) for caller in world.callers) if view.spaces]
    async with opened(base_url, tuning=tuned(spaces_by_key_most=2 * seed, facts_in_order_from=seed + 1)) as store:
        for number in range(PACKS):
            view = views[number % len(views)]
            asked = draw(view, chance)
            view.is_close = False
            try:
                wanted = asked.slowly(view)
            except Refused:
                continue
            lists, groups = wanted.lists, {tuple(sorted(one.fact for one in group)) for group in wanted.groups.values()}
            if not view.is_close:
                seen.update(await differing(store, view, asked, wanted))
                seen.update({"conflicts": len(groups), **{channel: len(places) for channel, places in lists.items()}})
    assert all(seen[name] > 5 for name in ("LEXICAL", "VECTOR", "FACTS", "GRAPH", "RECENT")), seen
    assert seen["conflicts"]


async def differing(store: Store, view: View, asked: Asked, wanted: Pack) -> dict[str, int]:
    """Hold one pack against the other; counts what was held."""
    things = named(view.world)
    async with session_for(store, view.me.token) as session:
        found = await asked.ranked(session)
    assert list(found.lists) == wanted.channels, asked
    for channel, listed in found.lists.items():
        places = [(one.fact if hasattr(one, "fact") else one, raw) for raw, one in wanted.lists[channel]]
        assert [told(hit.item, things) for hit in listed.hits] == [one for one, _ in places], (channel, asked)
        assert [hit.raw_score for hit in listed.hits] == pytest.approx([raw for _, raw in places], abs=2e-3), (channel, asked)
    groups = {tuple(item.id for item in group) for group in found.conflicts}
    assert groups == {tuple(sorted(one.fact for one in group)) for group in wanted.groups.values()}, asked
    assert len(found.conflicts) == len(groups)
    reached = {told(item, things): (one.hops, one.facts) for item, one in found.neighbours.items()}
    assert reached == {one.entity: (one.hops, tuple(fact.row for fact in one.via)) for one in wanted.around}, asked
    rows = {row.row for row in wanted.standing}
    assert {fact.row_id for fact in found.facts.values()} <= rows
    assert found.degraded == ()
    return {"packs": 1}
