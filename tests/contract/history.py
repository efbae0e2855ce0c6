"""Changes a base at random through the API, and the model with it, while every cache is warm."""

from __future__ import annotations

import json
import random
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Any

import asyncpg

from retrieval.administration.principals import delete_principal
from retrieval.administration.rights import local_administrator
from retrieval.ingest.queue import embed_pending
from retrieval.ingest.statistics import refresh_statistics
from retrieval.store import Store
from tests.contract import lists
from tests.contract.asking import literal, some_words, text
from tests.contract.checking import Checks
from tests.contract.noting import Notes
from tests.contract.oracle import View
from tests.contract.probing import Probe, probes
from tests.fixtures.company import CLOCK, Entity, Fragment, Namespace, Principal, Source, World
from tests.fixtures.random_world import LETTERS, TOKEN
from tests.fixtures.world import codes, execute

Step = Callable[[], Awaitable[str]]


class Model:
    """What the world becomes by a change; knows nothing of the base."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self.world, self.chance = world, chance

    @property
    def groups(self) -> list[Principal]:
        return [one for one in self.world.principals if one.kind == "GROUP" and one.id != 1]

    @property
    def people(self) -> list[Principal]:
        return [one for one in self.world.principals if one.kind != "GROUP" and not one.administrator]

    def token(self, owner: Any) -> str:
        token = "".join(self.chance.choices(LETTERS, k=TOKEN))
        self.world.owners[token] = [owner]
        return token

    def maybe(self, share: float) -> bool:
        return self.chance.random() < share

    def bereave(self, one: Principal) -> None:
        """Take all rights and memberships from a principal."""
        for space in self.world.namespaces:
            space.roles = {held for held in space.roles if held[0] != one.id}
        for entity in self.world.entities:
            entity.readers -= {one.id}
        for other in self.world.principals:
            other.members = [member for member in other.members if member is not one]
        one.members = []

    def lose_source(self, entity: Entity) -> None:
        """Take the text out, and the facts that rest on it alone."""
        entity.source, entity.fragments = None, []
        for fact in list(self.world.facts):
            if entity in fact.places:
                fact.places = [place for place in fact.places if place is not entity]
                if not fact.places:
                    self.lose_fact(fact)

    def lose_fact(self, fact: Any) -> None:
        self.world.facts.remove(fact)
        self.disown(fact, "")

    def lose_entity(self, entity: Entity) -> None:
        for fact in [fact for fact in self.world.facts if entity in (fact.subject, fact.object)]:
            self.lose_fact(fact)
        self.lose_source(entity)
        self.world.entities.remove(entity)
        self.disown(entity, "")

    def tidy(self, entity: Entity) -> None:
        """Forget the tokens that no longer stand anywhere in an entity."""
        source = entity.source and [entity.source.content, entity.source.connector, entity.source.uri, entity.source.author]
        parts = [(one.heading, one.text, one.meta, one.identifiers) for one in entity.fragments]
        held = (entity.key, entity.title, entity.status, entity.path, entity.meta, entity.scopes, entity.versions, source, parts)
        self.disown(entity, repr(held))

    def disown(self, owner: Any, held: str) -> None:
        for token, owners in self.world.owners.items():
            if token not in held:
                owners[:] = [one for one in owners if one is not owner]

    def written(self, entity: Entity) -> str:
        """Give an entity a new text; gives the fields of the source that says so."""
        entity.title = f"{self.chance.choice(self.world.words)} {self.token(entity)}"
        entity.kind = self.chance.choice(["DOCUMENT", "EPISODE", "OBSERVATION"])
        entity.type, entity.occurred = self.chance.choice(["page", "ticket"]), None
        entity.status = f"shut {self.token(entity)}" if self.maybe(0.5) else None
        entity.path = f"/moved/{self.token(entity)}" if self.maybe(0.5) else None
        entity.meta = {"tag": self.chance.choice(["a", "b"]), "note": self.token(entity)}
        entity.scopes = [f"project:{self.token(entity)}"] if self.maybe(0.5) else []
        entity.fragments = []
        for ordinal in range(self.chance.choice([1, 1, 2, 3])):
            words = " ".join(self.chance.choices(self.world.words, k=self.chance.randint(3, 12)))
            piece = Fragment(entity, 0, ordinal, f"Part {self.token(entity)}", f"{words} {self.token(entity)}",
                             entity.meta, [], pending=True, titled=3)  # fmt: skip
            entity.fragments.append(piece)
        content = "\n\n".join(f"## {piece.heading}\n\n{piece.text}" for piece in entity.fragments)
        entity.source = Source(entity, content, "ORIGINAL", "text/markdown", None, None, None, None)
        given = {"key": entity.key, "title": entity.title, "content": content, "type": entity.type, "status": entity.status,
                 "sourcePath": entity.path, "relevanceScopes": entity.scopes}  # fmt: skip
        return ", ".join(f"{name}: {text(value)}" for name, value in given.items()) + (
            f", kind: {entity.kind}, meta: {literal(entity.meta)}"
        )

    def restricted(self, entity: Entity) -> str:
        """Perhaps change who may read an entity; gives the fields of the source that say so."""
        if self.maybe(0.5):
            return ""
        if self.maybe(0.4):
            entity.acl, entity.readers = 0, set()
            return ", restricted: false"
        some = self.chance.sample(self.world.principals, self.chance.randint(0, 3))
        entity.acl, entity.readers = -1, {one.id for one in some}
        return f", restricted: true, readers: {text([one.name for one in some])}"


class History(Model):
    """One run of steps over two stores of one base; `step` changes, `check` compares."""

    def __init__(self, stores: Sequence[Store], world: World, seed: int) -> None:
        super().__init__(world, random.Random(seed))
        self.checks = [Checks(store) for store in stores]
        self.turn, self.told = 0, list[str]()
        self.dead: list[str] = []  # tokens that were revoked or went with their principal
        self.gone: list[tuple[Namespace, str]] = []  # keys of entities that were deleted
        self.given: dict[Entity, str] = {}  # sources that were written, as they were sent
        self.notes = Notes(self)
        everybody = [*world.callers, *world.refused]
        self.callers = self.chance.sample(everybody, min(9, len(everybody)))
        self.warm = {caller.id: self.documents(View(world, caller)) for caller in self.callers}
        self.seen = {caller.id: self.sight(caller) for caller in self.callers}
        ways: tuple[tuple[int, Step], ...] = (
            (4, self.role), (4, self.reading), (3, self.members), (2, self.rebirth), (2, self.disable), (1, self.expire),
            (5, self.ingest), (3, self.restrict), (1, self.delete_source), (2, self.delete_entity), (2, self.embed),
            (1, self.failed_writes), (2, self.rolled_back), *self.notes.ways,
        )  # fmt: skip
        self.weights, self.steps = zip(*ways, strict=True)

    @property
    def done(self) -> int:
        return sum(checks.done for checks in self.checks)

    @property
    def found(self) -> list[str]:
        return [line for checks in self.checks for line in checks.found]

    def documents(self, view: View) -> list[str]:
        """What one caller asks all the time: every way to look at things, the arguments and fields by chance."""
        probe = Probe(view, self.chance)
        whole = f"search(question: {text(some_words(self.world, self.chance))}, k: 20) "
        whole += "{ hits { score entity { key } fragment { text } } neighbors { entity { title } via { predicate } } }"
        starts = [f"{{key: {text(one.key)}}}" for one in self.chance.sample(self.world.entities, 20)]
        walk = f"graph(start: [{', '.join(starts)}], limit: 200) {{ entities {{ hops entity {{ key }} }} facts {{ predicate }} }}"
        made = [whole, walk, probe.entities(), probe.aggregate(), probe.state(), probe.by_key()]
        return [f"{{ {one} }}" for one in made]

    async def check(self, caller: Principal, fresh: int = 1) -> None:
        """Everything that a caller asks all the time, and something new, from one store; next time from the other."""
        checks, view = self.checks[self.turn % len(self.checks)], View(self.world, caller)
        await checks.ask_all(view, [*self.warm[caller.id], *islice(probes(view, self.chance), fresh)])
        if not caller.is_refused:
            await self.page_on(checks, view)

    async def check_all(self, stores: int) -> None:
        """Every caller, each from so many of the stores."""
        for caller in self.callers:
            for _ in range(stores):
                self.turn += 1
                await self.check(caller, fresh=0)

    async def page_on(self, checks: Checks, view: View) -> None:
        """Go on after a cursor, old or another's, then keep the next one."""
        order, name = self.chance.choice(("KEY", "TITLE", "UPDATED")), view.me.name
        given, known = f"orderBy: {order}, first: 2", list(self.world.cursors)
        own = [one for one in known if self.world.cursors[one][0][:2] == (name, order)]
        after = self.chance.choice(known if known and self.maybe(0.2) else own or [None])
        document = f"{{ entities({given}{'' if after is None else f', after: {text(after)}'}) {{ nodes {{ key title }} pageInfo "
        document += "{ hasNextPage endCursor } edges { cursor } totalCount } }"
        answer = await execute(checks.store, document, view.me.token)
        checks.compare(view, document, answer)
        page = (answer["data"] or {}).get("entities")
        if page and page["edges"] and not checks.found:
            shown = {entity.key: entity for entity in view.entities(view.spaces) if entity.key == page["nodes"][-1]["key"]}
            if len([one for one in view.entities(view.spaces) if one.key in shown]) == 1:
                lists.keep_cursor(view, page["pageInfo"]["endCursor"], *shown.values(), orderBy=order)

    def sight(self, caller: Principal) -> tuple[Any, ...]:
        """What a change may change for a caller."""
        view = View(self.world, caller)
        return caller.is_refused, caller.token, [space.ns for space in view.spaces], view.forbidden, len(view.facts(view.spaces))

    async def step(self) -> None:
        """Do one change; then those whom it concerns most look at once, through either store."""
        (way,) = self.chance.choices(self.steps, self.weights)
        self.told.append(await way())
        await self.notes.follow()
        self.turn += 1
        concerned = [caller for caller in self.callers if self.sight(caller) != self.seen[caller.id]]
        await self.check(self.chance.choice(concerned or self.callers))
        self.seen |= {caller.id: self.sight(caller) for caller in concerned}
        for token in self.dead[-1:]:
            answer = await execute(self.checks[self.turn % len(self.checks)].store, "{ viewer { principal } }", token)
            assert codes(answer) == ["UNAUTHENTICATED"], self.told

    # ------------------------------------------------------------------------------------------------ changes

    async def mutate(self, field: str, given: str, answer: str = "results { outcome code }") -> Any:
        """One mutation of the local administrator through the first store."""
        said = await execute(self.checks[0].store, f"mutation {{ {field}(input: {{ {given} }}) {{ {answer} }} }}")
        assert "errors" not in said, said
        return said["data"][field]

    async def role(self) -> str:
        space, one = self.chance.choice(self.world.namespaces), self.chance.choice(self.world.principals)
        held = (one.id, self.chance.choice(("READER", "READER", "WRITER", "ADMIN")))
        verb = "revoke" if held in space.roles or (one.id == 1 and held[1] != "READER") else "grant"
        space.roles = space.roles - {held} if verb == "revoke" else space.roles | {held}
        await self.mutate(verb, f"principal: {text(one.name)}, namespace: {text(space.name)}, role: {held[1]}")
        return f"{verb} {held} in {space.ns}"

    async def reading(self) -> str:
        entities = [entity for entity in self.world.entities if entity.acl]
        if not entities:
            return "nothing is restricted"
        entity, one = self.chance.choice(entities), self.chance.choice(self.world.principals)
        verb = "revoke" if one.id in entity.readers else "grant"
        entity.readers = entity.readers ^ {one.id}
        given = f"principal: {text(one.name)}, namespace: {text(entity.space.name)}, entityKey: {text(entity.key)}"
        await self.mutate(verb, given)
        return f"{verb} {one.id} on {entity.id}"

    async def members(self) -> str:
        """Nest and un-nest."""
        group = self.chance.choice(self.groups)
        group.members = self.chance.sample([one for one in self.world.principals if one.id != 1], self.chance.randint(0, 4))
        await self.mutate("setMembers", f"group: {text(group.name)}, members: {text([one.name for one in group.members])}")
        return f"members of {group.id}: {[one.id for one in group.members]}"

    async def rebirth(self) -> str:
        """Delete somebody and make another of the same name, who inherits nothing."""
        one = self.chance.choice([*self.groups, *self.people])
        await delete_principal(self.checks[0].store.database, local_administrator(), one.name)
        self.dead += [one.token] if one.token else []
        self.bereave(one)
        await self.mutate("upsertPrincipals", f"principals: [{{name: {text(one.name)}, kind: {one.kind}}}]")
        if one.kind != "GROUP":
            await self.new_token(one)
        return f"{one.id} deleted and made again"

    async def new_token(self, one: Principal) -> None:
        given = await self.mutate("createToken", f"principal: {text(one.name)}", "token")
        one.token, one.ends, one.is_revoked = given["token"], None, False

    async def disable(self) -> str:
        """Revoke somebody's token, or give a new one to somebody who has none that is good."""
        one = self.chance.choice(self.people)
        if one.is_refused:
            await self.new_token(one)
            return f"{one.id} may come in"
        rows = await self.sql("select token_id from token where digest = sha256(convert_to($1, 'UTF8'))", one.token)
        await self.mutate("revokeToken", f"tokenId: {text(str(rows[0][0]))}", "deleted")
        one.is_revoked = True
        self.dead.append(str(one.token))
        return f"{one.id} stays out"

    async def expire(self) -> str:
        """Let the token of somebody end exactly now."""
        one = self.chance.choice(self.people)
        await self.sql("update token set expires_at = $2 where digest = sha256(convert_to($1, 'UTF8'))", one.token, CLOCK)
        one.ends = CLOCK
        self.dead.append(str(one.token))
        return f"time is over for {one.id}"

    async def ingest(self) -> str:
        """Write a source: over another, under a new key, or where one was deleted."""
        space = self.chance.choice(self.world.namespaces)
        here = [entity for entity in self.world.entities if entity.space is space]
        entity = self.chance.choice(here) if here and self.maybe(0.7) else self.entity(space)
        self.given[entity] = self.written(entity)
        await self.send(entity, self.given[entity] + self.restricted(entity))
        self.tidy(entity)
        return f"wrote {entity.id} {entity.key} restricted {entity.acl} for {entity.readers}"

    async def restrict(self) -> str:
        """Send a source once more as it was, with other rights."""
        if not self.given:
            return await self.ingest()
        entity = self.chance.choice(list(self.given))
        await self.send(entity, self.given[entity] + self.restricted(entity))
        return f"{entity.id} restricted {entity.acl} for {entity.readers}"

    async def send(self, entity: Entity, given: str) -> None:
        answer = await self.mutate("ingestSources", f"namespace: {text(entity.space.name)}, sources: [{{ {given} }}]")
        assert answer["results"][0]["outcome"] in ("CREATED", "UPDATED", "UNCHANGED"), answer
        await self.read_ids(entity)
        if self.maybe(0.5):
            await self.embed()

    def entity(self, space: Namespace) -> Entity:
        """A new one, under a key that was deleted before if there is one."""
        entity = Entity(space, 0, "", "", "", "", None, None, {}, [], CLOCK, CLOCK, None)
        taken = {(entity.space, entity.key) for entity in self.world.entities}
        free = [one for one in self.gone if one not in taken]
        if free and self.maybe(0.6):
            entity.space, entity.key = self.chance.choice(free)
            for token, owners in self.world.owners.items():
                if token in entity.key:
                    owners.append(entity)
        else:
            entity.key = f"docs/new/{self.token(entity)}"
        self.world.entities.append(entity)
        return entity

    async def delete_source(self) -> str:
        entities = [entity for entity in self.world.entities if entity.source]
        entity = self.chance.choice(entities)
        await self.mutate("deleteSource", f"namespace: {text(entity.space.name)}, key: {text(entity.key)}", "deleted")
        self.lose_source(entity)
        self.given.pop(entity, None)
        await self.read_ids(entity)
        self.tidy(entity)
        return f"the text of {entity.id} deleted"

    async def delete_entity(self) -> str:
        entity = self.chance.choice(self.world.entities)
        await self.mutate("deleteEntity", f"namespace: {text(entity.space.name)}, key: {text(entity.key)}", "deleted")
        self.gone.append((entity.space, entity.key))
        self.lose_entity(entity)
        self.given.pop(entity, None)
        await refresh_statistics(self.checks[0].store.database, entity.space.ns)
        return f"{entity.id} deleted"

    async def embed(self) -> str:
        while await embed_pending(self.checks[0].store, 500):
            pass
        for fragment in self.world.fragments:
            fragment.pending = False
        return "embedded"

    async def failed_writes(self) -> str:
        """Writes that fail half-way leave nothing behind."""
        entity, group = self.chance.choice(self.world.entities), self.chance.choice(self.groups)
        source = f'key: {text(entity.key)}, content: "lost", restricted: true, readers: [{text("nobody")}]'
        answer = await self.mutate("ingestSources", f"namespace: {text(entity.space.name)}, sources: [{{ {source} }}]")
        assert answer["results"][0]["outcome"] == "FAILED"
        members = text([self.world.principals[0].name, *(one.name for one in self.people), "nobody"])
        given = f"mutation {{ setMembers(input: {{ group: {text(group.name)}, members: {members} }}) {{ results {{ key }} }} }}"
        assert codes(await execute(self.checks[0].store, given)) == ["BAD_INPUT"]
        return "writes failed"

    async def rolled_back(self) -> str:
        """Nobody sees by rights that are not committed, and nothing stays of those that never are."""
        connection = await asyncpg.connect(self.checks[0].store.database.url)
        try:
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute("insert into namespace_role select ns, 1, 'ADMIN' from namespace on conflict do nothing")
            await connection.execute(
                "insert into acl_grant select ns, acl_id, 1 from entity where acl_id > 0 on conflict do nothing"
            )
            await connection.execute("select bump_rights_epoch()")
            await self.check(self.chance.choice(self.callers), fresh=0)
            await transaction.rollback()
        finally:
            await connection.close()
        return "rights for everyone, rolled back"

    async def read_ids(self, entity: Entity) -> None:
        """Learn the numbers and times that only the base gives, and count its words anew."""
        (row,) = await self.sql(
            "select entity_id, acl_id, created_at, updated_at from entity where ns = $1 and key = $2", entity.space.ns, entity.key
        )
        entity.id, entity.acl, entity.created, entity.updated = row
        rows = await self.sql("select fragment_id from fragment where ns = $1 and entity_id = $2 order by ordinal",
                              entity.space.ns, entity.id)  # fmt: skip
        for fragment, (number,) in zip(entity.fragments, rows, strict=True):
            fragment.id = number
        await refresh_statistics(self.checks[0].store.database, entity.space.ns)

    async def sql(self, statement: str, *values: Any) -> list[Any]:
        async with self.checks[0].store.database.writing() as connection:
            return [tuple(row) for row in await connection.fetch(statement, *values)]


def described(history: History) -> str:
    """The last steps and what was wrong, for whoever reads a failure."""
    return json.dumps({"steps": history.told[-12:], "wrong": history.found[:5]}, indent=1)
