"""What is told of an answer while it is written."""

from __future__ import annotations

from typing import Annotated, Any

import strawberry

from retrieval.answering import streaming
from schema.answer import Answer
from schema.entity import SourceCard, field
from schema.search import FragmentHit


@strawberry.type(description="The first event: what the answer will rest on.")
class AnswerFound:
    hits: list[FragmentHit] = field("The hits, as `search` gives them.")
    sources: list[SourceCard] = field("Cards of the hits, then of the neighbours, each key once.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        """Whether a value is this event."""
        return isinstance(value, streaming.Found)


@strawberry.type(description="The next piece of the text; what was sent is final.")
class AnswerDelta:
    text: str = field("The piece; all of them joined are the text of the answer.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        """Whether a value is this event."""
        return isinstance(value, streaming.Delta)


@strawberry.type(description="The last event: the whole answer.")
class AnswerDone:
    answer: Answer = field("The answer.")

    @classmethod
    def is_type_of(cls, value: Any, info: Any) -> bool:
        """Whether a value is this event."""
        return isinstance(value, streaming.Done)


AnswerEvent = Annotated[
    AnswerFound | AnswerDelta | AnswerDone,
    strawberry.union("AnswerEvent", description="What happens while an answer is written: found, then pieces, then done."),
]
