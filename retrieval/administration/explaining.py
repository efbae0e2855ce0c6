"""Explains why a principal sees, or does not see, a namespace or one entity in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from retrieval.access import WHOLE, Caller
from retrieval.administration.names import EVERYONE, check_principal
from retrieval.administration.rights import require
from retrieval.administration.sql import statement
from retrieval.database import Connection, Database
from retrieval.keys import check_key, key_digest
from retrieval.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether something is visible, and the reasons in sentences, most general first."""

    visible: bool
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """A principal and all it stands for: the way to each group, from the principal itself."""

    name: str
    administrator: bool
    ways: Mapping[str, tuple[str, ...]]

    def way(self, holder: str) -> str:
        """How a right of `holder` comes to the principal.

        >>> Standing("ann", False, {"ann": ("ann",), "ops": ("ann", "team", "ops")}).way("ops")
        'as a member of ops (ann → team → ops)'
        """
        if holder == self.name:
            return "by itself"
        return f"as a member of {holder} ({' → '.join(self.ways[holder])})"


async def explain(database: Database, caller: Caller, principal: str, namespace: str, key: str | None = None) -> Explanation:
    """Why a principal sees, or does not see, a namespace or the entity under `key`; the caller needs ADMIN there.

    Speaks of the moment it is asked; groups that come with a login are not known here. Raises `NamespaceNotFound`, `Forbidden`.
    """
    name = check_principal(principal)
    digest = None if key is None else key_digest(check_key(key, Tuning().key_most))
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "ADMIN")
        standing = await standing_of(connection, name)
        if standing is None:
            return Explanation(False, (f"There is no principal {name!r}, so nothing is visible to it.",))
        held = await connection.fetch(statement("roles_of_all"), ns, list(standing.ways))
        roles = [(row["role"], row["name"]) for row in held]
        opening = Explanation(True, tuple(role_sentences(standing, roles, namespace)))
        if not (roles or standing.administrator):
            return Explanation(False, (f"{name} holds no role in {namespace}, neither by itself nor through a group.",))
        if key is None:
            return opening
        entity = await connection.fetchrow(statement("grants_of_entity"), ns, digest, list(standing.ways))
    return Explanation(*entity_reason(standing, {role for role, _ in roles}, key, entity, opening.sentences))


async def standing_of(connection: Connection, name: str) -> Standing | None:
    """The principal with the shortest way to each of its groups; None when there is none of that name."""
    rows = await connection.fetch(statement("groups_around"), name)
    if not rows:
        return None
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row["group_name"] is not None:
            groups.setdefault(row["member_name"], []).append(row["group_name"])
    groups.setdefault(name, []).append(EVERYONE)
    return Standing(name, rows[0]["administrator"], shortest_ways(name, groups))


def shortest_ways(start: str, groups: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """The shortest way from a principal to each group over it; cycles end where they began.

    >>> shortest_ways("ann", {"ann": ["b"], "b": ["c"], "c": ["b", "ann"]})
    {'ann': ('ann',), 'b': ('ann', 'b'), 'c': ('ann', 'b', 'c')}
    """
    ways: dict[str, tuple[str, ...]] = {start: (start,)}
    todo = deque([start])
    while todo:
        member = todo.popleft()
        for group in groups.get(member, ()):
            if group not in ways:
                ways[group] = (*ways[member], group)
                todo.append(group)
    return ways


def role_sentences(standing: Standing, roles: Iterable[tuple[str, str]], namespace: str) -> list[str]:
    """A sentence for each role that the principal holds."""
    sentences = [f"{standing.name} holds {role} in {namespace} {standing.way(holder)}." for role, holder in roles]
    if standing.administrator:
        sentences.insert(0, f"{standing.name} is an administrator of the server and holds every role everywhere.")
    return sentences


def entity_reason(
    standing: Standing, roles: set[str], key: str, entity: Mapping[str, object] | None, before: tuple[str, ...]
) -> tuple[bool, tuple[str, ...]]:
    """Whether the entity is visible to a reader of its namespace, and the sentence that says why."""
    if entity is None:
        return False, (*before, f"There is no entity {key!r}.")
    if entity["acl_id"] == 0:
        return True, (*before, f"Entity {key!r} is not restricted: every reader of the namespace sees it.")
    holders = entity["holders"]
    assert isinstance(holders, list)
    if holders:
        ways = ", ".join(standing.way(holder) for holder in holders)
        return True, (*before, f"Entity {key!r} is restricted, and {standing.name} holds a grant on it {ways}.")
    if standing.administrator or not roles.isdisjoint(WHOLE):
        return True, (*before, f"Entity {key!r} is restricted; WRITER, ADMIN and administrators read it without a grant.")
    return False, (*before, f"Entity {key!r} is restricted, and {standing.name} holds no grant on it, nor does a group of it.")
