"""What the packs of a namespace allow, and what they make of a name: pure functions on values, without a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any

from retrieval.domain.pack import Cardinality, DomainPack, IdPattern, Predicate, ValueKind
from retrieval.domain.patterns import Identifier, identifiers
from retrieval.domain.reading import circles, nearest
from retrieval.errors import BadInput, Conflict
from retrieval.text import fold
from retrieval.tuning import PACK_HINTS_MOST

BUILT_IN = frozenset({"links_to", "about"})
"""Predicates that the server states itself, whatever a pack says: links of documents, what observations are about."""
WANTED = {
    ValueKind.STRING: "a text", ValueKind.INTEGER: "a whole number", ValueKind.NUMBER: "a number",
    ValueKind.BOOLEAN: "true or false", ValueKind.DATE: "a date such as 2026-09-05",
    ValueKind.DATE_TIME: "an instant with its zone such as 2026-09-05T00:00:00Z", ValueKind.OBJECT: "an object",
    ValueKind.LIST: "a list",
}  # fmt: skip


@dataclass(eq=False)
class Domain:
    """The packs of one namespace; without any, everything is allowed."""

    packs: tuple[DomainPack, ...]
    _hints: dict[str, str] = field(default_factory=dict)

    @cached_property
    def types(self) -> frozenset[str]:
        """All types that are declared."""
        return frozenset(name for pack in self.packs for name in pack.types)

    @cached_property
    def predicates(self) -> Mapping[str, Predicate]:
        """All predicates that are declared."""
        return {name: one for pack in self.packs for name, one in pack.predicates.items()}

    @cached_property
    def aliases(self) -> Mapping[str, str]:
        """What folded aliases stand for: a key or another alias."""
        return {fold(alias): target for pack in self.packs for alias, target in pack.aliases.items()}

    @cached_property
    def patterns(self) -> tuple[IdPattern, ...]:
        """All patterns, in the order of packs by name."""
        return tuple(one for pack in self.packs for one in pack.idPatterns)

    @property
    def single_valued(self) -> frozenset[str]:
        """Predicates that hold one value at a time."""
        return frozenset(name for name, one in self.predicates.items() if one.cardinality is Cardinality.ONE)

    def key_of(self, alias: str) -> str | None:
        """The key that an alias stands for, through other aliases; None for what is no alias."""
        found = self.aliases.get(fold(alias))
        while found is not None and (further := self.aliases.get(fold(found))) is not None:
            found = further
        return found

    def identifiers(self, text: str) -> list[Identifier]:
        """Identifiers of things in a free text."""
        return identifiers(self.patterns, text)

    def check_entity(self, kind: str, type_: str) -> None:
        """Refuse a thing of a type that no pack declares; texts keep the types that they come with."""
        if self.packs and kind == "THING" and type_ not in self.types:
            raise BadInput(f"`type`: the domain packs declare no type {type_[:100]!r}{self._hint(type_, self.types)}")

    def check_fact(self, name: str, subject: str, object_: str | None, value: Any) -> None:
        """Refuse what no pack declares: the predicate, the types at its ends, the value; `object_` is None where there is one."""
        self.check_ends(name, subject, object_)
        predicate = self.predicates.get(name)
        if predicate is not None and object_ is None:
            check_value(name, predicate, value)

    def check_ends(self, name: str, subject: str, object_: str | None) -> None:
        """Refuse a predicate that no pack declares, or one between such types."""
        if not self.packs or name in BUILT_IN:
            return
        predicate = self.predicates.get(name)
        if predicate is None:
            hint = self._hint(name, self.predicates)
            raise BadInput(f"`predicate`: the domain packs declare no predicate {name[:100]!r}{hint}")
        objects = predicate.objects or ()
        if subject not in predicate.subjects:
            raise BadInput(f"`subject`: {name} is said of {listed(predicate.subjects)}, and this is of type {subject[:100]!r}.")
        if object_ is not None and not objects:
            raise BadInput(f"`object`: {name} holds a value; give `value`.")
        if object_ is None and objects:
            raise BadInput(f"`value`: {name} leads to an entity; give `object`, the key of one of type {listed(objects)}.")
        if object_ is not None and object_ not in objects:
            raise BadInput(f"`object`: {name} leads to {listed(objects)}, and this is of type {object_[:100]!r}.")

    def _hint(self, name: str, known: Iterable[str]) -> str:
        """The nearest that is allowed; looked for a bounded number of times, since comparing many names takes its time."""
        if name not in self._hints:
            self._hints[name] = nearest(name, known) if len(self._hints) < PACK_HINTS_MOST else "."
        return self._hints[name]


def check_value(name: str, predicate: Predicate, value: Any) -> None:
    """Refuse a value that is not of the declared kind or not one of those that are taken."""
    kind = predicate.value
    if kind is not None and kind is not ValueKind.ANY and not is_of_kind(kind, value):
        raise BadInput(f"`value`: {name} takes {WANTED[kind]}.")
    if predicate.values is not None and not any(is_same(value, one) for one in predicate.values):
        raise BadInput(f"`value`: {name} takes one of {', '.join(map(repr, predicate.values[:20]))}.")


def is_of_kind(kind: ValueKind, value: Any) -> bool:
    """Whether a value of JSON is of a kind."""
    match kind:
        case ValueKind.STRING:
            return isinstance(value, str)
        case ValueKind.BOOLEAN:
            return isinstance(value, bool)
        case ValueKind.INTEGER:
            return not isinstance(value, bool) and (isinstance(value, int) or (isinstance(value, float) and value.is_integer()))
        case ValueKind.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ValueKind.OBJECT:
            return isinstance(value, dict)
        case ValueKind.LIST:
            return isinstance(value, list)
        case ValueKind.DATE:
            return isinstance(value, str) and is_date(value)
        case ValueKind.DATE_TIME:
            return isinstance(value, str) and is_instant(value)
        case ValueKind.ANY:
            return True


def is_date(text: str) -> bool:
    """Whether a text is a date of ISO 8601, written in full."""
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def is_instant(text: str) -> bool:
    """Whether a text is an instant with its zone."""
    try:
        return datetime.fromisoformat(text).utcoffset() is not None
    except ValueError:
        return False


def is_same(value: Any, other: Any) -> bool:
    """Whether two values of JSON are one: 1 and 1.0 are, 1 and true are not."""
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def listed(names: Iterable[str]) -> str:
    """Types for a sentence."""
    return " or ".join(repr(name) for name in list(names)[:8]) or "nothing"


def joined(packs: Iterable[DomainPack]) -> Domain:
    """The rules of several packs; raises `Conflict` where they contradict each other."""
    domain = Domain(tuple(sorted(packs, key=lambda pack: pack.name)))
    owners: dict[tuple[str, str], str] = {}
    for pack in domain.packs:
        named = [*(("predicate", name) for name in pack.predicates), *(("alias", fold(name)) for name in pack.aliases)]
        for one in named:
            if one in owners:
                raise Conflict(f"The {one[0]} {one[1][:100]!r} of pack {pack.name} is declared by pack {owners[one]} already.")
            owners[one] = pack.name
    for _, message in circles({alias: target for pack in domain.packs for alias, target in pack.aliases.items()}):
        raise Conflict(f"Together with the other packs, {message}.")
    return domain
