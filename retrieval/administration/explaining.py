"""Explains why a principal sees, or does not see, a namespace or one entity in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from retrieval.access import WHOLE, Caller
from retrieval.administration.names import ADMINISTRATOR, EVERYONE, check_principal
from retrieval.administration.rights import require_administrator, require_to_read
from retrieval.administration.sql import statement
from retrieval.database import Connection, Database
from retrieval.errors import BadInput
from retrieval.keys import check_key, key_digest
from retrieval.tuning import Tuning

PERSONAL_DATA = "PERSONAL_DATA"


@dataclass(frozen=True, slots=True)
class Explanation:
    """Whether something is visible, the reasons in sentences, most general first, and whether personal data in it are masked."""

    visible: bool
    sentences: tuple[str, ...]
    masked: bool | None = None
    """None where nothing is visible."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A principal and all it stands for: the way to each group, from the principal itself."""

    name: str
    kind: str
    administrator: bool
    ways: Mapping[str, tuple[str, ...]]

    def way(self, holder: str) -> str:
        """How a right of `holder` comes to the principal.

        >>> Standing("ann", "USER", False, {"ann": ("ann",), "ops": ("ann", "team", "ops")}).way("ops")
        'as a member of ops (ann → team → ops)'
        """
        if holder == self.name:
            return "by itself"
        return f"as a member of {holder} ({' → '.join(self.ways[holder])})"


NAMESPACES_TOLD = 5
"""So many namespaces that have a key are named to choose from."""


async def explain(
    database: Database, caller: Caller, principal: str, namespace: str | None, key: str | None = None
) -> Explanation:
    """Why a principal sees, or does not see, a namespace or the entity under `key`; the caller needs ADMIN there.

    Without a namespace it is the one that has the key, which an administrator of the server may ask; raises `BadInput` when
    several have it. Speaks of the moment it is asked; groups that come with a login are not known here, and are explained by
    their own name, `issuer#group`. Raises `NamespaceNotFound`, `Forbidden`.
    """
    name = check_principal(principal)
    digest = None if key is None else key_digest(check_key(key, Tuning().key_most))
    async with database.snapshot() as connection:
        if namespace is None:
            namespace = await namespace_of(connection, caller, key, digest)
            if namespace is None:
                return Explanation(False, (f"There is no entity {key!r} in any namespace.",))
        ns = await require_to_read(connection, caller, namespace, "ADMIN")
        standing = await standing_of(connection, name)
        if standing is None:
            return Explanation(False, unknown(name))
        held = await connection.fetch(statement("roles_of_all"), ns, list(standing.ways))
        entity = await connection.fetchrow(statement("grants_of_entity"), ns, digest, list(standing.ways))
    roles = [(row["role"], row["name"]) for row in held]
    if not (roles or standing.administrator):
        closed = f"{name} holds no role in {namespace}, neither by itself nor through a group."
        return Explanation(False, (closed, *useless_grants(standing, key, entity)))
    opening = tuple(role_sentences(standing, roles, namespace))
    names = {role for role, _ in roles}
    visible, sentences = (True, opening) if key is None else entity_reason(standing, names, key, entity, opening)
    if not visible:
        return Explanation(False, sentences)
    masked = not standing.administrator and PERSONAL_DATA not in names
    return Explanation(True, (*sentences, masking(standing, namespace, masked)), masked)


async def namespace_of(connection: Connection, caller: Caller, key: str | None, digest: bytes | None) -> str | None:
    """The one namespace that has a key, None when none has; raises `BadInput` when it is not one, and `Forbidden`."""
    await require_administrator(connection, caller)
    if key is None:
        raise BadInput("Name a namespace (`--namespace`), or a key that only one namespace has.")
    rows = await connection.fetch(statement("namespaces_of_key"), digest, NAMESPACES_TOLD + 1)
    if len(rows) > 1:
        names = ", ".join(row["name"] for row in rows[:NAMESPACES_TOLD]) + (" and more" if len(rows) > NAMESPACES_TOLD else "")
        raise BadInput(f"Several namespaces have an entity {key!r}: {names}. Name the one that is meant with `--namespace`.")
    return rows[0]["name"] if rows else None


async def standing_of(connection: Connection, name: str) -> Standing | None:
    """The principal with the shortest way to each of its groups; None when there is none of that name."""
    if name == ADMINISTRATOR:
        return Standing(name, "USER", True, {name: (name,)})
    rows = await connection.fetch(statement("groups_around"), name)
    if not rows:
        return None
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row["group_name"] is not None:
            groups.setdefault(row["member_name"], []).append(row["group_name"])
    groups.setdefault(name, []).append(EVERYONE)
    return Standing(name, rows[0]["kind"], rows[0]["administrator"], shortest_ways(name, groups))


def unknown(name: str) -> tuple[str, str]:
    """What is said of a principal that is not there."""
    return (
        f"There is no principal {name!r}, so nothing is visible to it.",
        f"A signed token may name it all the same: then it stands for {EVERYONE} and the groups of the token; ask for these.",
    )


def useless_grants(standing: Standing, key: str | None, entity: Mapping[str, object] | None) -> tuple[str, ...]:
    """What is said of a grant on an entity of a namespace that is closed."""
    if entity is None or not entity["holders"]:
        return ()
    return (f"{standing.name} holds a grant on {key!r}, which opens nothing without a role in its namespace.",)


def masking(standing: Standing, namespace: str, masked: bool) -> str:
    """What is said of personal data."""
    if masked:
        return f"Personal data in it are masked: {standing.name} does not hold {PERSONAL_DATA} in {namespace}."
    return f"Personal data in it are shown: {standing.name} holds {PERSONAL_DATA} in {namespace}."


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
    if standing.kind == "GROUP":
        sentences.insert(0, f"{standing.name} is a group: this holds for all its members.")
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
