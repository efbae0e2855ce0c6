"""Says in plain Python what each caller may see of a world; shares neither code nor SQL with the product."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from tests.fixtures.company import ROLES, Entity, Fact, Fragment, Namespace, Principal, Source, World
from tests.fixtures.personal_numbers import Number


@dataclass(frozen=True)
class Step:
    kind: str
    label: str
    space: Namespace | None = None
    key: str | None = None
    at: datetime | None = None
    by: str | None = None
    uri: str | None = None
    sha256: str | None = None
    node: Any = None


class Refused(Exception):
    """The answer is an error of this code and nothing else."""


class View:
    """What one principal may see of a world as it is now; make another when the world changes."""

    def __init__(self, world: World, me: Principal) -> None:
        self.world = world
        self.me = me
        self.stands_for = self.closure(me)
        self.is_close = False
        """Set when two items of a list are so near each other that rounding decides their order."""

    def closure(self, me: Principal) -> set[int]:
        """The principal, every group that holds it at any depth, and everyone."""
        found, front = {me.id, 1}, [me.id, 1]
        while front:
            one = front.pop()
            for group in self.world.principals:
                if group.id not in found and any(member.id == one for member in group.members):
                    found.add(group.id)
                    front.append(group.id)
        return found

    def roles(self, space: Namespace) -> list[str]:
        """The roles held in a namespace, least first."""
        held = set(ROLES) if self.me.administrator else {role for id, role in space.roles if id in self.stands_for}
        return [role for role in ROLES if role in held]

    @cached_property
    def spaces(self) -> list[Namespace]:
        """The namespaces that may be read, by name."""
        return sorted((space for space in self.world.namespaces if self.roles(space)), key=lambda space: space.name)

    def sees(self, thing: Any) -> bool:
        """Whether the caller may see a principal's name, a namespace, an entity or a fact."""
        if isinstance(thing, Principal):
            return thing.id in self.stands_for
        if isinstance(thing, Namespace):
            return thing in self.spaces
        if isinstance(thing, Entity):
            granted = not thing.acl or bool(thing.readers & self.stands_for)
            return thing.space in self.spaces and (granted or {"WRITER", "ADMIN"} & set(self.roles(thing.space)) != set())
        if isinstance(thing, Fact):
            ends = self.sees(thing.subject) and (thing.object is None or self.sees(thing.object))
            return ends and (not thing.places or any(self.sees(place) for place in thing.places))
        raise TypeError(thing)

    def shows(self, space: Namespace) -> bool:
        """Whether personal data of a namespace are read as they are stored."""
        return "PERSONAL_DATA" in self.roles(space)

    def text(self, space: Namespace, text: Any) -> Any:
        """A stored text, or None, as the caller reads it."""
        return text if text is None or self.shows(space) else self.world.masked(text)

    def value(self, space: Namespace, value: Any) -> Any:
        """A stored JSON value as the caller reads it."""
        return value if self.shows(space) else self.world.masked_value(value)

    def asked(self, spaces: Iterable[Namespace], filter: dict[str, Any] | None) -> dict[str, Any]:
        """A filter as it counts: unless all of the namespaces show personal data, those in it match nothing."""
        given = filter or {}
        return given if all(self.shows(space) for space in spaces) else self.world.masked_value(given)

    @cached_property
    def unread(self) -> frozenset[Number]:
        """Numbers of personal data that no byte for this caller may hold, however they are written."""

        def reads(owner: Any) -> bool:
            return self.shows(owner.subject.space if isinstance(owner, Fact) else owner.space) and self.sees(owner)

        return frozenset(one for one, owners in self.world.people.items() if not any(reads(owner) for owner in owners))

    @cached_property
    def forbidden(self) -> frozenset[str]:
        """Tokens that no byte for this caller may hold."""
        return frozenset(token for token, owners in self.world.owners.items() if not any(self.sees(owner) for owner in owners))

    @cached_property
    def _entities(self) -> dict[Namespace, list[Entity]]:
        found: dict[Namespace, list[Entity]] = {space: [] for space in self.world.namespaces}
        for entity in self.world.entities:
            if self.sees(entity):
                found[entity.space].append(entity)
        return found

    @cached_property
    def _facts(self) -> dict[Namespace, list[Fact]]:
        found: dict[Namespace, list[Fact]] = {space: [] for space in self.world.namespaces}
        for fact in self.world.facts:
            if self.sees(fact):
                found[fact.subject.space].append(fact)
        return found

    def entities(self, spaces: Iterable[Namespace]) -> list[Entity]:
        among = set(spaces)
        return [entity for space in self.world.namespaces if space in among for entity in self._entities[space]]

    def fragments(self, spaces: Iterable[Namespace]) -> list[Fragment]:
        return [fragment for entity in self.entities(spaces) for fragment in entity.fragments]

    def facts(self, spaces: Iterable[Namespace]) -> list[Fact]:
        among = set(spaces)
        return [fact for space in self.world.namespaces if space in among for fact in self._facts[space]]

    def named(self, names: list[str] | None) -> list[Namespace]:
        """The namespaces asked for, in their order; raises `Refused` when one of them may not be read."""
        if names is None:
            return self.spaces
        known = {space.name: space for space in self.spaces}
        if not known.keys() >= set(names):
            raise Refused("NAMESPACE_NOT_FOUND")
        return [known[name] for name in dict.fromkeys(names)]

    def entity(self, namespace: str, key: str) -> Entity | None:
        (space,) = self.named([namespace])
        return next((entity for entity in self._entities[space] if entity.key == key), None)

    @cached_property
    def _nodes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for entity in self.entities(self.spaces):
            found[public_id("e", entity.space, entity.id)] = entity
            if entity.source is not None:
                found[public_id("s", entity.space, entity.id)] = entity.source
            found |= {public_id("f", entity.space, fragment.id): fragment for fragment in entity.fragments}
        return found

    def node(self, id: str) -> Any:
        return self._nodes.get(id)

    def trace(self, id: str) -> Any:
        """What was traced, for whoever made it and whoever administers all that it looked at, while that may be read."""
        maker, traced = self.world.traces.get(id, (None, None))
        if traced is None or not all(self.sees(space) for space in traced.spaces):
            return None
        return traced if maker is self.me or all("ADMIN" in self.roles(space) for space in traced.spaces) else None


def public_id(letter: str, space: Namespace, number: int) -> str:
    return base64.urlsafe_b64encode(f"{letter}:{space.ns}:{number}".encode()).decode().rstrip("=")


def origin(view: View, source: Source) -> Step:
    space, key = source.entity.space, source.entity.key
    uri, connector, author = (view.text(space, one) for one in (source.uri, source.connector, source.author))
    digest = hashlib.sha256(source.content.encode()).hexdigest()
    return Step(
        "ORIGIN", uri or connector or source.media_type, space, key, source.fetched, author or connector, uri, digest, source
    )  # fmt: skip


def chain_of_entity(view: View, entity: Entity) -> list[Step]:
    kind, title = "ENTITY" if entity.kind == "THING" else entity.kind, view.text(entity.space, entity.title)
    step = Step(kind, title, entity.space, entity.key, entity.occurred or entity.updated, node=entity)
    return [step, *([origin(view, entity.source)] if entity.source else [])]


def chain_of_fragment(view: View, fragment: Fragment) -> list[Step]:
    entity = fragment.entity
    label = " — ".join(view.text(entity.space, part) for part in (entity.title, fragment.heading) if part)
    step = Step("FRAGMENT", label, entity.space, entity.key, entity.updated, node=fragment)
    return [step, *chain_of_entity(view, entity)]


def chain_of_fact(view: View, fact: Fact) -> list[Step]:
    places = sorted((place for place in fact.places if view.sees(place)), key=lambda place: place.id)
    step = Step("FACT", fact.predicate, fact.subject.space, at=fact.recorded)
    return [step, *(step for place in places for step in chain_of_entity(view, place))]
