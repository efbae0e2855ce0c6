"""Who sees which part of a base: all, or shares down to one document in ten thousand, at random or by topic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.bench.at_size.corpus import FRAGMENTS_OF_DOCUMENT, Corpus, Numbers
from app.bench.at_size.loading import namespace_names
from retrieval.administration.grants import grant
from retrieval.administration.members import set_members
from retrieval.administration.principals import PrincipalInput, upsert_principals
from retrieval.administration.rights import bump_rights_epoch, local_administrator
from retrieval.administration.tokens import create_token
from retrieval.database import Database
from retrieval.ingest.bulk import refresh_plans

SHARES = (0.1, 0.01, 0.001, 0.0001)
ALL, SPREADS = "of-all", ("at-random", "by-topic")
READERS, WRITERS = "all readers", "all writers"
GRANTS = """
    insert into acl_grant (ns, acl_id, principal_id)
    select e.ns, e.acl_id, (select principal_id from principal where name = $1)
      from entity e where e.key = any($2::text[]) order by 1, 2"""


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A caller and the documents that it sees, in order of the corpus."""

    share: float
    spread: str
    documents: Numbers

    @property
    def name(self) -> str:
        """Such as `10%-by-topic`."""
        return f"{100 * self.share:g}%-{self.spread}"

    @property
    def group(self) -> str:
        """The group that the documents are granted to."""
        return f"those who see {self.name}"

    @property
    def fragments(self) -> Numbers:
        """The places of the visible fragments in the corpus."""
        found: Numbers = (self.documents[:, None] * FRAGMENTS_OF_DOCUMENT + np.arange(FRAGMENTS_OF_DOCUMENT)).ravel()
        return found


def cases_of(corpus: Corpus) -> list[Case]:
    """All, which is spread one way only, and every share both ways; by topic means whole topics, the last one in part."""
    chance = np.random.default_rng(5)
    orders = {
        "at-random": chance.permutation(corpus.documents),
        "by-topic": np.argsort(chance.permutation(corpus.topics.max() + 1)[corpus.topics], kind="stable"),
    }
    shares = [Case(share, spread, np.sort(orders[spread][: seen(corpus, share)])) for share in SHARES for spread in SPREADS]
    return [Case(1.0, ALL, np.arange(corpus.documents)), *shares]


def seen(corpus: Corpus, share: float) -> int:
    """How many documents a share is; one at least."""
    return max(1, round(share * corpus.documents))


async def store_rights(database: Database, cases: list[Case]) -> None:
    """Make the callers: who sees all has a role that reads namespaces whole; to the others documents are granted one by one."""
    admin, (whole, *parts) = local_administrator(), cases
    principals = [PrincipalInput(name, "GROUP") for name in (READERS, WRITERS, *(case.group for case in parts))]
    await upsert_principals(database, admin, [*principals, *(PrincipalInput(case.name, "USER") for case in cases)])
    for case in parts:
        await set_members(database, admin, case.group, [case.name])
        async with database.writing() as connection:
            await connection.execute(GRANTS, case.group, [f"doc-{document}" for document in case.documents])
            await bump_rights_epoch(connection)
    await set_members(database, admin, WRITERS, [whole.name])
    await set_members(database, admin, READERS, [case.name for case in parts])
    for group, role in ((READERS, "READER"), (WRITERS, "WRITER")):
        for namespace in namespace_names():
            await grant(database, admin, group, namespace, role)
    await refresh_plans(database)


async def token_of(database: Database, case: Case) -> str:
    """A new token of the caller of a case."""
    return (await create_token(database, local_administrator(), case.name)).token
