"""The value that each field of a pack and of its trace must have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.contract.opaque import ANYTHING
from tests.contract.oracle import View
from tests.contract.pack_texts import price
from tests.contract.packs import Item, Pack, entity_of
from tests.fixtures.company import Entity, Fact, Fragment


def shown(view: View, item: Item) -> bool:
    """Whether a reader may see an item now; the caller's own state is in no trace."""
    if item.thing is None:
        return True
    return view.sees(item.thing if isinstance(item.thing, Fact) else entity_of(item.thing))


def path(view: View, item: Item) -> str | None:
    if not isinstance(item.thing, Fragment | Entity):
        return None
    found: str | None = view.text(entity_of(item.thing).space, entity_of(item.thing).path)
    return found


def dropped(view: View, pack: Pack) -> list[tuple[Item, str]]:
    return [(item, reason) for item, reason in pack.choice.dropped if shown(view, item)]


PACK_FIELDS: dict[str, dict[str, Callable[..., Any]]] = {
    "ContextPack": {
        "question": lambda v, pack: pack.question,
        "sections": lambda v, pack, kinds=None: pack.shown(kinds),
        "sources": lambda v, pack: pack.sources,
        "text": lambda v, pack: pack.rendered,
        "textTokenEstimate": lambda v, pack: price(pack.rendered),
        "tokenEstimate": lambda v, pack: pack.choice.used,
        "budget": lambda v, pack: pack,
        "conflicts": lambda v, pack: pack.conflicts,
        "degraded": lambda v, pack: [],
        "traceId": lambda v, pack: ANYTHING,  # null where it took too long to store
        "trace": lambda v, pack: pack,
    },
    "Section": {
        "kind": lambda v, section: section[0],
        "tokenEstimate": lambda v, section: sum(item.price for item in section[1]),
        "items": lambda v, section: section[1],
    },
    "PackItem": {
        "itemId": lambda v, item: item.id,
        "kind": lambda v, item: item.kind,
        "title": lambda v, item: item.title(v),
        "text": lambda v, item: item.text,
        "namespace": lambda v, item: item.space and item.space.name,
        "sourcePath": lambda v, item: path(v, item),
        "score": lambda v, item: item.score,
        "signals": lambda v, item: item.signals,
        "tokenEstimate": lambda v, item: item.price,
        "conflict": lambda v, item: item.conflict,
        "neutralized": lambda v, item: False,  # nothing in a world needs it
        "provenance": lambda v, item: item.chain(v),
        "fragment": lambda v, item: item.thing if isinstance(item.thing, Fragment) else None,
        "fact": lambda v, item: item.thing if isinstance(item.thing, Fact) else None,
        "entity": lambda v, item: item.thing if isinstance(item.thing, Entity) else None,
    },
    "Budget": {
        "maxTokens": lambda v, pack: pack.budget,
        "usedTokens": lambda v, pack: sum(item.price for item in pack.choice.entered if shown(v, item)),
        "truncated": lambda v, pack: pack.choice.is_cut or dropped(v, pack) != [],
        "dropped": dropped,
    },
    "DroppedItem": {
        "itemId": lambda v, pair: pair[0].id,
        "kind": lambda v, pair: pair[0].kind,
        "title": lambda v, pair: pair[0].label(v),
        "score": lambda v, pair: pair[0].score,
        "tokenEstimate": lambda v, pair: pair[0].price,
        "reason": lambda v, pair: pair[1],
    },
}
