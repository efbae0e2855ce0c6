"""Asks a base as a request does, without HTTP and GraphQL around it: in the session of a caller, with given vectors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.bench.at_size.corpus import Corpus
from app.bench.at_size.loading import prepared
from app.config import Settings
from app.evaluation.run import GivenVectors
from app.opening import tuning_of
from app.sessions import Identity
from retrieval.administration.tokens import token_digest
from retrieval.database import Database
from retrieval.question import Primitive, Question, make_question
from retrieval.session import Session
from retrieval.store import Store

SECONDS = 60.0
POOL = 20
"""What a search for ten takes from each list."""


@asynccontextmanager
async def open_base(url: str) -> AsyncIterator[Store]:
    """A store over a base, with the settings of a deployment."""
    base = await prepared(url)
    assert base.embedding_model is not None
    assert base.dimensions is not None
    database = await Database.open(url, size=2)
    try:
        yield Store(database, base, tuning_of(Settings()), GivenVectors(base.embedding_model, base.dimensions))
    finally:
        await database.close()


@asynccontextmanager
async def session_of(store: Store, token: str | None) -> AsyncIterator[Session]:
    """A session of the holder of a token, or of the local administrator; who it is is known when it begins."""
    identity = Identity(None, True) if token is None else Identity(token_digest(token), False)
    async with Session(store, identity, deadline=asyncio.get_running_loop().time() + SECONDS) as session:
        await session.caller
        yield session


def question_by_meaning(store: Store, corpus: Corpus, number: int) -> Question:
    """A search by meaning alone, whose vector is known already."""
    question = make_question(store.tuning, f"question {number}", k=POOL // 2, channels=(Primitive.VECTOR,))
    assert store.embedder is not None
    store.question_vectors.put(store.embedder.model, question.text, corpus.asked[number])
    return question


def question_by_words(store: Store, text: str) -> Question:
    """A search by words alone."""
    return make_question(store.tuning, text, k=POOL // 2, channels=(Primitive.LEXICAL,))
