"""The command that brings a base to another model of vectors while it is read and written."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

import rich_click as click
from rich.progress import Progress

from app.cli.command import command, json_option
from app.cli.output import note, print_json, progress_bar, say
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.errors import BadInput
from retrieval.ingest.reembedding import Amount, abandon, amount, reembed
from retrieval.ports import Embedder
from retrieval.store import Store
from retrieval.tuning import BYTES_PER_INDEXED_VECTOR

MEGABYTE = 2**20
LINE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Planned:
    """What a run would do: the amount, calls of the provider, bytes of the new vectors with their index."""

    model: str
    dimensions: int
    amount: Amount
    calls: int
    tokens: int
    disk: int


@command("reembed", example="CB_NEXT_EMBEDDING_PROVIDER=openai contextql reembed --dry-run")
@click.option("--dry-run", is_flag=True, help="Say how much there is to do, and do nothing.")
@click.option("--abandon", "give_up", is_flag=True, help="Throw away what was made so far, and stay with the model in use.")
@click.option("--allow-missing", is_flag=True, help="Change over without the texts that the new model refuses.")
@json_option
def reembed_command(dry_run: bool, give_up: bool, allow_missing: bool, as_json: bool) -> None:
    """Make the vectors of all texts anew with the model of CB_NEXT_EMBEDDING_PROVIDER, and change over in one moment.

    The base is read and written meanwhile. A run that is cut off is taken up by the next. Servers that have the same
    variables with NEXT ask with the new model from that moment on; others search by words until they are set up for it.
    """
    if give_up and (dry_run or allow_missing):
        raise BadInput("--abandon throws away what was made; give neither --dry-run nor --allow-missing with it.")
    if give_up:
        gone = run(abandoned, embeds=False)
        if as_json:
            print_json({"abandoned": gone})
        else:
            say("The new vectors are gone; the base stays with its model." if gone else "No re-embedding was begun.")
    elif dry_run:
        show(run(planned), as_json)
    else:
        name, dimensions = run(lambda settings: work(settings, allow_missing))
        if as_json:
            print_json({"model": name, "dimensions": dimensions})
        else:
            say(f"The base holds vectors of {name} ({dimensions}). Make the settings with NEXT those without in your own time.")


async def abandoned(settings: Settings) -> bool:
    """Throw the new vectors away; false when there are none."""
    async with open_store(settings) as store:
        return await abandon(store.database)


async def planned(settings: Settings) -> Planned:
    """How much there is to do."""
    async with open_store(settings) as store:
        embedder, found = next_embedder(store), await amount(store.database)
        left = found.fragments - found.done
        return Planned(
            model=embedder.model,
            dimensions=embedder.dimensions,
            amount=found,
            calls=-(-left // embedder.batch_size),
            tokens=round(found.characters / store.tuning.characters_per_token),
            disk=found.fragments * 2 * (BYTES_PER_INDEXED_VECTOR + 2 * embedder.dimensions),
        )


async def work(settings: Settings, allow_missing: bool) -> tuple[str, int]:
    """Re-embed with a bar; gives the model of the base and its dimensions."""
    async with open_store(settings) as store:
        embedder = next_embedder(store)
        with progress_bar() as bar:
            model = await reembed(store, embedder, Shown(bar, embedder.model), allow_missing=allow_missing)
        return model.name, model.dimensions


class Shown:
    """Shows progress as a bar, or as a line now and then where there is no terminal."""

    def __init__(self, bar: Progress, model: str) -> None:
        self._bar = bar
        self._task = bar.add_task(f"Embedding with {model}", total=None)
        self._told = monotonic()

    def __call__(self, done: int, total: int) -> None:
        """So many of all fragments have their new vector."""
        self._bar.update(self._task, completed=done, total=total)
        if self._bar.disable and monotonic() - self._told > LINE_SECONDS:
            self._told = monotonic()
            note(f"{done:,} of {total:,} fragments have their new vector.")


def next_embedder(store: Store) -> Embedder:
    """The provider of the new model; raises `BadInput` when the settings name none."""
    if store.next_embedder is None:
        raise BadInput("Set CB_NEXT_EMBEDDING_PROVIDER, and CB_NEXT_EMBEDDING_MODEL with it, to the model to change to.")
    return store.next_embedder


def show(plan: Planned, as_json: bool) -> None:
    """The amount for people or programs."""
    left = plan.amount.fragments - plan.amount.done
    if as_json:
        print_json(
            {"model": plan.model, "dimensions": plan.dimensions, "fragments": plan.amount.fragments, "done": plan.amount.done,
             "calls": plan.calls, "characters": plan.amount.characters, "tokens": plan.tokens, "bytes": plan.disk}
        )  # fmt: skip
        return
    say(f"{left} of {plan.amount.fragments} fragments are to be embedded with {plan.model} ({plan.dimensions}).")
    say(
        f"That is about {plan.calls} calls of the provider; all texts are {plan.amount.characters} characters, about "
        f"{plan.tokens} tokens. The new vectors take about {max(1, round(plan.disk / MEGABYTE))} MB beside the old ones, "
        "which go afterwards."
    )
