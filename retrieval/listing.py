"""A list of entities, page by page: the page and the count are stages of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from retrieval.access import Space
from retrieval.catalogue import entity_of
from retrieval.cursor import make_cursor, read_cursor
from retrieval.entity_filter import EntityFilter
from retrieval.primitives.filters import entity_filter_values
from retrieval.records import Entity
from retrieval.stage import Work, stage

if TYPE_CHECKING:
    from retrieval.session import Session


class EntityOrder(StrEnum):
    """What entities are ordered by: texts ascending by code point, dates newest first; ties by id."""

    KEY = "KEY"
    TITLE = "TITLE"
    CREATED = "CREATED"
    UPDATED = "UPDATED"
    OCCURRED = "OCCURRED"


@dataclass(frozen=True, slots=True)
class ListQuestion:
    """One list as a value; equal ones of a request share their work. `after` is a cursor."""

    namespaces: tuple[str, ...] | None
    filter: EntityFilter
    order: EntityOrder
    first: int
    after: str | None


class Listing:
    """One list inside one session; raises `BadCursor` for a cursor of another caller, filter, order or other namespaces."""

    def __init__(self, session: Session, question: ListQuestion, spaces: Sequence[Space], caller: str) -> None:
        self.session = session
        self.question = question
        self.spaces = tuple(spaces)
        self.work: Work = session.work
        self.reader = session.reader(spaces)
        names = question.namespaces
        self._secret = session.store.base.cursor_secret
        self._scope = [caller, "entities", names and sorted(names), question.filter.digest, question.order]
        self._ordered_by: dict[tuple[int, int], str] = {}
        self._after = None if question.after is None else read_cursor(self._secret, self._scope, question.after)

    @stage
    async def page(self) -> list[Entity]:
        """The entities of the page, and one more when there is one."""
        order, first = self.question.order, self.question.first
        text, date, ns, entity_id = self._after or (None, None, None, None)
        after = (text, None if date is None else datetime.fromisoformat(date), ns, entity_id)
        shown = [space.ns for space in self.spaces if self.reader.shows(space.ns)]
        rows = await self.reader.rows("entities", *await self._filter(), order, *after, first + 1, shown)
        for row in rows:
            ns, text = row["ns"], row["ordered_by"]
            self._ordered_by[ns, row["entity_id"]] = self.reader.shown(ns, text) if order is EntityOrder.TITLE else text
        return [entity_of(row, self.reader) for row in rows]

    @stage
    async def total(self) -> int:
        """How many entities there are on all pages."""
        rows = await self.reader.rows("entities_counted", *await self._filter())
        return rows[0]["n"] if rows else 0

    def cursor(self, entity: Entity) -> str:
        """The cursor of an entity of the page; it holds a title as it is ordered, which for some readers is without numbers."""
        date = date_of(entity, self.question.order)
        place = [self._ordered_by[entity.ns, entity.entity_id], None if date is None else date.isoformat()]
        return make_cursor(self._secret, self._scope, [*place, entity.ns, entity.entity_id])

    async def _filter(self) -> tuple[Any, ...]:
        return entity_filter_values(self.reader.asked(self.question.filter), await self.session.now())


def date_of(entity: Entity, order: EntityOrder) -> datetime | None:
    """The date that an entity is ordered by; None in an order by text."""
    dates = {
        EntityOrder.CREATED: entity.created_at,
        EntityOrder.UPDATED: entity.updated_at,
        EntityOrder.OCCURRED: entity.occurred_at,
    }
    return dates.get(order)
