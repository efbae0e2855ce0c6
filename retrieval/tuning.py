"""Every number of the domain, each with the section of the specification or the measurement that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Tuning:
    """The numbers that a run reads; a deployment may change the limits, the rest is for measurements."""

    # Fusion and pools (spec 3, 4)
    rank_constant: int = 60
    # Adaptive fusion (docs/decisions.md has the choice, and what it gives on ten sets): what the best hit by words counts, of 2
    # for both text channels; from which share of the base's words in the question's script on, and at what rate words lose below
    words_weight: float = 1.1
    script_affinity: float = 0.4
    script_gate: float = 3.0
    # What part of the last score by words counts nothing; scores that differ less than this are equal; what a hit of a channel
    # without scores counts, which is the mean of the text channels
    words_floor: float = 0.5
    least_spread: float = 0.001
    unscored_weight: float = 0.4
    pool_least: int = 20
    pool_most: int = 400
    most_k: int = 50
    recall_low: int = 4
    recall_mid: int = 8
    recall_high: int = 16

    # Vector: exact up to this many visible fragments, the index above (measured: keeps recall at 10 % correlated rights)
    exact_most: int = 20_000
    # From this many vectors on an index over them is kept, so that it is there before it is asked
    index_from: int = 10_000
    # From this many visible fragments on the index is asked from two sides: of 200,000 it gave one question in 200 nothing near,
    # with a second look none in 900 (docs/measurements.md)
    second_look_from: int = 50_000
    # Read beyond the pool inside the index scan so that ties at its end are broken by id
    index_spare: int = 8

    # Lexical (spec 3): all words up to this many fragments in scope, else the rarest while their fragments sum up to the budget
    all_words_most: int = 5_000
    # Over 9,400 real documents in two languages all budgets down to 1,000 rank alike (docs/measurements.md)
    word_budget: int = 2_000
    word_budget_growth: int = 8
    # Up to so many namespaces the index of words is asked namespace by namespace (400 of them: 200 ms, of words alone 5 ms)
    spaces_by_key_most: int = 16
    # Measured with TITLE_WEIGHT 3: of b from .3 to .75, .6 is best or next to it on cranfield, fastapi-sections and xquad
    bm25_k1: float = 1.2
    bm25_b: float = 0.6
    most_words: int = 64
    partial_identifier_least: int = 4

    # Graph (spec 3): nodes of a whole walk, visible edges examined a node and direction
    neighbours_most: int = 40
    edges_of_node: int = 400
    most_hops: int = 2
    # As a tool
    graph_starts: int = 20
    graph_hops: int = 3
    graph_most: int = 200
    # Typed walks (spec 9): anchors, identifiers taken out of one in a namespace; steps, hops of a step, new entities of a step
    typed_anchors: int = 20
    typed_identifiers: int = 20
    typed_steps: int = 10
    typed_depth: int = 5
    typed_limit: int = 200

    # Packs (spec 7, 13): budget in tokens, the walk of the graph, limits of what is given (anchors as of typed walks)
    context_default_max_tokens: int = 8_000
    context_tokens_most: int = 1_000_000
    context_k_most: int = 100
    context_scopes_most: int = 10
    context_state_bytes: int = 256 * 1024
    context_state_levels: int = 64
    context_max_depth: int = 2
    context_max_nodes: int = 40
    context_max_edges: int = 400
    # From so many visible edges of an entity on, its best facts are read in order, past hidden ones; below, by the edges
    facts_in_order_from: int = 1_000
    # What the list of each channel counts: lexical, vector, facts, graph, recent; and what is added to it
    context_weights: tuple[float, ...] = (1.0, 1.0, 1.0, 0.7, 0.6)
    context_identifier: float = 0.010
    context_scope: float = 0.004
    context_in_force: float = 0.003
    context_evidence: float = 0.002
    context_freshness: float = 0.005
    context_freshness_hours: float = 336.0

    # Rerank (spec 5): unless a search says otherwise, entities that are judged, fused fragments among them, characters of each
    rerank: bool = False
    rerank_pool: int = 24
    rerank_found: int = 12
    rerank_characters: int = 600
    rerank_seconds: float = 12.0

    # Personal data (spec 2): whether chat providers read what the caller may read, or masked text only
    chat_personal_data: bool = False

    # Calls to chat models at once (spec 5): in all, of one caller
    chat_calls: int = 32
    chat_calls_of_one: int = 4

    # Answers (spec 5): seconds of a call, characters that are kept of one
    answer_seconds: float = 25.0
    answer_characters: int = 50_000

    # Traces (spec 8, 13): days that they are kept; seconds that one may take to be stored once the rest of an answer is there
    trace_days: int = 30
    trace_seconds: float = 0.1

    # The audit (spec 2): days that its rows are kept, 0 for ever
    audit_days: int = 365

    # Tools of chat models (spec 10): up to so many namespaces are named to choose from; more would fill a prompt
    tool_names_most: int = 50

    # Limits of input (spec 13), settable
    question_most: int = 10_000
    namespaces_most: int = 1_000
    filter_values_most: int = 1_000
    page_most: int = 100
    buckets_most: int = 1_000
    key_most: int = 2_000

    # Time
    embedding_seconds: float = 5.0
    statement_seconds: float = 5.0

    # Deployment
    search_config: str = "russian"
    locale: Literal["auto", "ru", "en"] = "auto"
    fusion: Literal["adaptive", "rrf", "weighted"] = "adaptive"
    characters_per_token: float = 3.0

    # Memory of question vectors, entries a process
    question_vectors: int = 4_096


# Answers (spec 5): characters held back at most while a citation may be open, citations that are kept of one answer, temperature
# of a model, and the share of a request's time that it may wait for one
HELD_CHARACTERS = 64
CITATIONS_MOST = 100
# Masking of text that is being written: characters held back at most beside a space and half of a character; characters that are
# known of what was written before, and before what is too long to be held; of that the characters that are given at least
MASKING_HELD = HELD_CHARACTERS - 2
MASKING_KNOWN = 600
MASKING_KNOWN_NEAR = 150
MASKING_STEP = 16
ANSWER_TEMPERATURE = 0.1
ANSWER_TIME_SHARE = 0.75

# Identifiers (spec 3): the longest run of letters that is judged, in characters, and how many are kept of one text
IDENTIFIER_LENGTH = 200
IDENTIFIERS_PER_TEXT = 200

# How often a word of the title counts (nDCG@10 with 1, 2, 3, 5: cranfield .356, .368, .373, .373; fastapi-sections ru .615,
# .619, .625, .620)
TITLE_WEIGHT = 3

# Pieces (spec 3, 11): the most characters. Measured with multilingual-e5-small on the FastAPI documents: title, heading
# and 1,200 characters are 160 tokens in the mean, 320 at the 95th percentile, 460 at most: under the 512 that it takes.
PIECE_CHARACTERS = 1_200
# Text with fewer spaces than one in 25 characters (Chinese, base64, JSON on one line) has 1.2 to 1.8 characters a token.
DENSE_PIECE_CHARACTERS = 550
SPACES_OF_DENSE_TEXT = 1 / 25
# The splitter's time grows with the square of a line (5 MB: 80 s), so it is given windows (6,000: under 0.4 s a MB).
SPLIT_WINDOW_CHARACTERS = 6_000
# A longer heading is cut in the path and kept whole in the text; a derived title is cut
HEADING_CHARACTERS = 120
TITLE_CHARACTERS = 500

# The longest source (spec 13) and the longest JSON Lines file, in bytes of UTF-8
SOURCE_BYTES = 16 * 1024 * 1024
JSON_LINES_BYTES = 512 * 1024 * 1024
# The parser's time grows with the square of the nesting of HTML (100,000 levels: 9 s)
HTML_DEPTH = 1_000
FRONT_MATTER_CHARACTERS = 65_536

# Writing (spec 11): limits of one source, in characters, UTF-8 bytes where named
TITLE_LENGTH = 2_000
NAME_LENGTH = 200
PRINCIPAL_LENGTH = 500
PATH_LENGTH = 2_000
URI_LENGTH = 8_000
SCOPES_MOST = 100
SCOPE_LENGTH = 500
META_PAIRS, META_BYTES, META_LEVELS = 64, 8_192, 3
ATTRIBUTES_BYTES, ATTRIBUTES_LEVELS = 65_536, 20
READERS_MOST = 1_000
# An observation is a short note (spec 1): its characters, and how many entities it may be about
OBSERVATION_CHARACTERS, ABOUT_MOST = 20_000, 100
# Facts: bytes of a value, places of one fact, facts of one mutation, facts of one transaction of a file, ids that a result names;
# how long the results of a write with an idempotency key are kept
FACT_VALUE_BYTES = 8_192
PLACES_MOST = 100
FACTS_MOST = 5_000
FACTS_PER_TRANSACTION = 2_000
CONFLICTS_NAMED_MOST = 100
# What is said of a subject by a predicate is read once for all facts asked for their conflicts, unless it is more than this
CONFLICTS_READ_AT_ONCE = 400
IDEMPOTENCY_SECONDS = 7 * 86_400.0
# Domain packs (spec 1): a whole team's is some 10 KB
PACK_BYTES, PACK_LEVELS = 512 * 1024, 12
PACK_NAMES_MOST, PACK_ALIASES_MOST = 1_000, 10_000
PACK_PATTERNS_MOST, PACK_PATTERN_LENGTH, PACK_PATTERN_BYTES = 200, 1_000, 1024 * 1024
PACK_PROBLEMS_SHOWN, PACK_HINTS_MOST, PACK_NAMES_COMPARED = 20, 50, 50
# Untrusted text: memory that a pattern, or that of a vocabulary, may take for states, made as texts call for them (pages of two
# languages fill 25 MB in all; past it RE2 begins anew, slower and still in linear time); how much of a URL is looked at
UNTRUSTED_PATTERN_BYTES, UNTRUSTED_PHRASES_BYTES, UNTRUSTED_URL_CHARACTERS = 16_000_000, 64_000_000, 4_000
# Fragments of one statement: keeps parameters of a statement near 2 MB
FRAGMENTS_PER_STATEMENT = 1_000
# A write that lost to another one is tried again this often, after 20-40 ms, doubled each time
WRITE_RETRIES = 3
WRITE_RETRY_SECONDS = 0.02

# Queue of embeddings: seconds that a claim holds, first delay after a failure, longest delay of one fragment and of all
CLAIM_SECONDS = 60.0
EMBEDDING_DELAY = 2.0
EMBEDDING_DELAY_MOST = 3_600.0
OUTAGE_DELAY_MOST = 60.0
# A vector of a text that was replaced is forgotten after this long, so many at a time: texts come back
FORMER_VECTOR_SECONDS = 86_400.0
FORMER_VECTORS_AT_ONCE = 5_000
# Worker: seconds between looks at an empty queue, of a lease, before listening again; the share of time that statistics may take
POLL_SECONDS = 1.0
LEASE_SECONDS = 60.0
LISTEN_AGAIN_SECONDS = 30.0
STATISTICS_SHARE = 0.05
# Index over vectors: it waits for a load until this share of what is there is still to come, but not for longer than this;
# it is dropped for a load this many times as large as what is there (and of so many fragments); looked at every so many polls
INDEX_WAITING_SHARE = 0.1
INDEX_WAIT_SECONDS = 600.0
INDEX_DROP_FROM, INDEX_DROP_RATIO = 1_000, 4
INDEX_POLLS, TIDY_POLLS = 10, 60
# What a build needs for one vector beside two bytes a number: 1,000 measured with m = 24 (docs/measurements.md)
BYTES_PER_INDEXED_VECTOR = 1_000
# Re-embedding: seconds of its lease; how long a moment's lock is waited for, and how often it is tried; how many fragments may
# wait for their vector at the switch because they were written a moment ago; how often in a row a provider may fail
REEMBEDDING_LEASE_SECONDS = 20.0
LOCK_MILLISECONDS, LOCK_TRIES = 300, 200
SWITCH_WAITING_MOST = 100
REEMBEDDING_FAILURES_MOST = 5
# Traces that are taken away or changed in one transaction or statement; polls between two looks for old ones
TRACES_AT_ONCE, PRUNE_POLLS = 500, 600
# The audit: keys of one row, rows that are taken away in one transaction, keys of a row that are shown
AUDIT_KEYS_MOST, AUDIT_AT_ONCE, AUDIT_KEYS_SHOWN = 5_000, 5_000, 100
# Documents of a folder that are stored at the same time
FOLDER_WRITERS = 3
# A fragment with this many failed attempts is named by `contextql doctor`
POISONED_ATTEMPTS = 5
