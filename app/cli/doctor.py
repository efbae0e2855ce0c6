"""The command that says what is wrong and what to do."""

from __future__ import annotations

import rich_click as click
from rich.text import Text

from app.cli.command import command, json_option
from app.cli.output import print_json, printable, results
from app.cli.running import run
from app.doctor import examine_all
from app.findings import Finding, Level

STYLES = {Level.OK: "green", Level.WARN: "yellow", Level.FAIL: "bold red"}


@command("doctor", example="contextql doctor")
@json_option
def doctor_command(as_json: bool) -> None:
    """Look at database, extensions, indexes, provider, queue, statistics and tokens, and say what to do about each.

    Exit code 1 when something does not work; warnings alone give 0. Nothing is changed.
    """
    findings = run(examine_all)
    if as_json:
        lines = [{"level": one.level.value, "name": one.name, "found": one.found, "advice": one.advice} for one in findings]
        print_json({"ok": not failing(findings), "findings": lines})
    else:
        for one in findings:
            show(one)
    if failing(findings):
        raise click.ClickException(f"{failing(findings)} of {len(findings)} checks failed.")


def failing(findings: list[Finding]) -> int:
    """How many things do not work."""
    return sum(one.level is Level.FAIL for one in findings)


def show(finding: Finding) -> None:
    """One finding on a line, with what to do on the next."""
    line = Text(f"{finding.level.value:<5}", style=STYLES[finding.level])
    line.append(printable(f"{finding.name}: {finding.found}"), style="default")
    results().print(line, soft_wrap=True)
    if finding.advice:
        results().print(Text(printable(f"      {finding.advice}")), soft_wrap=True)
