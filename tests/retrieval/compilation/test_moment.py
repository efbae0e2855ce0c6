"""The channels of a pack at their bounds: how far they look, out of which moment, in how many statements, and what may fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Thread
from typing import Any

import asyncpg
import pytest

from retrieval.administration.namespaces import create_namespace
from retrieval.compilation.channels import Channels, Ranked
from retrieval.compilation.question import Strategy, make_pack_question
from retrieval.errors import ProviderUnavailable
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.reembedding import reembed
from retrieval.ingest.statistics import refresh_statistics
from retrieval.keys import key_digest
from retrieval.ports import Vectors
from retrieval.ranking import Channel
from retrieval.store import Store
from retrieval.subgraph import EntityRef
from tests.fixtures.embedders import DIMENSIONS, HashEmbedder
from tests.fixtures.reembedding import OtherEmbedder
from tests.fixtures.world import Recorder, opened, recorder, session_for, tuned
from tests.fixtures.writing import ADMIN, DOCS, put

ENTITY = """insert into entity (ns, key_digest, key, kind, type, title) values ($1, $2, $3, 'THING', 'thing', $3)
            returning entity_id"""
FACT = """insert into fact (ns, fact_id, subject_id, predicate, object_id, value, evidence, valid_from)
          values ($1, nextval('fact_id'), $2, $3, $4, $5, $6, $7::text::timestamptz) returning fact_id"""
LISTED = (Channel.LEXICAL, Channel.VECTOR, Channel.FACTS, Channel.GRAPH, Channel.RECENT)


@dataclass
class Shelf:
    """A namespace that is filled by hand."""

    store: Store
    ns: int
    ids: dict[str, int] = field(default_factory=dict)
    facts: dict[int, str] = field(default_factory=dict)

    async def say(self, *told: tuple[str, str, str, int, str | None]) -> None:
        """Facts: subject, predicate, object (or a value after `=`), evidence, start."""
        async with self.store.database.writing() as connection:
            for subject, predicate, other, evidence, since in told:
                value = json.dumps(other[1:]) if other.startswith("=") else None
                for key in (subject, other)[: 1 if value else 2]:
                    if key not in self.ids:
                        self.ids[key] = await connection.fetchval(ENTITY, self.ns, key_digest(key), key)
                ends = (self.ids[subject], predicate, None if value else self.ids[other], value)
                fact = await connection.fetchval(FACT, self.ns, *ends, evidence, since)
                self.facts[fact] = f"{subject} {predicate} {other}"
            await connection.execute("select refresh_edges($1, $2::bigint[])", self.ns, list(self.facts))

    async def ranked(self, *anchors: str, text: str = "", store: Store | None = None, **given: Any) -> Ranked:
        """What the channels find."""
        store = store or self.store
        asked = make_pack_question(
            store.tuning, text, anchors=[EntityRef(None, key) for key in anchors], **({"namespaces": [DOCS]} | given)
        )
        async with session_for(store, None) as session:
            return await Channels(session, asked, session.reader(await session.spaces(asked.namespaces))).ranked

    def named(self, ranked: Ranked, channel: Channel) -> list[str]:
        """The list of a channel, by keys of entities or what facts say."""
        keys = {id: key for key, id in self.ids.items()}
        names = self.facts if channel is Channel.FACTS else keys
        return [names[hit.item.id] for hit in ranked.lists[channel].hits]


@asynccontextmanager
async def shelf_at(url: str, embedder: Any = None, **numbers: Any) -> AsyncIterator[Shelf]:
    """An empty namespace of a base, with numbers of its own."""
    async with opened(url, embedder, tuning=tuned(**numbers)) as store:
        yield Shelf(store, (await create_namespace(store.database, ADMIN, DOCS)).ns)


@pytest.fixture
async def shelf(base_url: str) -> AsyncIterator[Shelf]:
    """An empty namespace."""
    async with shelf_at(base_url) as made:
        yield made


def star(*leaves: str, predicate: str = "has") -> list[tuple[str, str, str, int, str | None]]:
    """Facts from one hub to others."""
    return [("hub", predicate, leaf, 1, None) for leaf in leaves]


# ------------------------------------------------------------------------------------------------ bounds


async def test_facts_are_cut_to_the_best_of_the_nearest(base_url: str) -> None:
    async with shelf_at(base_url, context_max_edges=3) as shelf:
        await shelf.say(
            ("hub", "has", "=weak", 1, "2024-01-01Z"),
            ("leaf", "in", "hub", 1, "2025-01-01Z"),
            ("hub", "has", "=open", 2, None),
            ("hub", "has", "leaf", 2, "2020-01-01Z"),
            ("leaf", "is", "=far", 3, "2026-01-01Z"),
        )
        found = await shelf.ranked("hub", strategy=Strategy.GRAPH)
        assert shelf.named(found, Channel.FACTS) == ["hub has leaf", "hub has =open", "leaf in hub"]
        assert found.lists[Channel.FACTS].asked == 3
        assert [hit.raw_score for hit in found.lists[Channel.FACTS].hits] == [1.0, 1.0, 1.0]


async def test_a_fact_that_touches_a_near_and_a_far_entity_stands_where_it_is_nearer_and_once(shelf: Shelf) -> None:
    await shelf.say(*star("a"), ("a", "to", "b", 3, None), ("hub", "self", "hub", 2, None), ("b", "to", "c", 3, None))
    found = await shelf.ranked("hub", strategy=Strategy.GRAPH)
    assert shelf.named(found, Channel.FACTS) == ["hub self hub", "hub has a", "a to b"]
    assert [hit.raw_score for hit in found.lists[Channel.FACTS].hits] == [1.0, 1.0, 0.5]
    assert shelf.named(found, Channel.GRAPH) == ["a", "b"]


async def test_the_walk_keeps_to_its_depth_its_nodes_and_the_edges_of_each_entity(base_url: str) -> None:
    async with shelf_at(base_url, context_max_depth=3, context_max_nodes=4, context_max_edges=2) as shelf:
        await shelf.say(
            *star("a", "b", "c"), ("a", "to", "a2", 1, None), ("a2", "to", "a3", 1, None), ("a3", "to", "a4", 1, None)
        )
        found = await shelf.ranked("hub", strategy=Strategy.GRAPH)
        assert shelf.named(found, Channel.GRAPH) == ["a", "b", "a2", "a3"], "c is the third edge, a4 the fifth entity"
        assert found.lists[Channel.GRAPH].asked == 4
    numbers = replace(shelf.store.tuning, context_max_depth=1, context_max_nodes=40, context_max_edges=400)
    async with opened(base_url, tuning=numbers) as store:
        found = await shelf.ranked("hub", strategy=Strategy.GRAPH, store=store)
        assert shelf.named(found, Channel.GRAPH) == ["a", "b", "c"]
        assert len(found.lists[Channel.FACTS].hits) == 3, "with one step, facts are those of the anchors"


async def test_bounds_hold_in_the_record_of_the_past_too(base_url: str) -> None:
    async with shelf_at(base_url, context_max_edges=2, context_max_nodes=1) as shelf:
        await shelf.say(*star("a", "b", "c"))
        (now,) = await at_once(shelf.store, "select now()")
        found = await shelf.ranked("hub", strategy=Strategy.GRAPH, known_at=now)
        assert (shelf.named(found, Channel.GRAPH), len(found.lists[Channel.FACTS].hits)) == (["a"], 2)
        await at_once(shelf.store, "update fact set retracted_at = now() returning 1")
        assert (await shelf.ranked("hub", strategy=Strategy.GRAPH)).facts == {}
        assert await same_lists(shelf, found, known_at=now)


async def test_a_fact_is_unknown_from_the_moment_when_it_was_retracted(shelf: Shelf) -> None:
    await shelf.say(*star("a"), ("hub", "is", "=red", 3, None), ("b", "to", "hub", 1, None))
    (when, *_) = await at_once(shelf.store, "update fact set retracted_at = now() returning retracted_at")
    assert not (await shelf.ranked("hub", strategy=Strategy.GRAPH, known_at=when)).facts
    before = await shelf.ranked("hub", strategy=Strategy.GRAPH, known_at=when - timedelta(microseconds=1))
    assert (len(before.facts), shelf.named(before, Channel.GRAPH)) == (3, ["a", "b"])


async def at_once(store: Store, statement: str) -> list[Any]:
    async with store.database.writing() as connection:
        return [row[0] for row in await connection.fetch(statement)]


async def same_lists(shelf: Shelf, found: Ranked, **given: Any) -> bool:
    again = await shelf.ranked("hub", strategy=Strategy.GRAPH, **given)
    return [one.hits for one in again.lists.values()] == [one.hits for one in found.lists.values()]


# ------------------------------------------------------------------------------------------------ one moment


@dataclass
class Meddler(Recorder):
    """An observer in whose presence somebody else takes all facts out, once, right after a statement."""

    url: str = ""
    after: str = ""

    def statement(self, name: str, seconds: float) -> None:
        super().statement(name, seconds)
        if name == self.after:
            self.after = ""
            thread = Thread(target=lambda: asyncio.run(self.write()))
            thread.start()
            thread.join()

    async def write(self) -> None:
        connection = await asyncpg.connect(self.url)
        try:
            await connection.execute("delete from edge; delete from fact; delete from fragment where title = 'note'")
        finally:
            await connection.close()


@pytest.mark.parametrize("after", ["vector_exact+lexical", "entities_by_key", "facts_around"])
async def test_what_is_written_meanwhile_is_in_no_list(shelf: Shelf, after: str) -> None:
    await filled(shelf)
    whole = await shelf.ranked("hub", text="жираф", relevance_scopes=["project:a"])
    shelf.store.observer = Meddler(url=shelf.store.database.url, after=after)
    found = await shelf.ranked("hub", text="жираф", relevance_scopes=["project:a"])
    assert list(found.lists) == list(LISTED)
    assert all(one.hits for one in found.lists.values())
    assert [one.hits for one in found.lists.values()] == [one.hits for one in whole.lists.values()]
    assert found.conflicts == whole.conflicts != ()
    after_all = await shelf.ranked("hub", text="жираф", relevance_scopes=["project:a"])
    assert after_all.lists[Channel.FACTS].hits == after_all.lists[Channel.RECENT].hits == ()


async def filled(shelf: Shelf) -> None:
    """Texts, a note, a few facts; two of them contradict each other."""
    await put(shelf.store, "doc", "жираф ест листья")
    await put(shelf.store, "note", "жираф ушёл", title="note", kind="OBSERVATION", relevance_scopes=("project:a",))
    shelf.ids |= dict(zip(("doc", "note"), await at_once(shelf.store, "select entity_id from entity order by key"), strict=True))
    await shelf.say(*star("a"), ("doc", "to", "b", 1, None), ("hub", "state", "=on", 3, None), ("hub", "state", "=off", 3, None))
    async with shelf.store.database.writing() as connection:
        await connection.execute("insert into predicate (ns, name, cardinality) values ($1, 'state', 'ONE')", shelf.ns)
    while await embed_pending(shelf.store, 50):
        pass
    await refresh_statistics(shelf.store.database, shelf.ns)


WALK = {"graph_hop": 2, "entities_by_id": 1}
STATEMENTS = {
    Strategy.HYBRID: {
        "words": 1, "embedding": 1, "vector_exact+lexical": 1, "entities_by_key": 1, "graph_hop": 3, "entities_by_id": 1,
        "facts_around": 1, "facts_beside": 1, "recent": 1,
    },
    Strategy.BRIEFING: {"entities_by_key": 1, **WALK, "facts_around": 1, "facts_beside": 1, "recent": 1},
    Strategy.GRAPH: {"entities_by_key": 1, **WALK, "facts_around": 1, "facts_beside": 1},
    Strategy.SEMANTIC: {"embedding": 1, "vector_exact": 1},
    Strategy.EXACT: {"words": 1, "lexical": 1},
}  # fmt: skip
"""The statements of a strategy, beside the one that tells who asks; entities are looked up for the rule of scopes."""


@pytest.mark.parametrize("strategy", STATEMENTS)
async def test_each_strategy_runs_so_many_statements(shelf: Shelf, strategy: Strategy) -> None:
    await filled(shelf)
    recorder(shelf.store).forget()
    found = await shelf.ranked("hub", text="жираф", relevance_scopes=["project:a"], strategy=strategy)
    assert recorder(shelf.store).counted == {"caller": 1, **STATEMENTS[strategy]}
    assert all(one.hits and one.seconds > 0 for one in found.lists.values())


async def test_what_needs_no_look_is_not_looked_at(shelf: Shelf) -> None:
    await filled(shelf)
    recorder(shelf.store).forget()
    assert (await shelf.ranked("doc", strategy=Strategy.BRIEFING)).conflicts == ()
    assert recorder(shelf.store).counted == {"caller": 1, "entities_by_key": 1, "graph_hop": 2, "facts_around": 1}
    recorder(shelf.store).forget()
    await shelf.ranked("missing", strategy=Strategy.GRAPH)
    assert recorder(shelf.store).counted == {"caller": 1, "entities_by_key": 1}


# ------------------------------------------------------------------------------------------------ helpers that fail


class Away(HashEmbedder):
    """A provider that embeds passages and no questions."""

    async def embed_questions(self, texts: Sequence[str]) -> Vectors:
        raise ProviderUnavailable("The provider is away.")


async def test_without_a_vector_the_other_lists_stand_and_the_pack_says_so(base_url: str) -> None:
    async with shelf_at(base_url, Away()) as shelf:
        await filled(shelf)
        found = await shelf.ranked("hub", text="жираф", relevance_scopes=["project:a"])
    assert [(one.part, one.code) for one in found.degraded] == [("embedding", "PROVIDER_UNAVAILABLE")]
    assert {channel for channel, one in found.lists.items() if not one.hits} == {Channel.VECTOR}
    assert list(found.lists) == list(LISTED)


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_base_that_changes_its_model_meanwhile_is_asked_with_the_new_one(shelf: Shelf, is_known: bool) -> None:
    await filled(shelf)
    other = OtherEmbedder(dimensions=DIMENSIONS)
    both = replace(shelf.store, next_embedder=other)
    asking = both if is_known else shelf.store
    asked = make_pack_question(asking.tuning, "жираф", anchors=[EntityRef(None, "hub")])
    async with session_for(asking, None) as session:
        spaces = (await session.caller).spaces
        await reembed(both, other, lambda done, total: None)
        found = await Channels(session, asked, session.reader(spaces)).ranked
    assert len(found.lists[Channel.VECTOR].hits) == (2 if is_known else 0)
    assert [one.code for one in found.degraded] == ([] if is_known else ["PROVIDER_UNAVAILABLE"])
    assert found.lists[Channel.LEXICAL].hits
    assert found.lists[Channel.FACTS].hits
