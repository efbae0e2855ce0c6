"""Every number of the domain, each with the section of the specification or the measurement that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Tuning:
    """The numbers that a run reads; a deployment may change the limits, the rest is for measurements."""

    # Fusion and pools (spec 3, 4)
    rank_constant: int = 60
    pool_least: int = 20
    pool_most: int = 400
    default_k: int = 8
    most_k: int = 50
    recall_low: int = 4
    recall_mid: int = 8
    recall_high: int = 16

    # Vector: exact up to this many visible fragments, the index above (measured: keeps recall at 10 % correlated rights)
    exact_most: int = 20_000
    # Read beyond the pool inside the index scan so that ties at its end are broken by id
    index_spare: int = 8

    # Lexical (spec 3): all words up to this many fragments in scope, else the rarest while their fragments sum up to the budget
    all_words_most: int = 5_000
    word_budget: int = 3_000
    word_budget_growth: int = 8
    bm25_k1: float = 1.2
    bm25_b: float = 0.75
    most_words: int = 64
    partial_identifier_least: int = 4

    # Graph (spec 3): nodes of a whole walk, visible edges examined a node and direction
    neighbours_most: int = 40
    edges_of_node: int = 400
    most_hops: int = 2

    # Limits of input (spec 13), settable
    question_most: int = 10_000
    namespaces_most: int = 1_000
    filter_values_most: int = 1_000
    page_most: int = 100
    key_most: int = 2_000

    # Time
    embedding_seconds: float = 5.0
    statement_seconds: float = 5.0

    # Deployment
    search_config: str = "russian"
    locale: Literal["auto", "ru", "en"] = "auto"
    characters_per_token: float = 3.0

    # Memory of question vectors, entries a process
    question_vectors: int = 4_096


# Identifiers (spec 3): the longest run of letters that is judged, in characters, and how many are kept of one text
IDENTIFIER_LENGTH = 200
IDENTIFIERS_PER_TEXT = 200
