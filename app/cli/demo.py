"""The command that shows everything at work: the demo corpus, a server, and three things to try."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from urllib.parse import quote

import orjson
from rich.progress import Progress, TaskID

from app.cli.command import command
from app.cli.output import note, progress_bar, say
from app.cli.running import run
from app.config import Settings, unknown_variables
from app.demo.corpus import namespace_of
from app.demo.loading import READER, load_corpus, reader_token
from app.demo.team import NAMESPACE as TEAM
from app.demo.team import load_team
from app.serving import address_of, listen, serve
from retrieval.store import Store

QUERY = """{
  search(question: "How do I upload a file?", namespaces: ["fastapi-en"], k: 3) {
    hits {
      score
      signals { channel rank rawScore contribution }
      card { title sourcePath }
      fragment { heading text }
    }
    neighbors { entity { key title } }
    context
  }
}"""
FOREIGN = '{ search(question: "upload", namespaces: ["fastapi-en"]) { hits { score } } }'


@command("demo", example="contextql demo")
def demo_command() -> None:
    """Load the FastAPI documentation in Russian and English and a software team over time, serve them, print what to try.

    The database is an embedded PostgreSQL in CB_DATA_DIR unless CB_DATABASE_URL names another. Whoever reaches the port from
    this machine is the administrator. The second start takes seconds.
    """
    os.environ.setdefault("CB_LOCAL_ADMIN", "true")
    run(demo, quiet=False)


async def demo(settings: Settings) -> None:
    """Load and serve."""
    for line in unknown_variables():
        note(line)
    listener = listen(settings.host, settings.port)
    token = ""

    async def prepare(store: Store) -> None:
        nonlocal token
        await load(store)
        token = await reader_token(store, token_file(settings))

    def announce() -> None:
        for line in things_to_try(address_of(settings, listener), token, token_file(settings)):
            say(line)

    note("Preparing the database and the FastAPI documentation …")
    await serve(settings, listener, prepare=prepare, announce=announce)


async def load(store: Store) -> None:
    """Load the corpus with a bar a namespace."""
    tasks: dict[str, TaskID] = {}
    with progress_bar() as bar:
        changed = await load_corpus(store, lambda name, done, total: advance(bar, tasks, name, done, total))
    note(f"{changed} pages loaded." if changed else "All pages are there already.")
    if await load_team(store):
        note(f"The example of a software team is loaded into {TEAM}.")


def advance(bar: Progress, tasks: dict[str, TaskID], name: str, done: int, total: int) -> None:
    """Show how far a namespace is."""
    if name not in tasks:
        tasks[name] = bar.add_task(name, total=total)
    bar.update(tasks[name], completed=done)


def token_file(settings: Settings) -> Path:
    """Where the reader's token is kept."""
    return settings.data_dir / f"{READER}.token"


def things_to_try(address: str, token: str, file: Path) -> list[str]:
    """What a visitor may do next."""
    body = orjson.dumps({"query": FOREIGN}).decode()
    return [
        "",
        f"ContextQL serves {address}/graphql with {namespace_of('ru')}, {namespace_of('en')} and {TEAM}. Three things to try:",
        "",
        "1. Ask in GraphiQL: open this link and press the play button",
        f"   {address}/graphql?query={quote(QUERY, safe='')}",
        "",
        "2. Ask in another terminal, and compile what an agent should know of a ticket",
        f'   {program()} ask "Как загрузить файл?"',
        f'   {program()} pack "Why do callers get ERR_PAY_TIMEOUT?" -n {TEAM} --anchor PAY-101 --max-tokens 600',
        "",
        f"3. Ask as {READER}, who may read {namespace_of('ru')} only: for it {namespace_of('en')} does not exist",
        f"   curl -s {address}/graphql -H 'Content-Type: application/json' \\",
        f"     -H \"Authorization: Bearer $(cat {shlex.quote(str(file))})\" -d '{body}'",
        "",
        f"The token of {READER} is {token}",
        "Ctrl+C ends the server.",
    ]


def program() -> str:
    """How this program is called from the same folder, with the variables that lead it to the same data."""
    called = sys.argv[0]
    name = "contextql" if shutil.which("contextql") else os.path.relpath(called)
    kept = [f"{key}={shlex.quote(os.environ[key])}" for key in ("CB_DATA_DIR", "CB_DATABASE_URL") if os.environ.get(key)]
    return " ".join([*kept, name])
