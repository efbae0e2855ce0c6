"""The command that brings a database to the schema of this release."""

from __future__ import annotations

from app.cli.command import command, json_option
from app.cli.output import print_json, say
from app.cli.running import run
from app.config import Settings
from app.opening import open_store
from retrieval.migrations import migrations


@command("migrate", example="CB_DATABASE_URL=postgresql://… contextql migrate")
@json_option
def migrate_command(as_json: bool) -> None:
    """Check the database and bring it to the schema of this release.

    The server does this too when it starts; run it by hand before servers that may not change the schema.
    """
    last = run(migrate)
    if as_json:
        print_json({"migration": last})
    else:
        say(f"The database is at migration {last}.")


async def migrate(settings: Settings) -> str:
    """Migrate; gives the name of the last migration."""
    async with open_store(settings):
        return migrations()[-1].name
