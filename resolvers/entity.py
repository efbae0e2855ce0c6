"""What fields of entities, fragments and facts do beyond naming an attribute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Generic, TypeVar

import strawberry

from resolvers.arguments import AsOf, First, Info, page_size
from resolvers.provenance import Step, of_entity, of_fact, of_fragment
from retrieval import records
from retrieval.cursor import make_cursor, read_cursor
from retrieval.keys import public_id
from retrieval.question import check_instant
from retrieval.sealing import safe_text

After = Annotated[str | None, strawberry.argument(description="Cursor to start after; null starts at the first.")]
Item = TypeVar("Item")
Neutralized = Annotated[bool, strawberry.argument(description="Give the form that is safe inside a prompt.")]


@dataclass(frozen=True, slots=True)
class PageInfo:
    """Where a page stands."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@dataclass(frozen=True, slots=True)
class Edge(Generic[Item]):
    """An item with its cursor."""

    cursor: str
    node: Item


def page_info(edges: Sequence[Edge[Any]], has_next_page: bool, after: str | None) -> PageInfo:
    """Where a page stands that starts after a cursor."""
    return PageInfo(
        has_next_page=has_next_page,
        has_previous_page=after is not None,
        start_cursor=edges[0].cursor if edges else None,
        end_cursor=edges[-1].cursor if edges else None,
    )


@dataclass(frozen=True, slots=True, eq=False)
class FragmentPage:
    """A page of an entity's fragments."""

    entity: records.Entity
    edges: Sequence[Edge[records.Fragment]]
    page_info: PageInfo

    @property
    def nodes(self) -> list[records.Fragment]:
        """The fragments."""
        return [edge.node for edge in self.edges]


async def fragments_counted(root: FragmentPage, info: Info) -> int:
    """The visible fragments of an entity, counted only when it is asked."""
    catalogue = await info.context.catalogue()
    return await catalogue.fragment_counts.one((root.entity.ns, root.entity.entity_id)) or 0


def itself(root: Any) -> Any:
    """An entity is its own card."""
    return root


def fragment_card(root: records.Fragment) -> records.Entity:
    """The card of a fragment is its entity."""
    return root.entity


def entity_id(root: records.Entity) -> str:
    """The public id."""
    return public_id("entity", root.ns, root.entity_id)


def fragment_id(root: records.Fragment) -> str:
    """The public id."""
    return public_id("fragment", root.ns, root.fragment_id)


def fragment_namespace(root: records.Fragment) -> str:
    """The namespace of the entity."""
    return root.entity.namespace


def fragment_text(root: records.Fragment, neutralized: Neutralized = False) -> str:
    """The text, or its safe form."""
    return safe_text(root) if neutralized else root.text


def fragment_tokens(root: records.Fragment, info: Info) -> int:
    """An estimate by characters, or exact where a tokenizer is installed."""
    return info.context.store.tokenizer.count(root.text)


async def source(root: records.Entity, info: Info) -> records.Source | None:
    """The stored original."""
    catalogue = await info.context.catalogue()
    return await catalogue.sources.one((root.ns, root.entity_id))


async def attributes(root: records.Entity, info: Info, as_of: AsOf = None) -> dict[str, Any]:
    """The attributes in force at an instant."""
    at = await info.context.now() if as_of is None else check_instant("asOf", as_of)
    catalogue = await info.context.catalogue()
    return await catalogue.attributes.one((root.ns, root.entity_id, at)) or {}


async def fragments(root: records.Entity | records.Source, info: Info, first: First = 20, after: After = None) -> FragmentPage:
    """A page of the fragments of an entity or of its source."""
    entity = root.entity if isinstance(root, records.Source) else root
    size = page_size(info, first)
    caller = await info.context.caller
    scope = [caller.name, "fragments", entity.ns, entity.entity_id]
    secret = info.context.store.base.cursor_secret
    position = -1 if after is None else read_cursor(secret, scope, after)[0]
    found = await (await info.context.catalogue()).fragments_of(entity, position, size + 1)
    edges = [Edge(make_cursor(secret, scope, [fragment.ordinal]), fragment) for fragment in found[:size]]
    return FragmentPage(entity, edges, page_info(edges, len(found) > size, after))


def fact_id(root: records.Fact) -> str:
    """The public id."""
    return public_id("fact", root.ns, root.fact_id)


async def fact_subject(root: records.Fact, info: Info) -> records.Entity | None:
    """The entity that the fact is about."""
    return await (await info.context.catalogue()).entities.one((root.ns, root.subject_id))


async def fact_object(root: records.Fact, info: Info) -> records.Entity | None:
    """The entity that the fact leads to."""
    if root.object_id is None:
        return None
    return await (await info.context.catalogue()).entities.one((root.ns, root.object_id))


async def in_force(root: records.Fact, info: Info, as_of: AsOf = None) -> bool:
    """Whether the fact holds at an instant and is not retracted."""
    at: datetime = await info.context.now() if as_of is None else check_instant("asOf", as_of)
    began = root.valid_from is None or root.valid_from <= at
    return root.retracted_at is None and began and (root.valid_to is None or root.valid_to > at)


async def fragment_provenance(root: records.Fragment, info: Info) -> list[Step]:
    """Fragment, entity, origin."""
    return await of_fragment(await info.context.catalogue(), root)


async def entity_provenance(root: records.Entity, info: Info) -> list[Step]:
    """Entity, origin."""
    return await of_entity(await info.context.catalogue(), root)


async def fact_provenance(root: records.Fact, info: Info) -> list[Step]:
    """Fact, the places that stated it, their origins."""
    return await of_fact(await info.context.catalogue(), root)
