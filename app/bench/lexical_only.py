"""What selecting less saves: `lexical` alone against every field of a search, processor time of server and database."""

from __future__ import annotations

from app.bench.line import Line
from app.bench.servers import Served, database_cpu, serving
from app.bench.world import LARGE, World

FRAGMENT = "fragment { id namespace ordinal title heading text meta identifiers tokenEstimate provenance { kind label } }"
CARD = "namespace key title sourcePath source { id }"
ENTITY = "id namespace key kind type title status sourcePath restricted attributes relevanceScopes createdAt updatedAt"
HIT = f"""{FRAGMENT} entity {{ {ENTITY} }} card {{ {CARD} }} score
    signals {{ kind channel rank rawScore weight contribution }} highlights {{ field start end }} matchedIdentifiers"""
LEXICAL = f'query($question: String!) {{ search(question: $question, namespaces: ["{LARGE}"]) {{ lexical {{ {HIT} }} }} }}'
EVERYTHING = f"""query($question: String!) {{ search(question: $question, namespaces: ["{LARGE}"]) {{
    question namespaces hits {{ {HIT} }} vector {{ {HIT} }} lexical {{ {HIT} }}
    neighbors {{ entity {{ {ENTITY} }} hops via {{ factId predicate subject {{ key }} object {{ key }} inForce }} }}
    sources {{ {CARD} }} context degraded {{ part code message }} }} }}"""
BLOCK = 10
BOUND = 0.3


async def lexical_alone_against_everything(world: World) -> list[Line]:
    """Blocks of distinct questions in turn, so that both see the same machine."""
    blocks = world.times(12)
    async with serving(world) as served:
        await block(world, served, LEXICAL, 1_000_000)
        await block(world, served, EVERYTHING, 1_100_000)
        spent = {LEXICAL: 0.0, EVERYTHING: 0.0}
        for number in range(blocks):
            for place, query in enumerate(spent):
                spent[query] += await block(world, served, query, (2 * number + place) * BLOCK)
    each = {query: 1000 * seconds / (blocks * BLOCK) for query, seconds in spent.items()}
    note = f"{each[LEXICAL]:.1f} ms of CPU against {each[EVERYTHING]:.1f} ms a request"
    return [Line("lexical-alone-of-everything", spent[LEXICAL] / spent[EVERYTHING], BOUND, note=note)]


async def block(world: World, served: Served, query: str, first: int) -> float:
    """Ask some questions that were never asked; gives the seconds of processor time."""
    before = served.cpu() + database_cpu(world)
    for number in range(first, first + BLOCK):
        await served.ask(query, question=world.large.question(number))
    return served.cpu() + database_cpu(world) - before
