"""The command that measures what is promised."""

from __future__ import annotations

import rich_click as click

from app.bench.run import run_bench, run_rivals
from app.cli.command import command
from app.cli.running import run


@command("bench", example="contextql bench --quick")
@click.option(
    "--quick", is_flag=True, help="A smaller corpus and fewer repetitions: finds a broken measurement, gives no figures."
)
@click.option(
    "--rivals", is_flag=True,
    help="Only the comparison with LangChain and Hindsight, on sets in EVAL_DATA; their packages go into your cache.",
)  # fmt: skip
def bench_command(quick: bool, rivals: bool) -> None:
    """Measure what is promised and print a line each: PASS or FAIL, name, value, bound.

    Works in a database of its own that is gone afterwards, and takes minutes. Exit code 1 when a promise is not kept.
    """
    if not run(lambda settings: (run_rivals if rivals else run_bench)(quick), embeds=False):
        raise click.ClickException("A promise is not kept; see the lines that begin with FAIL.")
