"""Loads a file of facts, line by line, in transactions of some thousands; a line that is refused stops no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from retrieval.access import Caller
from retrieval.administration.rights import require
from retrieval.auditing.actions import Action
from retrieval.auditing.writes import note_write
from retrieval.database import Database
from retrieval.domain.stored import domain_of
from retrieval.errors import BadInput, ContextQLError
from retrieval.ingest.fact_input import FactInput, checked
from retrieval.ingest.fact_lines import Retraction, read_facts
from retrieval.ingest.facts import assert_facts, retract_facts
from retrieval.ingest.jsonl import BadLine
from retrieval.ingest.source_input import check_text
from retrieval.ingest.sql import statement
from retrieval.ingest.write import connect_links
from retrieval.keys import key_digest
from retrieval.outcomes import FactResult, Outcome
from retrieval.retrying import retried
from retrieval.tuning import FACTS_PER_TRANSACTION, NAME_LENGTH

FIRST_LINES = 500
"""The planner is told what there is after so many lines, and whenever there are three times as many as the last time."""


@dataclass(slots=True)
class Loaded:
    """What became of each line of a file, by its number, and how many entities were made for them."""

    results: list[tuple[int, FactResult]] = field(default_factory=list)
    created_entities: int = 0

    @property
    def outcomes(self) -> Counter[Outcome]:
        """How many lines ended in each way."""
        return Counter(result.outcome for _, result in self.results)

    @property
    def failed(self) -> list[tuple[int, FactResult]]:
        """The lines that were refused."""
        return [one for one in self.results if one[1].outcome is Outcome.FAILED]


async def load_facts(
    database: Database, caller: Caller, namespace: str, lines: Iterable[str | bytes], *, create_type: str | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Loaded:  # fmt: skip
    """Store the facts of a file in the order of its lines; needs WRITER. Loading it again changes nothing.

    With `create_type` things of this type are made for keys that have no entity. `on_progress` is told how many lines are done.
    """
    loaded, analyzed = Loaded(), 0
    async with database.writing() as connection:
        ns = await require(connection, caller, namespace, "WRITER")
        if create_type is not None:
            create_type = check_text("type", create_type, NAME_LENGTH)
            (await domain_of(connection, ns)).check_entity("THING", create_type)
    left = iter(read_facts(lines))
    while chunk := list(islice(left, FACTS_PER_TRANSACTION if loaded.results else FIRST_LINES)):
        results = {one.number: FactResult.failed(BadInput(one.message)) for one in chunk if isinstance(one, BadLine)}
        given = [one for one in chunk if not isinstance(one, BadLine)]
        if create_type is not None:
            facts = [one for _, one in given if isinstance(one, FactInput)]
            loaded.created_entities += await create_things(database, caller, namespace, facts, create_type)
        for _, run in groupby(given, key=lambda one: type(one[1])):
            results |= await store_run(database, caller, namespace, list(run))
        loaded.results += sorted(results.items())
        if len(loaded.results) >= 3 * analyzed + FIRST_LINES:
            analyzed = len(loaded.results)
            await analyze(database)
        on_progress(len(loaded.results))
    if loaded.created_entities:
        await connect_links(database, ns)
    return loaded


async def analyze(database: Database) -> None:
    """Tell the planner what there is: of a namespace new to it, it reads all for one row (20,000 facts: 54 s, then 4)."""
    async with database.writing() as connection:
        await connection.execute("analyze entity, fact, fact_place, edge, said")


async def store_run(
    database: Database, caller: Caller, namespace: str, run: Sequence[tuple[int, FactInput | Retraction]]
) -> dict[int, FactResult]:
    """Store lines that all assert, or all retract, in one transaction; a result for each by its number."""
    facts = [one for _, one in run if isinstance(one, FactInput)]
    gone = [one.fact_id for _, one in run if isinstance(one, Retraction)]
    if facts:
        results = await assert_facts(database, caller, namespace, facts)
    else:
        results = await retract_facts(database, caller, namespace, gone)
    return dict(zip((number for number, _ in run), results, strict=True))


async def create_things(database: Database, caller: Caller, namespace: str, facts: Sequence[FactInput], type_: str) -> int:
    """Make things for the keys of facts that have no entity, titled by their key; gives how many. Bad facts make none."""
    keys = {key_digest(key): key for fact in facts for key in keys_of(fact)}

    async def write() -> int:
        async with database.writing() as connection:
            ns = await require(connection, caller, namespace, "WRITER")
            made = await connection.fetch(statement("create_things"), ns, list(keys), list(keys.values()), type_)
            if made:
                entities, wrote = [row["entity_id"] for row in made], {"created": len(made)}
                await note_write(
                    connection, caller, Action.UPSERT_ENTITIES, ns, entities=entities, items=len(made), outcome=wrote
                )
            return len(made)

    return await retried(write) if keys else 0


def keys_of(fact: FactInput) -> tuple[str, ...]:
    """The keys of the entities that a fact names; none for one that will be refused."""
    try:
        fact = checked(fact)
    except ContextQLError:
        return ()
    return tuple(key for key in (fact.subject, fact.object, *(fact.stated_in or ())) if key is not None)
