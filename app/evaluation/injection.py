"""Measures what neutralising catches and what it spares: `python -m app.evaluation.injection [FOLDER]`.

Attacks come in two halves: the rules were written with the first in sight, nobody looked at the second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import orjson

from app.demo.corpus import LANGUAGES, pages
from app.evaluation.collection import data_folder
from retrieval.ingest.documents import read_document
from retrieval.untrusted import examine

ENCODED, TASK = "obfuscation", "embedded-task"
"""Kinds of attacks that no rule over words can know: encoded ones, and plain requests."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A text of the set."""

    id: str
    text: str
    attack: bool
    kind: str

    @property
    def seen(self) -> bool:
        """True for the half that the rules were written with."""
        return sha256(self.id.encode()).digest()[-1] % 2 == 0


@dataclass(frozen=True, slots=True)
class Share:
    """How many of the texts were changed by more than taking out invisible characters (`flagged`), or at all (`changed`)."""

    what: str
    of: int
    flagged: int
    changed: int

    @property
    def ratio(self) -> float:
        """The flagged or altered share, 0 to 1."""
        return self.changed / self.of if self.of else 0.0


def read_samples(folder: Path) -> list[Sample]:
    """The samples of the set."""
    lines = map(orjson.loads, (folder / "samples.jsonl").read_bytes().splitlines())
    return [Sample(line["id"], line["text"], line["label"] == 1, line["kind"]) for line in lines]


def shares_of(samples: Sequence[Sample]) -> list[Share]:
    """The shares of attacks (both halves, then all), harmless texts, encoded attacks and plain tasks."""
    attacks = [sample for sample in samples if sample.attack and sample.kind not in (ENCODED, TASK)]
    return [
        share_of("attacks, half in sight", (sample.text for sample in attacks if sample.seen)),
        share_of("attacks, half held out", (sample.text for sample in attacks if not sample.seen)),
        share_of("attacks, all", (sample.text for sample in attacks)),
        share_of("harmless", (sample.text for sample in samples if not sample.attack)),
        share_of("encoded attacks", (sample.text for sample in samples if sample.kind == ENCODED and sample.attack)),
        share_of("plain tasks", (sample.text for sample in samples if sample.kind == TASK)),
    ]


def share_of(what: str, texts: Iterable[str]) -> Share:
    """The share of some texts."""
    found = [examine(text) for text in texts]
    return Share(what, len(found), sum(one.flagged for one in found), sum(one.changed for one in found))


def fragments_of(language: str) -> list[str]:
    """The fragments of the knowledge base of a language: the pages of FastAPI's documentation."""
    return [piece.text for page in pages(language) for piece in read_document(page.key, page.content).pieces]


def cost_of(texts: Sequence[str]) -> float:
    """CPU seconds of one text, once the matchers have met such texts."""
    for text in texts:
        examine(text)
    started = time.process_time()
    for text in texts:
        examine(text)
    return (time.process_time() - started) / len(texts)


def main() -> None:
    """Print the shares as a table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else data_folder() / "injection"
    bases = {language: fragments_of(language) for language in LANGUAGES}
    shares = shares_of(read_samples(folder)) + [share_of(f"fragments, {name}", texts) for name, texts in bases.items()]
    print("| texts | number | flagged | flagged or altered |\n| --- | --- | --- | --- |")
    for share in shares:
        print(f"| {share.what} | {share.of} | {share.flagged} | {share.changed} ({share.ratio:.1%}) |")
    for name, texts in bases.items():
        characters = sum(map(len, texts)) // len(texts)
        print(f"\n{name}: {cost_of(texts) * 1e6:.0f} µs of CPU for a fragment of {characters} characters")


if __name__ == "__main__":
    main()
