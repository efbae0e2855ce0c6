"""One request: its caller, its clock, its loaders; it is the context that every field receives."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from time import perf_counter
from typing import Any

from retrieval.access import Access, Caller, Space
from retrieval.aggregation import Aggregation
from retrieval.auditing.reads import note_read
from retrieval.catalogue import Catalogue
from retrieval.compilation.compilation import Compilation
from retrieval.compilation.question import PackQuestion
from retrieval.counting import Counting
from retrieval.errors import ContextQLError, DeadlineExceeded, ProviderUnavailable
from retrieval.identity import Identity
from retrieval.knowledge import Knowledge
from retrieval.listing import Listing, ListQuestion
from retrieval.loader import Loader
from retrieval.model import Model, QuestionVector, VectorValues
from retrieval.ports import Embedder, Vectors
from retrieval.question import Question, check_namespaces
from retrieval.reader import Reader, Rights
from retrieval.search import Search
from retrieval.spending import Spent, spending
from retrieval.stage import Work, stage
from retrieval.store import Store
from retrieval.subgraph import GraphQuestion, Subgraph, starts_in
from retrieval.tracing.tracing import Tracings
from retrieval.typed.context import TypedContext
from retrieval.typed.question import TypedQuestion, spaces_of

GRACE_SECONDS = 1.0
"""What an embedding may take past its time: the provider ends it itself, and counts it; cancelled it would count for nothing."""
QUESTION_TURNS = 4
"""How many turns of the loop the questions of one document are gathered: two more than it takes, nothing beside a call."""


class Session:
    """Everything of one request; `close` stops what still runs."""

    def __init__(
        self, store: Store, identity: Identity, *, deadline: float, request_id: str = "", clock: datetime | None = None
    ) -> None:
        self.store = store
        self.work = Work()
        self.spent = Spent()
        self.deadline = deadline
        self.request_id = request_id
        self.touched: set[str] = set()
        """The namespaces that were read or written, for the access line; one that is closed to the caller is not among them."""
        self.rights = Rights(store, identity, deadline, request_id)
        self._identity = identity
        self._clock = clock
        self._readers: dict[tuple[int, ...], Reader] = {}
        self._searches: dict[Question, Search] = {}
        self._subgraphs: dict[GraphQuestion, Subgraph] = {}
        self._typed: dict[TypedQuestion, TypedContext] = {}
        self._packs: dict[PackQuestion, Compilation] = {}
        self._listings: dict[ListQuestion, Listing] = {}
        self._countings: dict[Aggregation, Counting] = {}
        self._vectors: Loader[tuple[Model, str], VectorValues] = Loader(self.work, self._embed, turns=QUESTION_TURNS)
        self._catalogue: Catalogue | None = None

    async def close(self) -> None:
        """Cancel what still runs and wait until it is gone."""
        if "tracings" in self.__dict__:
            await self.tracings.work.close()
        await self.work.close()

    def let_go(self) -> None:
        """Empty the runs, which know the session that knows them: once it is answered, nothing is left to a search for cycles."""
        held = (self._searches, self._subgraphs, self._typed, self._packs, self._listings, self._countings, self._readers)
        for known in held:
            for one in known.values():
                vars(one).clear()
            known.clear()
        for loaders in (self._vectors, self._catalogue):
            if loaders is not None:
                vars(loaders).clear()

    def again(self) -> Session:
        """A session of the same caller that sees what is stored now, with a full time of its own."""
        seconds = self.store.tuning.statement_seconds * 4
        deadline = asyncio.get_running_loop().time() + seconds
        return Session(self.store, self._identity, deadline=deadline, request_id=self.request_id)

    @property
    def ends_at(self) -> float | None:
        """When the token of the caller ends, in seconds since 1970, where that is known of the token itself."""
        return self._identity.ends_at

    @stage
    async def caller(self) -> Caller:
        """Who asks and what that caller may see; the first statement of every request."""
        async with self.store.database.reading(self.rights.seconds_left()) as connection:
            return await self.rights.resolve_caller(connection)

    async def rights_hold(self) -> bool:
        """Whether the caller and all rights are still as they were when the request began; for streams."""
        return await self.rights.hold_since((await self.caller).access.epoch)

    async def note_answer(self, kind: str) -> None:
        """Note in the audit what a service read for a user, before the answer leaves; whoever asks for itself leaves nothing.

        `kind` is query, mutation or subscription. Raises `ReadOnly`, `DatabaseUnavailable`: then there is no answer.
        """
        if self._identity.acts_for is not None:
            await note_read(self.store, await self.caller, kind, self.touched, self.store.tuning.statement_seconds)

    async def spaces(self, names: Iterable[str] | None) -> tuple[Space, ...]:
        """The namespaces asked for; raises `NamespaceNotFound`, before anything else is read."""
        found = (await self.caller).narrowed(check_namespaces(self.store.tuning, names))
        self.touched.update(space.name for space in found)
        return found

    async def now(self) -> datetime:
        """The clock of the request: read once, from the database, or that of an earlier one that is done again."""
        return self._clock or (await self.caller).now

    @cached_property
    def tracings(self) -> Tracings:
        """The traces of the runs of this request."""
        return Tracings(self)

    def reader(self, spaces: Sequence[Space]) -> Reader:
        """The reader over some of the caller's namespaces; the same spaces give the same reader."""
        key = tuple(space.ns for space in spaces)
        reader = self._readers.get(key)
        if reader is None:
            reader = self._readers[key] = Reader(self.rights, self.access, spaces)
        return reader

    async def access(self) -> Access:
        """What the caller may see in all namespaces."""
        return (await self.caller).access

    async def catalogue(self) -> Catalogue:
        """Keyed look-ups over all that the caller may read, batched."""
        if self._catalogue is None:
            caller = await self.caller
            if self._catalogue is None:
                self._catalogue = Catalogue(self.work, self.reader(caller.spaces))
        return self._catalogue

    async def search(self, question: Question) -> Search:
        """The run of a question; equal questions share one."""
        spaces = await self.spaces(question.namespaces)
        run = self._searches.get(question)
        if run is None:
            run = self._searches[question] = Search(self, question, spaces)
        return run

    async def listing(self, question: ListQuestion) -> Listing:
        """The run of a list of entities; equal questions share one. Raises `BadCursor`."""
        spaces = await self.spaces(question.namespaces)
        run = self._listings.get(question)
        if run is None:
            run = self._listings[question] = Listing(self, question, spaces, (await self.caller).name)
        return run

    async def counting(self, asked: Aggregation) -> Counting:
        """The run of a count; equal ones share one."""
        spaces = await self.spaces(asked.namespaces)
        run = self._countings.get(asked)
        if run is None:
            run = self._countings[asked] = Counting(self, asked, spaces)
        return run

    async def graph(self, asked: GraphQuestion) -> Subgraph:
        """The run of a walk; equal ones share one. Raises `NamespaceNotFound`, `BadInput`."""
        spaces = await self.spaces(asked.namespaces)
        named = await self.spaces(ref.namespace for ref in asked.start if ref.namespace is not None)
        run = self._subgraphs.get(asked)
        if run is None:
            run = self._subgraphs[asked] = Subgraph(self, asked, starts_in(asked, spaces, named))
        return run

    async def typed(self, asked: TypedQuestion) -> TypedContext:
        """The run of a typed walk; equal ones share one. Raises `NamespaceNotFound`, `BadInput`, before anything is walked."""
        spaces = await self.spaces(asked.namespaces)
        named = await self.spaces(one.namespace for one in asked.anchors if one.namespace is not None)
        run = self._typed.get(asked)
        if run is None:
            run = self._typed[asked] = TypedContext(self, asked, spaces, spaces_of(asked, spaces, named))
        await run.checked
        return run

    async def pack(self, asked: PackQuestion) -> Compilation:
        """The run of a pack; equal ones share one. Raises `NamespaceNotFound`."""
        spaces = await self.spaces(asked.namespaces)
        run = self._packs.get(asked)
        if run is None:
            run = self._packs[asked] = Compilation(self, asked, spaces)
        return run

    async def knowledge(self, names: Iterable[str] | None) -> Knowledge:
        """The state of some namespaces."""
        return Knowledge(self, await self.spaces(names), names is not None)

    async def question_vector(self, text: str, model: Model | None = None) -> QuestionVector:
        """The vector of a question by the model that holds the base, or by one that is named; several become one call.

        Raises `ProviderUnavailable` when this process cannot ask that model.
        """
        model = model or (await self.caller).model
        self.store.embedder_of(model)
        assert model is not None
        known = await self._vectors.one((model, text))
        assert known is not None
        return QuestionVector(known, model)

    async def _embed(self, keys: list[tuple[Model, str]]) -> Mapping[tuple[Model, str], VectorValues]:
        found: dict[tuple[Model, str], VectorValues] = {}
        for model in dict.fromkeys(model for model, _ in keys):
            texts = [text for other, text in keys if other == model]
            embedder, vectors = self.store.embedder_of(model), dict[str, VectorValues]()
            for text in texts:
                known = self.store.question_vectors.get(embedder.model, text)
                if known is not None and len(known) == model.dimensions:
                    vectors[text] = known
            # Counted where they are remembered too: the number is not to tell what others asked before.
            self.spent.provider_calls += 1
            if unknown := [text for text in texts if text not in vectors]:
                vectors.update(zip(unknown, await self._embed_with(embedder, unknown), strict=True))
            found.update(((model, text), vector) for text, vector in vectors.items())
        return found

    async def _embed_with(self, embedder: Embedder, texts: list[str]) -> Vectors:
        if not getattr(embedder, "runs_here", False):
            self.spent.gives_way()
        started = perf_counter()
        left = self.deadline - asyncio.get_running_loop().time()
        limit = max(0.0, min(self.store.tuning.embedding_seconds + GRACE_SECONDS, left))
        try:
            vectors = await asyncio.wait_for(embedder.embed_questions(texts), limit)
        except TimeoutError:
            raise DeadlineExceeded(f"The embedding of the question took longer than {limit:.3g} s.") from None
        except ContextQLError:
            raise
        except Exception as error:
            raise ProviderUnavailable("The embedding of the question failed.") from error
        finally:
            self.store.observer.provider_call("embed_questions", len(texts), perf_counter() - started)
        for text, vector in zip(texts, vectors, strict=True):
            self.store.question_vectors.put(embedder.model, text, vector)
        return vectors

    def description(self) -> dict[str, Any]:
        """Who asked and how much was done, for the access line; never what was asked."""
        caller = self.__dict__.get("caller")
        found = caller.value if caller is not None else None
        return {
            "principal": (found.service or found.name) if found else None,
            **({"acting_for": found.name} if found and found.service else {}),
            "namespaces": sorted(self.touched),
            "stages": len(self.work.records),
        }

    def begin(self) -> None:
        """Be the session that pays for what this task, and the tasks that it starts, have done from here on."""
        self._paid_before = spending.set(self.spent)

    async def __aenter__(self) -> Session:
        self.begin()
        return self

    async def __aexit__(self, *_: Any) -> None:
        spending.reset(self._paid_before)
        with suppress(asyncio.CancelledError):
            await self.close()
