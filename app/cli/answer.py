"""What `contextql ask` prints: fragments with the bars of their scores, and the entities around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from app.cli.output import note, printable, results, say
from retrieval.highlights import Highlight, TextField
from retrieval.prompt import Language
from retrieval.ranking import Signal
from retrieval.search import FragmentHit
from retrieval.subgraph import FoundNeighbour
from retrieval.text_lists import Degradation

BAR = 10
BEFORE = 60
LEAST_WIDTH = 40

WORDS: dict[Language, dict[str, str]] = {
    "ru": {"nothing": "Ничего не найдено.", "around": "Связанные сущности", "rank": "место", "score": "оценка"},
    "en": {"nothing": "Nothing was found.", "around": "Related entities", "rank": "rank", "score": "score"},
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What one search gave."""

    question: str
    language: Language
    hits: Sequence[FragmentHit]
    highlights: Sequence[Sequence[Highlight]]
    neighbours: Sequence[FoundNeighbour]
    degraded: Sequence[Degradation]
    context: str | None


def show(answer: Answer) -> None:
    """Print it for people."""
    console, words = results(), WORDS[answer.language]
    for one in answer.degraded:
        note(one.message)
    if answer.context is not None:
        console.file.write(answer.context + "\n")
        return
    if not answer.hits:
        say(words["nothing"])
    for number, (hit, marks) in enumerate(zip(answer.hits, answer.highlights, strict=True), 1):
        show_hit(console, number, hit, marks, words)
    if answer.neighbours:
        console.print(Text(words["around"], style="bold"))
        for neighbour in answer.neighbours:
            entity = neighbour.entity
            console.print(Text(printable(f"  [{entity.key}] ({entity.type}) {entity.title}")), overflow="ellipsis", no_wrap=True)


def show_hit(console: Console, number: int, hit: FragmentHit, marks: Sequence[Highlight], words: dict[str, str]) -> None:
    """One fragment: where it stands, its score, how it came about, two lines of its text."""
    title = Text(f"{number}. ", style="bold")
    title.append(printable(f"[{hit.entity.key}] "), style="cyan")
    fragment = hit.fragment
    heading = f" — {fragment.heading}" if fragment is not None and fragment.heading else ""
    title.append(printable((hit.entity.title if fragment is None else fragment.title) + heading), style="bold")
    title.append(f"  {words['score']} {hit.score:.4f}", style="green")
    if hit.rerank_score is not None:
        title.append(f"  rerank {hit.rerank_score:.2f}", style="green")
    console.print(title, soft_wrap=True)
    if hit.entity.source_path:
        console.print(Text(printable(f"   {hit.entity.source_path} · {hit.entity.namespace}"), style="dim"), soft_wrap=True)
    for signal in hit.signals:
        console.print(Text(f"   {bar_of(signal, hit.score, words)}", style="dim"), soft_wrap=True)
    for line in excerpt("" if fragment is None else fragment.text, marks, max(LEAST_WIDTH, console.width - 4)):
        console.print(Text("   ") + line, soft_wrap=True)
    console.print()


def bar_of(signal: Signal, score: float, words: dict[str, str]) -> str:
    """The share of a signal in its score as a bar, with rank and raw score."""
    share = signal.contribution / score if score > 0 else 0.0
    filled = max(0, min(BAR, round(share * BAR)))
    name = (signal.channel or signal.kind).value.lower()
    rank = "" if signal.rank is None else f" {words['rank']} {signal.rank + 1}"
    raw = "" if signal.raw_score is None else f" ({signal.raw_score:.3f})"
    return f"{name:<8} {'█' * filled}{'░' * (BAR - filled)} {signal.contribution:.4f}{rank}{raw}"


def excerpt(text: str, marks: Sequence[Highlight], width: int) -> list[Text]:
    """Two lines of the text around its first mark, cut between words, matching words in bold."""
    whole, units = Text(printable(text)), text.encode("utf-16-le", "replace")
    spans = [(letters(units, mark.start), letters(units, mark.end)) for mark in marks if mark.field is TextField.TEXT]
    for start, end in spans:
        whole.stylize("bold yellow", start, end)
    begin = spans[0][0] - BEFORE if spans and spans[0][0] > width else 0
    first = between_words(whole.plain, begin, BEFORE // 2) if begin else 0
    second = between_words(whole.plain, first + width, -width // 2)
    shown = [whole[first:second], whole[second : between_words(whole.plain, second + width, -width // 2)]]
    return [line for line in shown if line.plain.strip()]


def between_words(text: str, place: int, play: int) -> int:
    """The place after the nearest space within `play` letters, which are behind it when negative; else the place itself."""
    if place >= len(text):
        return len(text)
    found = text.find(" ", place, place + play) if play > 0 else text.rfind(" ", place + play, place)
    return place if found < 0 else found + 1


def letters(units: bytes, offset: int) -> int:
    """How many letters of a text in UTF-16 come before an offset in code units."""
    return len(units[: 2 * offset].decode("utf-16-le", "replace"))


def plain(answer: Answer) -> dict[str, Any]:
    """The answer as JSON has it, with the names of the GraphQL fields."""
    return {
        "question": answer.question,
        "hits": [hit_of(hit, marks) for hit, marks in zip(answer.hits, answer.highlights, strict=True)],
        "neighbors": [
            {"namespace": one.entity.namespace, "key": one.entity.key, "type": one.entity.type, "title": one.entity.title,
             "sourcePath": one.entity.source_path, "hops": one.hops}
            for one in answer.neighbours
        ],
        "degraded": [{"part": one.part, "code": one.code, "message": one.message} for one in answer.degraded],
        **({} if answer.context is None else {"context": answer.context}),
    }  # fmt: skip


def hit_of(hit: FragmentHit, marks: Sequence[Highlight]) -> dict[str, Any]:
    """A fragment as JSON; of an entity without text its title."""
    fragment = hit.fragment
    return {
        "namespace": hit.entity.namespace,
        "key": hit.entity.key,
        "title": hit.entity.title if fragment is None else fragment.title,
        "heading": None if fragment is None else fragment.heading,
        "sourcePath": hit.entity.source_path,
        "ordinal": None if fragment is None else fragment.ordinal,
        "text": None if fragment is None else fragment.text,
        "score": hit.score,
        "rerankScore": hit.rerank_score,
        "signals": [
            {"kind": one.kind.value, "channel": one.channel and one.channel.value, "rank": one.rank,
             "rawScore": one.raw_score, "weight": one.weight, "contribution": one.contribution}
            for one in hit.signals
        ],
        "matchedIdentifiers": list(hit.matched_identifiers),
        "highlights": [{"field": one.field.value, "start": one.start, "end": one.end} for one in marks],
    }  # fmt: skip
