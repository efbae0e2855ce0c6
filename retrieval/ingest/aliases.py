"""Takes the other names of erased entities out of the domain packs of their namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from retrieval.database import Connection, json_text
from retrieval.domain.stored import read_body
from retrieval.ingest.sql import statement
from retrieval.keys import key_digest
from retrieval.text import fold


async def forget_aliases(connection: Connection, ns: int, keys: Iterable[str]) -> int:
    """Take the aliases that lead to any of these keys, also through other aliases, out of all packs; gives how many."""
    packs = {row["name"]: read_body(row["body"]) for row in await connection.fetch(statement("lock_packs"), ns)}
    names = leading_to(keys, {alias: target for pack in packs.values() for alias, target in pack.aliases.items()})
    for name, pack in packs.items():
        kept = {alias: target for alias, target in pack.aliases.items() if alias not in names}
        if len(kept) < len(pack.aliases):
            left = pack.model_copy(update={"aliases": kept})
            await connection.execute(statement("erase_aliases"), ns, name, left.digest, json_text(left.body))
    return len(names)


def leading_to(keys: Iterable[str], aliases: Mapping[str, str]) -> frozenset[str]:
    """The aliases that end at one of the keys.

    >>> sorted(leading_to(["ann"], {"A. Smith": "ann", "Smith": "a. smith", "bob": "b"}))
    ['A. Smith', 'Smith']
    """
    named: dict[bytes | str, list[str]] = {}
    for alias, target in aliases.items():
        for name in (key_digest(target), fold(target)):
            named.setdefault(name, []).append(alias)
    found, left = set[str](), [alias for key in keys for alias in named.get(key_digest(key), ())]
    while left:
        alias = left.pop()
        if alias not in found:
            found.add(alias)
            left += named.get(fold(alias), ())
    return frozenset(found)
