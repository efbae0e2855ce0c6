"""The lists of fragments of one question, by meaning and by words: what searches and packs share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from retrieval.errors import DeadlineExceeded, ProviderUnavailable
from retrieval.identifiers import find_identifiers
from retrieval.model import Model, ModelChanged, QuestionVector
from retrieval.personal.lookup import marks_asked, without_personal_data
from retrieval.personal.masking import masked
from retrieval.primitives.lexical import Words, words_of
from retrieval.primitives.lexical import lexical as lexical_primitive
from retrieval.primitives.text import both as text_primitive
from retrieval.primitives.vector import vector as vector_primitive
from retrieval.question import FragmentFilter
from retrieval.ranking import Channel, Ranking
from retrieval.reader import Reader
from retrieval.stage import Work, stage
from retrieval.tuning import Tuning

if TYPE_CHECKING:
    from retrieval.session import Session

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Degradation:
    """A helper that did not help: `part`, a stable `code` and a sentence."""

    part: str
    code: str
    message: str


def pool_size(tuning: Tuning, k: int, namespaces: Sized | None) -> int:
    """How many candidates each list has, by the number of hits asked for and of namespaces named (spec 3)."""
    return min(tuning.pool_most, max(tuning.pool_least, k * max(2, len(namespaces or ()))))


class TextLists:
    """The words and the vector of one text, and the lists of `size` fragments that they give."""

    def __init__(self, session: Session, reader: Reader, text: str, size: int, filter: FragmentFilter) -> None:
        self.session = session
        self.reader = reader
        self.work: Work = session.work
        self.text = text
        self.size = size
        self.filter = filter
        self.worded_text = without_personal_data(text)
        self.identifiers = find_identifiers(self.worded_text)
        self.lost: Degradation | None = None
        """Why there is no vector of the model that the base turned out to hold."""

    @stage
    async def embedding(self) -> QuestionVector | Degradation:
        """The vector of the question, or why there is none: the search goes on without it."""
        return await self._embedded()

    @stage
    async def words(self) -> Words:
        """The words and identifiers of the question."""
        shown = [space.ns for space in self.reader.spaces if self.reader.shows(space.ns)]
        return await words_of(self.reader, self.worded_text, self.identifiers, marks_asked(shown, self.text))

    async def by_meaning(self, rank: Callable[[QuestionVector | Degradation], Awaitable[T]]) -> T:
        """Rank with the vector of the question, and with one of another model when the base turns out to hold that model now."""
        try:
            return await rank(await self.embedding)
        except ModelChanged as changed:  # between the first statement of the request and this one
            anew = await self._embedded(changed.current or await self.reader.current_model())
        if isinstance(anew, Degradation):
            self.lost = anew
        return await rank(anew)

    async def _embedded(self, model: Model | None = None) -> QuestionVector | Degradation:
        try:
            return await self.session.question_vector(masked(self.text), model)
        except (ProviderUnavailable, DeadlineExceeded) as error:
            self.session.store.observer.degraded("embedding", error.code)
            return Degradation("embedding", error.code, error.message)

    async def fragments(
        self, reader: Reader, embedding: QuestionVector | Degradation | None, words: Words | None
    ) -> dict[Channel, Ranking]:
        """The lists that can be asked for, of one moment: no list without what it is ranked by."""
        if isinstance(embedding, QuestionVector) and words is not None and not words.is_empty:
            rankings = await text_primitive(reader, embedding, words, self.size, self.filter)
            return dict(zip((Channel.VECTOR, Channel.LEXICAL), rankings, strict=True))
        found: dict[Channel, Ranking] = {}
        if embedding is not None:
            found[Channel.VECTOR] = await self.nearest(reader, embedding)
        if words is not None:
            found[Channel.LEXICAL] = await self.worded(reader, words)
        return found

    async def nearest(self, reader: Reader, embedding: QuestionVector | Degradation) -> Ranking:
        """Fragments by meaning; empty without a vector."""
        if isinstance(embedding, Degradation):
            return Ranking(Channel.VECTOR, (), self.size)
        return await vector_primitive(reader, embedding, self.size, self.filter)

    async def worded(self, reader: Reader, words: Words) -> Ranking:
        """Fragments by words and identifiers."""
        return await lexical_primitive(reader, words, self.size, self.filter)
