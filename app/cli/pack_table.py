"""What `contextql pack` prints: the budget, sections of items with the bars of their scores, and what was dropped."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from app.cli.output import note, printable, results, say
from app.cli.pack_compiled import Compiled, detail_of, key_of, name_of, title_of, title_of_dropped
from retrieval.compilation.item import ItemKind
from retrieval.compilation.pack import PackItem, Section
from retrieval.ranking import Signal

BAR = 12
BUDGET_BAR = 40
NAME = 15


def show(pack: Compiled) -> None:
    """Print it for people."""
    console, words = results(), pack.words
    for one in pack.degraded:
        note(one.message)
    budget = pack.budget
    used = f"{budget.used_tokens:,} {words['of']} {budget.max_tokens:,} {words['tokens']}"
    console.print(Text(f"{pack.question.strategy.value} · {used}", style="bold"), soft_wrap=True)
    console.print(Text(bar(budget.used_tokens / budget.max_tokens, BUDGET_BAR), style="green"), soft_wrap=True)
    if not pack.sections:
        say(words["empty"])
    console.print()
    for section in pack.sections:
        console.print(section_table(pack, section))
    if budget.dropped:
        console.print(dropped_table(pack))
        console.print()
    say(f"{words['trace']} {pack.trace_id}" if pack.trace_id else words["untraced"])


def section_table(pack: Compiled, section: Section) -> Table:
    """The items of a section, each with its price and its score."""
    words = pack.words
    table = Table(box=None, header_style="bold", pad_edge=False, expand=True)
    table.add_column(f"{pack.heading(section.kind)} · {section.token_estimate:,} {words['tokens']}", ratio=1)
    table.add_column(words["tokens"], justify="right", no_wrap=True)
    table.add_column(words["score"], justify="right", no_wrap=True)
    for item in section.items:
        score = "" if item.kind is ItemKind.CURRENT else f"{item.score:.4f}"
        lines = Group(*lines_of(item, words), Text())
        table.add_row(lines, f"{item.token_estimate:,}", Text(score, style="green"))
    return table


def lines_of(item: PackItem, words: dict[str, str]) -> Iterator[Text]:
    """An item: what it is, what it is cited by, a bar for each term of its score."""
    title = Text(title_of(item, words), style="bold")
    if item.conflict:
        title.append(f"  ⚡ {words['conflict']}", style="red")
    if item.neutralized:
        title.append(f"  {words['neutralized']}", style="yellow")
    yield title
    if item.kind is ItemKind.CURRENT:
        yield Text(printable(item.text), style="dim")
        return
    where = " · ".join(printable(part) for part in (item.namespace, item.source_path) if part)
    yield Text(f"[{key_of(item)}]", style="cyan").append(f"  {where}", style="dim")
    for signal in item.signals:
        yield Text(signal_line(signal, item.score, words), style="dim", no_wrap=True, overflow="ellipsis")


def signal_line(signal: Signal, score: float, words: dict[str, str]) -> str:
    """A term of a score: its share of it as a bar, what it adds, and where it comes from."""
    share = bar(signal.contribution / score, BAR)
    return f"{name_of(signal):<{NAME}} {share} {signal.contribution:.4f}  {detail_of(signal, words)}".rstrip()


def bar(share: float, width: int) -> str:
    """A bar that is filled up to a share of it; anything that is there at all is seen."""
    filled = min(width, max(round(share * width), 1 if share > 0 else 0))
    return "█" * filled + "░" * (width - filled)


def dropped_table(pack: Compiled) -> Table:
    """What did not get in, why, and what it would have taken."""
    words = pack.words
    table = Table(box=None, header_style="bold", pad_edge=False, expand=True)
    table.add_column(words["dropped"], ratio=1)
    table.add_column(words["reason"], no_wrap=True)
    table.add_column(words["tokens"], justify="right", no_wrap=True)
    table.add_column(words["score"], justify="right", no_wrap=True)
    for one in pack.budget.dropped:
        name = Text(f"{title_of_dropped(one)}  ").append(f"{one.kind.value.lower()} {one.item_id}", style="dim")
        reason = Text(words[one.reason.value], style="yellow")
        table.add_row(name, reason, f"{one.token_estimate:,}", Text(f"{one.score:.4f}", style="green"))
    return table
