"""What `contextql ask --answer` prints: the text as it is written, and the sources that it cites."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from app.cli.output import note, printable, results
from retrieval.answering.answer import Answer, AnswerStatus, Citation
from retrieval.errors import ProviderUnavailable
from retrieval.prompt import Language

SOURCES: dict[Language, str] = {"ru": "Источники", "en": "Sources"}
NOTES: dict[AnswerStatus, str] = {
    AnswerStatus.REFUSED: "The chat model would not answer.",
    AnswerStatus.TRUNCATED: "The answer ends early: the chat model broke off, ran out of time, or wrote too much.",
}
NO_ANSWER = "The chat model gave no answer: it failed, was too late, or its server was not reached; see CB_LLM_PROVIDER."


class Printed:
    """Text on stdout as it comes."""

    def __init__(self) -> None:
        self._file = results().file
        self._is_line_open = False

    def say(self, piece: str) -> None:
        """Print a piece; nothing in it steers the terminal."""
        text = "\n".join(printable(line) for line in piece.split("\n"))
        self._file.write(text)
        self._file.flush()
        self._is_line_open = not text.endswith("\n")

    def end(self) -> None:
        """End the last line."""
        if self._is_line_open:
            self._file.write("\n")


def show_end(answer: Answer, language: Language) -> None:
    """Print the sources, each number once, and what is to be said of the answer; raises `ProviderUnavailable` for none."""
    if answer.status is AnswerStatus.UNAVAILABLE:
        raise ProviderUnavailable(NO_ANSWER)
    if answer.status in NOTES:
        note(NOTES[answer.status])
    if answer.removed_citations:
        note(f"Citations that pointed to nothing and were taken out: {answer.removed_citations}.")
    console = results()
    cited = {one.marker: one for one in answer.citations}
    if cited:
        console.print()
        console.print(Text(SOURCES[language], style="bold"))
    for one in sorted(cited.values(), key=lambda one: int(one.marker[1:-1])):
        console.print(source_line(one), soft_wrap=True)


def source_line(one: Citation) -> Text:
    """A source: its number, title and heading, key, and where people find it."""
    entity, heading = one.card, f" — {one.fragment.heading}" if one.fragment.heading else ""
    line = Text(f"  {one.marker} ", style="bold")
    line.append(printable(one.fragment.title + heading))
    line.append(printable(f"  [{entity.key}]"), style="cyan")
    if entity.source_path:
        line.append(printable(f"  {entity.source_path}"), style="dim")
    return line


def plain_answer(answer: Answer) -> dict[str, Any]:
    """An answer as JSON, with the names of the GraphQL fields."""
    return {
        "text": answer.text,
        "status": answer.status.value,
        "removedCitations": answer.removed_citations,
        "model": answer.model,
        "citations": [
            {"marker": one.marker, "start": one.start, "end": one.end, "namespace": one.card.namespace, "key": one.card.key,
             "title": one.card.title, "sourcePath": one.card.source_path, "ordinal": one.fragment.ordinal}
            for one in answer.citations
        ],
    }  # fmt: skip
