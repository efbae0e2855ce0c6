"""What an operation cost is counted exactly, and tells nothing of what its caller may not see."""

from __future__ import annotations

import gc
import random
from itertools import islice

from retrieval.store import Store
from tests.contract.asking import some_words, text
from tests.contract.oracle import View
from tests.contract.probing import probes
from tests.contract.unseen import remove_unseen
from tests.fixtures.bases import Bases
from tests.fixtures.random_world import random_world
from tests.fixtures.world import execute_in, opened, recorder, session_for, store_world

Cost = tuple[int, int]
TRIES = 10


async def cost(store: Store, document: str, token: str | None) -> Cost:
    """The statements and the calls to providers of one operation."""
    async with session_for(store, token) as session:
        await execute_in(session, document)
    return session.spent.statements, session.spent.provider_calls


async def can_cost_the_same(one: Store, other: Store, document: str, token: str | None) -> bool:
    """Whether an operation can cost the same; look-ups that come together by chance in one try do not in another."""
    costs: tuple[set[Cost], set[Cost]] = (set(), set())
    for _ in range(TRIES):
        for store, found in zip((one, other), costs, strict=True):
            found.add(await cost(store, document, token))
        if costs[0] & costs[1]:
            return True
    return False


async def test_what_may_not_be_seen_changes_no_cost(bases: Bases) -> None:
    url, world, chance = bases.new(), random_world(50), random.Random(50)
    await store_world(url, world)
    restricted = [caller for caller in world.callers if not caller.administrator]
    caller = max(restricted, key=lambda one: len(View(world, one).spaces))
    view, lesser = View(world, caller), bases.clone(url)
    await remove_unseen(lesser, view)
    async with opened(url) as everything, opened(lesser) as seen:
        for document in islice(probes(view, chance), 40):
            assert await can_cost_the_same(everything, seen, document, caller.token), document


async def test_each_statement_and_call_is_counted_for_the_request_that_makes_it(bases: Bases) -> None:
    url, world = bases.new(), random_world(3)
    await store_world(url, world)
    asked = text(some_words(world, random.Random(1)))
    async with opened(url) as store:
        for document, statements, calls in (
            ("{ __typename }", 0, 0),
            ("{ viewer { principal } }", 1, 0),
            ("{ search(question: ASKED) { question } }", 1, 0),
            ("{ search(question: ASKED) { lexical { score } } }", 4, 0),
            ("{ search(question: ASKED) { hits { score } } }", 4, 1),
            ("{ search(question: ASKED) { hits { fragment { text } } } }", 4, 1),
            ('{ search(question: ASKED) { vector { score } } b: search(question: "b") { vector { score } } }', None, 1),
            ("{ search(question: ASKED, rerank: true) { hits { score } } }", None, 2),
            ("{ search(question: ASKED) { answer { text } } }", None, 2),
        ):
            recorder(store).forget()
            counted = await cost(store, document.replace("ASKED", asked), world.named("admin").token)
            assert counted == (counted[0] if statements is None else statements, calls), document
            assert counted[0] >= len(recorder(store).statements), document


async def test_a_request_that_was_answered_leaves_next_to_nothing_to_a_look_for_cycles(bases: Bases) -> None:
    url, world = bases.new(), random_world(3)
    await store_world(url, world)
    asked = text(some_words(world, random.Random(1)))
    document = f"{{ search(question: {asked}) {{ hits {{ score fragment {{ text }} }} neighbors {{ hops }} context }} }}"
    async with opened(url) as store:
        left = []
        for _ in range(5):  # the first time more is made that stays, and others of the process may leave something too
            gc.collect()
            gc.disable()
            try:
                session = session_for(store, world.named("admin").token)
                async with session:
                    await execute_in(session, document)
                session.let_go()
                del session
                left.append(gc.collect())
            finally:
                gc.enable()
    assert min(left[1:]) < 60, left
