"""No number of personal data reaches a caller without the right, whatever is selected, asked, filtered or gone wrong (spec 2)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable

import pytest
from graphql import GraphQLObjectType, get_named_type

from tests.contract.checking import numbers_in
from tests.contract.conftest import Comparisons
from tests.contract.fields import FIELDS
from tests.contract.number_asking import ECHOES, PARTS, masks_in, requests, shown_to, texts_of
from tests.contract.oracle import View
from tests.fixtures.bases import Bases
from tests.fixtures.company import World
from tests.fixtures.personal_numbers import KINDS
from tests.fixtures.random_world import random_world
from tests.fixtures.world import api, opened, post, served, store_world

SEED, SHARE = 120, 5


def all_texts() -> set[str]:
    """Every field of the schema that the oracle knows and that gives text."""
    return {
        f"{kind}.{name}"
        for kind in FIELDS
        if isinstance(named := api()._schema.type_map[kind], GraphQLObjectType)
        for name, field in named.fields.items()
        if str(get_named_type(field.type)) in ("String", "JSON")
    }


def readers(world: World) -> list[View]:
    """Callers who read texts with masks in them, most numbers first."""
    views = [View(world, caller) for caller in world.callers]
    able = [view for view in views if any(not view.shows(one.space) for one in view.entities(view.spaces) if one.fragments)]
    return sorted(able, key=lambda view: -len(view.entities(view.spaces)))[:SHARE]


@pytest.mark.parametrize("count", [1_000, pytest.param(10_000, marks=pytest.mark.long)])
async def test_no_number_leaves_by_any_random_selection(
    bases: Bases, log_text: Callable[[], str], comparisons: Comparisons, count: int
) -> None:
    url, world, chance, seen, masks, done, shown = bases.new(), random_world(SEED), random.Random(SEED), set(), set(), 0, 0
    await store_world(url, world)
    views, admin = readers(world), world.named("admin")
    assert len(views) == SHARE
    async with opened(url) as store, served(store) as client:
        asked = [(view, requests(view, chance)) for view in views]
        while done < count:
            view, documents = asked[done // PARTS % len(asked)]
            document = next(documents)
            response = await post(client, document, view.me.token)
            found = numbers_in(view, response.text + str(response.headers))
            assert found == [], "\n".join((view.me.name, *(str(one.ways) for one in found), document, response.text))
            answer = response.json()
            assert response.status_code == 200, response.text
            if answer.get("data"):
                done += PARTS
                seen |= texts_of(api()._schema, document)
                masks |= masks_in(answer)
                if done % (50 * PARTS) == 0:
                    shown += shown_to(world, json.dumps((await post(client, document, admin.token)).json(), ensure_ascii=False))
        written = log_text() + (await client.get("/metrics")).text
    for view in views:
        assert numbers_in(view, written) == []
    assert masks == set(KINDS)
    assert shown > 0, "whoever holds the right reads what the others do not"
    assert all_texts() - seen - ECHOES == set()
    comparisons(done)
