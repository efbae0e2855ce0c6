"""Measures how well personal data are found: `python -m app.evaluation.personal [FOLDER]`."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from app.demo.corpus import LANGUAGES
from app.evaluation.collection import data_folder, read_collection
from app.evaluation.injection import fragments_of
from retrieval.personal.kinds import Kind
from retrieval.personal.masking import Span, personal_spans

ALSO_CALLED = {"OGRNIP": "OGRN"}
"""Kinds of the set that are one of ours; what is none of ours, such as an account, is not to be found."""

REPEATED = ("1", "1 ", "@", "+7", "тел. ", "тел. 123-45-67, ", "&#49;", "<b>1</b>", "*1", "a@b.cd ")
"""What a hostile text repeats."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A text with all spans of personal data in it."""

    text: str
    spans: frozenset[Span]


@dataclass(frozen=True, slots=True)
class Found:
    """How many spans were found as they are, wrongly, and not at all."""

    right: Counter[Kind]
    wrong: Counter[Kind]
    missed: Counter[Kind]

    @property
    def recall(self) -> float:
        """The share of the spans that were found, 0 to 1."""
        return self.right.total() / max(1, self.right.total() + self.missed.total())

    @property
    def precision(self) -> float:
        """The share of what was found that is right, 0 to 1."""
        return self.right.total() / max(1, self.right.total() + self.wrong.total())


def read_labelled(folder: Path) -> list[Labelled]:
    """The samples of the set, with the spans of our kinds."""
    texts = []
    for line in map(orjson.loads, (folder / "samples.jsonl").read_bytes().splitlines()):
        named = [(ALSO_CALLED.get(span["type"], span["type"]), span["start"], span["end"]) for span in line["spans"]]
        texts.append(
            Labelled(line["text"], frozenset(Span(Kind(k), start, end) for k, start, end in named if k in Kind.__members__))
        )
    return texts


def found_in(texts: Iterable[Labelled]) -> Found:
    """What is found in some texts, span by span; one with other ends is wrong, and the one it stands for missed."""
    found = Found(Counter(), Counter(), Counter())
    for one in texts:
        spans = frozenset(personal_spans(one.text))
        found.right.update(span.kind for span in spans & one.spans)
        found.wrong.update(span.kind for span in spans - one.spans)
        found.missed.update(span.kind for span in one.spans - spans)
    return found


def cost_of(texts: Sequence[str]) -> float:
    """CPU seconds of one text."""
    started = time.process_time()
    for text in texts:
        personal_spans(text)
    return (time.process_time() - started) / len(texts)


def kinds_in(texts: Iterable[str]) -> str:
    """What is found in texts in which there is hardly anything to find."""
    kinds = Counter(span.kind for text in texts for span in personal_spans(text))
    return ", ".join(f"{kind} {count}" for kind, count in kinds.most_common()) or "nothing"


def corpora() -> Iterator[tuple[str, list[str]]]:
    """The documents of every set that is there, by its name."""
    for file in sorted(data_folder().glob("*/corpus.jsonl.gz")):
        documents = read_collection(file.parent).documents
        yield file.parent.name, [f"{one.title}\n{one.text}" for one in documents]


def growth_of(unit: str) -> str:
    """What a megabyte of one thing costs, and a tenth of it."""
    large, small = (1_000 * cost_of([unit * (size // len(unit))]) for size in (1_000_000, 100_000))
    return f"`{unit.replace(' ', '␣')}` {large:,.0f} ({small:,.0f})"


def main() -> None:
    """Print what is found of each kind, and in the two knowledge bases."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else data_folder() / "pii"
    found = found_in(read_labelled(folder))
    print("| kind | found | wrong | missed |\n| --- | --- | --- | --- |")
    for kind in Kind:
        print(f"| {kind} | {found.right[kind]} | {found.wrong[kind]} | {found.missed[kind]} |")
    print(f"\nrecall {found.recall:.3f}, precision {found.precision:.3f}")
    for language in LANGUAGES:
        texts = fragments_of(language)
        print(f"{language}: {len(texts)} fragments, {kinds_in(texts)}; {cost_of(texts) * 1e6:.0f} µs of CPU each")
    for name, texts in corpora():
        print(f"{name}: {len(texts)} documents, {kinds_in(texts)}")
    print(f"in step with the length, ms of CPU of 1 MB (of 0.1 MB): {', '.join(map(growth_of, REPEATED))}")


if __name__ == "__main__":
    main()
