"""Gives a namespace a domain pack: whole or not at all, forward only, and only when what is stored follows it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from retrieval.access import Caller
from retrieval.administration.rights import require, require_to_read
from retrieval.administration.sql import statement as administration
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Connection, Database, json_text
from retrieval.domain.pack import DomainPack
from retrieval.domain.rules import BUILT_IN, Domain, check_value, joined
from retrieval.domain.sql import statement
from retrieval.domain.stored import read_body
from retrieval.errors import BadInput, Conflict
from retrieval.personal.masking import masked_value
from retrieval.retrying import retried
from retrieval.tuning import PACK_PROBLEMS_SHOWN


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a pack; it has not changed when the same was there already."""

    name: str
    version: str
    changed: bool


class Breaks(Conflict):
    """What is stored does not follow a pack; each thing is named."""

    def __init__(self, pack: DomainPack, found: list[str]) -> None:
        self.found = tuple(found)
        lines = [f"{pack.name} {pack.version} cannot be applied, because what is stored does not follow it:", *found]
        super().__init__("\n".join(lines))


async def apply_pack(database: Database, caller: Caller, namespace: str, pack: DomainPack) -> Applied:
    """Make a pack hold in a namespace, in the place of its version before; needs ADMIN.

    Waits for the writes that are under way there and keeps new ones waiting, so that nothing is stored by the rules of before.
    Raises `Conflict` for a version that is older, or the same with another content, for what other packs declare, and for what
    is stored that does not follow it; `NamespaceNotFound`, `Forbidden`.
    """
    return await retried(lambda: tried(database, caller, namespace, pack))


async def check_pack(database: Database, caller: Caller, namespace: str, pack: DomainPack) -> Applied:
    """What `apply_pack` would do or raise now, without doing it: it waits for no write, and none waits for it."""
    async with database.snapshot() as connection:
        ns = await require_to_read(connection, caller, namespace, "ADMIN")
        return Applied(pack.name, pack.version, await checked(connection, caller, ns, pack) is not None)


async def tried(database: Database, caller: Caller, namespace: str, pack: DomainPack) -> Applied:
    """One transaction."""
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "ADMIN")
    async with database.writing() as connection:
        await connection.execute(administration("lock_namespace"), ns)
        ns = await require(connection, caller, namespace, "ADMIN")
        domain = await checked(connection, caller, ns, pack)
        if domain is not None:
            await put(connection, ns, pack, domain)
            what = {"pack": pack.name, "version": pack.version}
            await note_write(connection, caller, Action.APPLY_DOMAIN_PACK, ns, what=what)
    return Applied(pack.name, pack.version, domain is not None)


async def checked(connection: Connection, caller: Caller, ns: int, pack: DomainPack) -> Domain | None:
    """The rules of a namespace with a pack; None when it changes nothing. Raises `Conflict` when it cannot be applied."""
    rows = await connection.fetch(statement("packs"), ns)
    packs = {row["name"]: read_body(row["body"]) for row in rows}
    if not is_new(packs.get(pack.name), pack):
        return None
    domain = joined((packs | {pack.name: pack}).values())
    if found := [one async for one in breaks(connection, ns, domain, is_masked=not shows(caller, ns))]:
        raise Breaks(pack, found)
    return domain


def is_new(before: DomainPack | None, pack: DomainPack) -> bool:
    """Whether a pack changes anything; raises `Conflict` when it may not take the place of the one before."""
    if before is None:
        return True
    if pack.number < before.number:
        raise Conflict(f"{pack.name} {before.version} is applied; {pack.version} is older, and packs go forward only.")
    if pack.number == before.number and pack.digest != before.digest:
        raise Conflict(f"{pack.name} {pack.version} is applied with another content; give what was changed a higher version.")
    return pack.number > before.number


async def put(connection: Connection, ns: int, pack: DomainPack, domain: Domain) -> None:
    """Store the pack, and what all packs say of predicates."""
    await connection.execute(statement("put_pack"), ns, pack.name, pack.version, pack.digest, json_text(pack.body))
    await connection.execute(statement("drop_predicates"), ns)
    names = sorted(domain.predicates)
    cardinalities = [domain.predicates[name].cardinality.value.upper() for name in names]
    await connection.execute(statement("put_predicates"), ns, names, cardinalities)


def shows(caller: Caller, ns: int) -> bool:
    """Whether the caller may read the personal data of a namespace: an `ADMIN` of it need not."""
    return caller.administrator or any(space.ns == ns and space.shows_personal_data for space in caller.spaces)


async def breaks(connection: Connection, ns: int, domain: Domain, *, is_masked: bool) -> AsyncIterator[str]:
    """What is stored that does not follow the rules, a sentence each, up to the number that is shown."""
    left = PACK_PROBLEMS_SHOWN
    async for sentence in every_break(connection, ns, domain, is_masked=is_masked):
        if not left:
            yield "and more"
            return
        left -= 1
        yield sentence


async def every_break(connection: Connection, ns: int, domain: Domain, *, is_masked: bool) -> AsyncIterator[str]:
    """What is stored that does not follow the rules, a sentence each."""
    most, declared = PACK_PROBLEMS_SHOWN + 1, sorted(domain.predicates)
    for row in await connection.fetch(statement("undeclared_types"), ns, sorted(domain.types), most):
        example = row["example"][:100]
        yield f"things of type {row['type'][:100]!r}, which is not declared ({row['n']:,}, such as {example!r})"
    for row in await connection.fetch(statement("undeclared_predicates"), ns, [*declared, *BUILT_IN], most):
        yield f"facts {row['predicate'][:100]!r}, which is not declared ({row['n']:,})"
    valued = set()
    for row in await connection.fetch(statement("ends_of_facts"), ns, declared):
        try:
            domain.check_ends(row["predicate"], row["subject_type"], row["object_type"])
        except BadInput as error:
            yield f"facts {row['predicate']} ({row['n']:,}, such as of {row['example'][:100]!r}): {error.message}"
        else:
            valued |= {row["predicate"]} if row["object_type"] is None else set()
    async for row in connection.cursor(statement("values_of_facts"), ns, sorted(valued)):
        try:
            check_value(row["predicate"], domain.predicates[row["predicate"]], row["value"])
        except BadInput as error:
            value = masked_value(row["value"], row["predicate"]) if is_masked else row["value"]
            yield f"facts {row['predicate']} that hold {str(value)[:100]!r} ({row['n']:,}): {error.message}"
