"""What an anchor stands for: an entity by its key, by another name of it, by an identifier in a text, or by meaning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from retrieval.access import Space
from retrieval.domain.reading import nearest
from retrieval.domain.rules import Domain
from retrieval.records import EVIDENCE, Entity
from retrieval.typed.question import Anchor

NOT_FOUND = "There is nothing of this type with this key, name or identifier that you may see"


class Resolution(StrEnum):
    """How an anchor was resolved, the surest first."""

    KEY = "KEY"
    ALIAS = "ALIAS"
    ID_PATTERN = "ID_PATTERN"
    SEMANTIC = "SEMANTIC"


@dataclass(frozen=True, slots=True)
class ResolvedAnchor:
    """An anchor with an entity that it stands for."""

    anchor: Anchor
    entity: Entity
    resolved_by: Resolution

    @property
    def kind(self) -> str:
        """The type that was asked for."""
        return self.anchor.kind

    @property
    def value(self) -> str:
        """What was given for it."""
        return self.anchor.value

    @property
    def evidence(self) -> int:
        """How sure that is: by meaning it is concluded, else stated."""
        return EVIDENCE["INFERRED" if self.resolved_by is Resolution.SEMANTIC else "ASSERTED"]


@dataclass(frozen=True, slots=True)
class UnresolvedAnchor:
    """An anchor that stands for nothing, and why."""

    anchor: Anchor
    reason: str

    @property
    def kind(self) -> str:
        """The type that was asked for."""
        return self.anchor.kind

    @property
    def value(self) -> str:
        """What was given for it."""
        return self.anchor.value


Keys = tuple[Resolution, tuple[str, ...]]
"""Keys that a value may stand for, in one way."""


def keys_of(domain: Domain, anchor: Anchor, most: int) -> list[Keys]:
    """The keys that an anchor may stand for in a namespace, way by way in their order; of identifiers the first `most`."""
    alias = domain.key_of(anchor.value)
    found = dict.fromkeys(one.key for one in domain.identifiers(anchor.value) if one.type == anchor.kind)
    return [
        (Resolution.KEY, (anchor.value,)),
        (Resolution.ALIAS, () if alias is None else (alias,)),
        (Resolution.ID_PATTERN, tuple(found)[:most]),
    ]


def resolve(
    anchor: Anchor, spaces: Sequence[Space], ways: Mapping[int, Sequence[Keys]], known: Mapping[tuple[int, str], Entity]
) -> list[ResolvedAnchor]:
    """The entities of its type that an anchor stands for: in each namespace by the first way that finds one."""
    found: list[ResolvedAnchor] = []
    for space in spaces:
        for way, keys in ways[space.ns]:
            entities = [known[space.ns, key] for key in keys if (space.ns, key) in known]
            here = [ResolvedAnchor(anchor, entity, way) for entity in entities if entity.type == anchor.kind]
            if here:
                found += here
                break
    return found


def reason_of(
    anchor: Anchor, spaces: Sequence[Space], domains: Mapping[int, Domain], known: Mapping[tuple[int, str], Entity]
) -> str:
    """Why an anchor stands for nothing: it is of another type, of a type that no pack declares, or just not there."""
    others = sorted({known[space.ns, anchor.value].type for space in spaces if (space.ns, anchor.value) in known})
    if others:
        return f"The key belongs to something of type {others[0]!r}; give that as `kind`."
    return NOT_FOUND + hint(anchor.kind, [domains[space.ns] for space in spaces])


def hint(kind: str, domains: Iterable[Domain]) -> str:
    """The nearest type when packs declare types, and not this one."""
    listed = list(domains)
    declared = {name for domain in listed for name in domain.types}
    if not declared or kind in declared or not all(domain.packs for domain in listed):
        return "."
    return f". The domain packs declare no type {kind[:100]!r}{nearest(kind, declared) or '.'}"
