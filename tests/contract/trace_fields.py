"""The value that each field of the trace of a pack must have; those of other requests must only hold no token."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.contract.opaque import ANYTHING, OPAQUE, Page
from tests.contract.oracle import View
from tests.contract.pack_fields import shown
from tests.contract.pack_why import NOT_FOUND, Decision, why, why_entity
from tests.contract.packs import EDGES, WEIGHTS, Item, Pack, Thing, entity_of, id_of
from tests.fixtures.company import Fact


def outcome_of(pack: Pack, item: Item) -> str:
    assert item.thing is not None
    return why(pack, item.thing).outcome


def asked_of(pack: Pack, channel: str) -> int:
    return {"GRAPH": pack.nodes, "FACTS": min(pack.pool, EDGES)}.get(channel, pack.pool)


def returned_by(view: View, pack: Pack, channel: str) -> int:
    return sum(sees(view, thing) for _, thing in pack.lists[channel])


def sees(view: View, thing: Thing) -> bool:
    return view.sees(thing if isinstance(thing, Fact) else entity_of(thing))


def explained(
    view: View, pack: Pack, namespace: str | None = None, key: str | None = None, itemId: str | None = None
) -> Decision:
    """Why an item, or an entity, is in a pack or is not; what may not be seen is as what never was."""
    if itemId is not None:
        spaces = view.spaces
        facts = [*pack.standing, *view.facts(spaces)]  # a fact that was retracted is still there
        things: list[Thing] = [*view.entities(spaces), *view.fragments(spaces), *facts]
        found = [thing for thing in things if id_of(thing) == itemId and sees(view, thing)]
        return why(pack, found[0]) if found else NOT_FOUND
    spaces = [space for space in view.spaces if (space.name == namespace if namespace else space in pack.spaces)]
    entities = [one for one in view.entities(spaces) if one.key == key]
    return why_entity(pack, entities[0]) if entities else NOT_FOUND


TRACE_FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "Trace": {
        "traceId": lambda v, pack: OPAQUE,
        "namespaces": lambda v, pack: sorted(space.name for space in pack.spaces),
        "createdAt": lambda v, pack: OPAQUE,
        "operation": lambda v, pack: "contextPack",
        "strategy": lambda v, pack: pack.strategy,
        "channels": lambda v, pack: [(pack, channel) for channel in pack.channels],
        "stages": lambda v, pack: ANYTHING,
        "candidates": lambda v, pack, first=20: Page([one for one in pack.candidates if shown(v, one)], first),
        "budget": lambda v, pack: pack,
        "ephemeralSize": lambda v, pack: OPAQUE,
        "why": lambda v, pack, **given: explained(v, pack, **given),
    },
    "ChannelTrace": {
        "channel": lambda v, pair: pair[1],
        "weight": lambda v, pair: WEIGHTS[pair[1]],
        "asked": lambda v, pair: asked_of(*pair),
        "returned": lambda v, pair: returned_by(v, *pair),
        "exhausted": lambda v, pair: ANYTHING,
        "exact": lambda v, pair: ANYTHING,
        "milliseconds": lambda v, pair: OPAQUE,
    },
    "StageRecord": {
        **dict.fromkeys(("name", "needs", "startedMs", "milliseconds"), lambda v, _: OPAQUE),
        **dict.fromkeys(("count", "note"), lambda v, _: ANYTHING),
    },
    "TraceCandidateConnection": {"nodes": lambda v, page: page.shown, "pageInfo": lambda v, page: page},
    "TraceCandidate": {
        "itemId": lambda v, item: item.id,
        "kind": lambda v, item: item.kind,
        "title": lambda v, item: item.label(v),
        "score": lambda v, item: item.score,
        "signals": lambda v, item: item.signals,
        "outcome": lambda v, item: outcome_of(item.pack, item),
    },
    "Decision": {
        "outcome": lambda v, decision: decision.outcome,
        "explanation": lambda v, decision: OPAQUE,
        "score": lambda v, decision: decision.score,
        "signals": lambda v, decision: decision.signals,
        "channels": lambda v, decision: decision.channels,
    },
    "ChannelDecision": {
        "channel": lambda v, told: told[0],
        "rank": lambda v, told: told[1],
        "worstAdmittedRank": lambda v, told: told[2],
    },
}
