"""The command that measures what is promised."""

from __future__ import annotations

from typing import Literal

import rich_click as click

from app.bench.run import run_at_size, run_bench, run_rivals
from app.cli.command import command
from app.cli.running import run
from app.config import Settings


@command("bench", example="contextql bench --quick")
@click.option(
    "--quick", is_flag=True, help="A smaller corpus and fewer repetitions: finds a broken measurement, gives no figures."
)
@click.option(
    "--at-size",
    "part",
    flag_value="at-size",
    help="Only what is promised of 200,000 fragments, beside LanceDB; they are kept in CB_BENCH_DIR.",
)
@click.option(
    "--rivals", "part", flag_value="rivals",
    help="Only the comparison with LangChain and Hindsight, on sets in EVAL_DATA; their packages go into your cache.",
)  # fmt: skip
def bench_command(quick: bool, part: Literal["at-size", "rivals"] | None) -> None:
    """Measure what is promised and print a line each: PASS or FAIL, name, value, bound.

    Works in a database of its own and takes minutes; `make bench` runs all three parts. Exit code 1 when a promise is not kept.
    """

    async def measured(settings: Settings) -> bool:
        if part == "at-size":
            return await run_at_size(settings.bench_dir, quick)
        return await (run_rivals if part == "rivals" else run_bench)(quick)

    if not run(measured, embeds=False):
        raise click.ClickException("A promise is not kept; see the lines that begin with FAIL.")
