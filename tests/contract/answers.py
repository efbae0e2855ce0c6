"""What an answer must be when the model repeats all that it was given (`tests.fixtures.scribes`): nothing hidden reaches it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from tests.contract.searching import Run
from tests.fixtures.company import Fragment


@dataclass(frozen=True)
class Cited:
    """A citation."""

    marker: str
    start: int
    end: int
    fragment: Fragment


class Answered:
    """The answer of one search."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.russian = run.language == "RU"
        self.fragments = [hit.fragment for hit in run.hits if hit.fragment is not None]
        self.is_asked = bool(run.hits or run.neighbours)

    @property
    def status(self) -> str:
        return "ANSWERED" if self.is_asked else "NOTHING_FOUND"

    @property
    def model(self) -> str | None:
        return "scribe" if self.is_asked else None

    @property
    def removed(self) -> int:
        return 2 if self.is_asked else 0

    @cached_property
    def text(self) -> str:
        if not self.is_asked:
            return (
                "В графе знаний нет данных по этому вопросу"
                if self.russian
                else "The knowledge graph has no data on this question"
            )
        masked = self.run.view.world.masked  # a chat model is told no personal data, whoever asks
        parts = ["# Найденные фрагменты" if self.russian else "# Fragments found"] if self.fragments else []
        for number, fragment in enumerate(self.fragments, 1):
            entity = fragment.entity
            lines = [f"## [{number}] {masked(entity.title)}" + (f" — {masked(fragment.heading)}" if fragment.heading else "")]
            lines += [f"{'Ключ' if self.russian else 'Key'}: {entity.key}"]
            lines += [f"{'Источник' if self.russian else 'Source'}: {masked(entity.path)}"] if entity.path else []
            parts.append("\n".join(lines) + "\n\n" + masked(fragment.text))
        if self.run.neighbours:
            lines = ["# Связанные сущности (граф, соседи)" if self.russian else "# Related entities (graph, neighbours)"]
            for one in self.run.neighbours:
                entity = one.entity
                line = f"- {entity.key} ({entity.type}) {masked(entity.title)}"
                line += f" status={masked(entity.status)}" if entity.status else ""
                lines.append(line + (f" — {masked(entity.path)}" if entity.path else ""))
            parts.append("\n".join(lines))
        return "\n\n".join(parts) + "\n"

    @cached_property
    def citations(self) -> list[Cited]:
        if not self.is_asked:
            return []
        return [
            Cited(found[0], units(self.text, found.start()), units(self.text, found.end()), self.fragments[int(found[1]) - 1])
            for found in re.finditer(r"\[(\d+)\]", self.text)
        ]


def units(text: str, place: int) -> int:
    """How many UTF-16 code units come before a place."""
    return len(text[:place].encode("utf-16-le")) // 2
