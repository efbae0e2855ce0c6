"""Answers: their text, and what it rests on."""

from __future__ import annotations

import strawberry

from schema.entity import Fragment, SourceCard, field
from schema.enums import AnswerStatus


@strawberry.type(description="A place of an answer that points to what it rests on; offsets count UTF-16 code units of its text.")
class Citation:
    marker: str = field("How it stands in the text, such as `[1]`.")
    start: int = field("Offset of its first unit.")
    end: int = field("Offset after its last unit.")
    fragment: Fragment | None = field("The fragment.")
    card: SourceCard = field("What an interface shows as the source.")


@strawberry.type(description="What a chat model makes of hits and neighbours; a failure of it is a status, never an error.")
class Answer:
    text: str = field("The text, in Markdown, with citations such as `[1]`; empty where there is none.")
    status: AnswerStatus = field("What became of it.")
    citations: list[Citation] = field(
        "The citations in the order of the text, at most 100; each points to a fragment that was given."
    )
    removed_citations: int = field("Citations that pointed to nothing and were taken out of the text.")
    model: str | None = field("The model that was asked; null when none was.")
