"""Changes to entities that are no documents, for random histories: upserts, notes about others, and erasing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from retrieval.ingest.statistics import refresh_statistics
from tests.contract.asking import literal, text
from tests.fixtures.company import START, Entity, Fact, Fragment, Source

if TYPE_CHECKING:
    from tests.contract.history import History

LIVE = """select f.row_id, f.fact_id, f.recorded_at from fact f where f.ns = $1 and f.subject_id = $2 and f.object_id = $3
             and f.predicate = 'about' and f.retracted_at is null"""


@dataclass(frozen=True, eq=False)
class Note:
    """What an observation is about, for as long as it has this source."""

    source: Source
    about: list[str]
    at: datetime


@dataclass
class Notes:
    """The observations of a history, and the facts that came of them."""

    history: History
    notes: dict[Entity, Note] = field(default_factory=dict)
    facts: dict[tuple[Entity, Entity], Fact] = field(default_factory=dict)

    @property
    def ways(self) -> tuple[tuple[int, Callable[[], Awaitable[str]]], ...]:
        """The changes, and how often each happens."""
        return (3, self.upsert), (3, self.observe), (1, self.erase)

    async def upsert(self) -> str:
        """Describe an entity anew; one with a text only when that was written by a mutation, since it is read again."""
        history, world = self.history, self.history.world
        known = [one for one in world.entities if one.source is None or one in history.given]
        fresh = not known or history.maybe(0.3)
        entity = history.entity(history.chance.choice(world.namespaces)) if fresh else history.chance.choice(known)
        given = self.described(entity) + history.restricted(entity)
        answer = await history.mutate("upsertEntities", f"namespace: {text(entity.space.name)}, entities: [{{ {given} }}]")
        assert answer["results"][0]["outcome"] in ("CREATED", "UPDATED", "UNCHANGED"), answer
        await history.read_ids(entity)
        history.tidy(entity)
        return f"upserted {entity.id} {entity.key} restricted {entity.acl} for {entity.readers}"

    def described(self, entity: Entity) -> str:
        """Give an entity another description; gives the fields that say so."""
        history, chance = self.history, self.history.chance
        entity.title, entity.type = (
            f"{chance.choice(history.world.words)} {history.token(entity)}",
            chance.choice(["page", "ticket"]),
        )
        given: dict[str, Any] = {"key": entity.key, "title": entity.title, "type": entity.type}
        if history.maybe(0.5):
            entity.status = given["status"] = f"upserted {history.token(entity)}"
        if history.maybe(0.3):
            entity.path, given["sourcePath"] = None, ""
        if history.maybe(0.3):
            entity.scopes = given["relevanceScopes"] = [f"project:{history.token(entity)}"]
        said = ", ".join(f"{name}: {text(value)}" for name, value in given.items())
        if entity.source is None:
            entity.kind = chance.choice(["THING", "EPISODE"])
            said += f", kind: {entity.kind}"
        if history.maybe(0.5):
            entity.meta = {"tag": chance.choice(["a", "b"]), "note": history.token(entity)}
            said += f", meta: {literal(entity.meta)}"
        if history.maybe(0.6):
            begin, attributes = START + timedelta(days=90 * chance.randrange(5)), {"owner": history.token(entity)}
            entity.versions = [*(one for one in entity.versions if one[0] != begin), (begin, attributes)]
            said += f", attributes: {literal(attributes)}, validFrom: {text(begin.isoformat())}"
        for fragment in entity.fragments:
            fragment.meta, fragment.pending = entity.meta, True
        return said

    async def observe(self) -> str:
        """Record a note about some entities, of which one may be gone and come back."""
        history, chance = self.history, self.history.chance
        space = chance.choice(history.world.namespaces)
        entity = history.entity(space)
        here = [one.key for one in history.world.entities if one.space is entity.space and one is not entity]
        here += [key for gone, key in history.gone if gone is entity.space]
        here = [key for key in dict.fromkeys(here) if key != entity.key]
        about = chance.sample(here, min(len(here), chance.randint(0, 3)))
        words = " ".join(chance.choices(history.world.words, k=chance.randint(3, 8)))
        entity.title = f"{words} {history.token(entity)}"
        entity.kind, entity.type, entity.occurred = "OBSERVATION", "observation", START + timedelta(days=chance.randrange(400))
        entity.scopes = [f"project:{history.token(entity)}"] if history.maybe(0.5) else []
        entity.source = Source(entity, entity.title, "ORIGINAL", "text/plain", None, None, f"by {history.token(entity)}", None)
        entity.fragments = [Fragment(entity, 0, 0, "", entity.title, {}, [], pending=True, titled=3)]
        given = {"key": entity.key, "text": entity.title, "by": entity.source.author, "observedAt": entity.occurred.isoformat(),
                 "about": about, "relevanceScopes": entity.scopes}  # fmt: skip
        said = ", ".join(f"{name}: {text(value)}" for name, value in given.items()) + history.restricted(entity)
        answer = await history.mutate("recordObservations", f"namespace: {text(entity.space.name)}, observations: [{{ {said} }}]")
        assert answer["results"][0]["outcome"] == "CREATED", answer
        await history.read_ids(entity)
        self.notes[entity] = Note(entity.source, about, entity.occurred)
        return f"noted {entity.id} {entity.key} about {about}"

    async def follow(self) -> None:
        """Learn of the facts that came of notes: when their target came, and when another text took their place."""
        world = self.history.world
        stand = {one: note for one, note in self.notes.items() if one in world.entities and one.source is note.source}
        keys = {(one.space, one.key): one for one in world.entities} if stand else {}
        wanted = {
            (one, keys[one.space, key]): note for one, note in stand.items() for key in note.about if (one.space, key) in keys
        }
        for ends, fact in list(self.facts.items()):
            if fact not in world.facts:
                del self.facts[ends]
            elif ends[0] not in stand:
                ((fact.retracted,),) = await self.history.sql("select retracted_at from fact where row_id = $1", fact.row)
                assert fact.retracted is not None
                del self.facts[ends]
        for ends, note in wanted.items():
            if ends not in self.facts:
                self.facts[ends] = await self.stated(*ends, note)
        self.notes = stand

    async def stated(self, entity: Entity, target: Entity, note: Note) -> Fact:
        """The one fact that says that a note is about something."""
        ((row, number, recorded),) = await self.history.sql(LIVE, entity.space.ns, entity.id, target.id)
        fact = Fact(row, number, entity, "about", target, None, note.at, None, recorded, None, 2, list(entity.scopes), [entity])
        self.history.world.facts.append(fact)
        return fact

    async def erase(self) -> str:
        """Erase an entity, and with it the observations about it that stand."""
        history = self.history
        entity = history.chance.choice(history.world.entities)
        said = await history.mutate(
            "deleteEntity", f"namespace: {text(entity.space.name)}, key: {text(entity.key)}, erase: true", "counts"
        )
        gone = self.with_notes(entity)
        assert said["counts"]["observations"] == len(gone) - 1, (said, [one.key for one in gone])
        for one in gone:
            history.gone.append((one.space, one.key))
            history.lose_entity(one)
            history.given.pop(one, None)
        await refresh_statistics(history.checks[0].store.database, entity.space.ns)
        return f"{[one.id for one in gone]} erased"

    def with_notes(self, entity: Entity) -> list[Entity]:
        """An entity, the observations that facts about it rest on or that wait for it, and so on."""
        gone, front = [entity], [entity]
        while front:
            one = front.pop()
            told = [place for fact in self.history.world.facts if one in (fact.subject, fact.object) and fact.retracted is None
                    for place in fact.places]  # fmt: skip
            told += [other for other, note in self.notes.items() if other.space is one.space and one.key in note.about]
            for other in told:
                if other.kind == "OBSERVATION" and other not in gone:
                    gone.append(other)
                    front.append(other)
        return gone
