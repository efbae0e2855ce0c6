"""The command that masks the personal data of a base that was filled before."""

from __future__ import annotations

from app.cli.command import command, json_option
from app.cli.output import print_json, progress_bar, say
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.ingest.remasking import Remasked, remask


@command("mask", example="contextql mask")
@json_option
def mask_command(as_json: bool) -> None:
    """Index texts with personal data anew from their masked form, and flag their sources.

    Needed once for a base that was filled by a release that did not find them, or found fewer. The base is read and written
    meanwhile; a run that is cut off is taken up by the next. Vectors of what changed are made anew by the workers. After any
    upgrade it renews the seals that spare readers a look at clean texts; without it answers are the same, and cost more.
    """
    done = run(work)
    if as_json:
        print_json({"fragments": done.fragments, "sources": done.sources})
    else:
        say(f"{done.fragments:,} fragments were indexed anew, {done.sources:,} sources flagged.")


async def work(settings: Settings) -> Remasked:
    """Mask with a bar."""
    async with open_store(settings) as store:
        with progress_bar() as bar:
            task = bar.add_task("Masking", total=None)
            return await remask(store.database, lambda done, total: bar.update(task, completed=done, total=total))
