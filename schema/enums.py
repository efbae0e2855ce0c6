"""The enums of the API, each value described."""

from __future__ import annotations

from enum import Enum

import strawberry


@strawberry.enum(description="One of the four ways to rank.")
class Primitive(Enum):
    VECTOR = strawberry.enum_value("VECTOR", description="Fragments by meaning.")
    LEXICAL = strawberry.enum_value("LEXICAL", description="Fragments by words and identifiers.")
    GRAPH = strawberry.enum_value("GRAPH", description="Entities around given ones.")
    SQL = strawberry.enum_value("SQL", description="Entities by exact filters.")


@strawberry.enum(description="Where a rank comes from.")
class Channel(Enum):
    VECTOR = strawberry.enum_value("VECTOR", description="Search by meaning.")
    LEXICAL = strawberry.enum_value("LEXICAL", description="Search by words and identifiers.")
    GRAPH = strawberry.enum_value("GRAPH", description="A walk over facts.")
    SQL = strawberry.enum_value("SQL", description="Exact filters.")
    FACTS = strawberry.enum_value("FACTS", description="Facts around the anchors of a pack.")
    RECENT = strawberry.enum_value("RECENT", description="Observations by relevance scope, latest first.")


@strawberry.enum(description="What a term of a score stands for.")
class SignalKind(Enum):
    RANK = strawberry.enum_value("RANK", description="A place in a channel's list: weight / (60 + rank + 1).")
    IDENTIFIER = strawberry.enum_value("IDENTIFIER", description="The fragment carries an exact identifier of the question.")
    RELEVANCE_SCOPE = strawberry.enum_value("RELEVANCE_SCOPE", description="It carries a relevance scope that was asked for.")
    IN_FORCE = strawberry.enum_value("IN_FORCE", description="The fact has no end.")
    EVIDENCE = strawberry.enum_value("EVIDENCE", description="How well the fact is supported: weight × 3, 2 or 1.")
    FRESHNESS = strawberry.enum_value("FRESHNESS", description="Its age in whole hours: weight × 0.5 ** (hours / 336).")
    RERANK = strawberry.enum_value(
        "RERANK", description="What a chat model made of it, 0 to 1; it orders the hits and adds nothing."
    )


@strawberry.enum(description="How lists become one.")
class FusionMethod(Enum):
    RRF = strawberry.enum_value("RRF", description="Reciprocal rank fusion with equal weights.")
    WEIGHTED = strawberry.enum_value("WEIGHTED", description="Reciprocal rank fusion with the weights of the request.")
    ADAPTIVE = strawberry.enum_value(
        "ADAPTIVE",
        description="As RRF, but a hit weighs by where its score stands between the first and the last of its list, and words "
        "weigh less where the base is not written in the script of the question; see `weight`.",
    )


@strawberry.enum(description="How much a recall brings back.")
class RecallBudget(Enum):
    LOW = strawberry.enum_value("LOW", description="4 fragments.")
    MID = strawberry.enum_value("MID", description="8 fragments.")
    HIGH = strawberry.enum_value("HIGH", description="16 fragments.")


@strawberry.enum(description="What an entity is; the kind decides which section of a pack it feeds.")
class EntityKind(Enum):
    DOCUMENT = strawberry.enum_value("DOCUMENT", description="A text that stands for itself, such as a page or a manual.")
    EPISODE = strawberry.enum_value("EPISODE", description="A conversation, a run, a meeting.")
    OBSERVATION = strawberry.enum_value("OBSERVATION", description="A short dated note.")
    THING = strawberry.enum_value("THING", description="A person, a service, a ticket, an endpoint.")


@strawberry.enum(description="What entities are ordered by; equal ones by id.")
class EntityOrder(Enum):
    KEY = strawberry.enum_value("KEY", description="The key, by code point.")
    TITLE = strawberry.enum_value("TITLE", description="The title, by code point.")
    CREATED = strawberry.enum_value("CREATED", description="When it was first stored, newest first.")
    UPDATED = strawberry.enum_value("UPDATED", description="When it was last changed, newest first.")
    OCCURRED = strawberry.enum_value("OCCURRED", description="When it happened, newest first; what has no date last.")


@strawberry.enum(description="What is counted.")
class Metric(Enum):
    ENTITIES = strawberry.enum_value("ENTITIES", description="Entities.")
    FRAGMENTS = strawberry.enum_value("FRAGMENTS", description="Fragments, each under its entity.")
    FACTS = strawberry.enum_value("FACTS", description="Facts that are not retracted, each under its subject.")


@strawberry.enum(description="What it is grouped by: a property of the entity, or a period of UTC.")
class Dimension(Enum):
    NAMESPACE = strawberry.enum_value("NAMESPACE", description="The namespace.")
    KIND = strawberry.enum_value("KIND", description="The kind.")
    TYPE = strawberry.enum_value("TYPE", description="The type.")
    STATUS = strawberry.enum_value("STATUS", description="The status.")
    SOURCE_PATH = strawberry.enum_value("SOURCE_PATH", description="Where people find it.")
    DAY = strawberry.enum_value("DAY", description="The day.")
    WEEK = strawberry.enum_value("WEEK", description="The ISO week, named by its Monday.")
    MONTH = strawberry.enum_value("MONTH", description="The month.")


@strawberry.enum(description="Which instant of an entity a period is taken from.")
class DateField(Enum):
    CREATED = strawberry.enum_value("CREATED", description="When it was first stored.")
    UPDATED = strawberry.enum_value("UPDATED", description="When it was last changed.")
    OCCURRED = strawberry.enum_value("OCCURRED", description="When it happened.")


@strawberry.enum(description="Who tools are offered to.")
class ToolSurface(Enum):
    AGENT = strawberry.enum_value("AGENT", description="An agent that combines tools: `search`, `graph` and `sql`.")
    CHAT = strawberry.enum_value("CHAT", description="A chat with one tool, `search_knowledge`.")


@strawberry.enum(description="Language of fixed texts.")
class Locale(Enum):
    AUTO = strawberry.enum_value("AUTO", description="The language of the question.")
    RU = strawberry.enum_value("RU", description="Russian.")
    EN = strawberry.enum_value("EN", description="English.")


@strawberry.enum(description="A searched field of a fragment.")
class TextField(Enum):
    TITLE = strawberry.enum_value("TITLE", description="The title of its document.")
    HEADING = strawberry.enum_value("HEADING", description="The path of headings.")
    TEXT = strawberry.enum_value("TEXT", description="The text.")


@strawberry.enum(description="How well a fact is supported.")
class Evidence(Enum):
    INFERRED = strawberry.enum_value(1, description="Concluded, not stated.")
    OBSERVED = strawberry.enum_value(2, description="Seen in a text or in data.")
    ASSERTED = strawberry.enum_value(3, description="Stated by somebody on purpose.")


@strawberry.enum(description="Which way facts are followed.")
class Direction(Enum):
    IN = strawberry.enum_value("IN", description="From the object to the subject.")
    OUT = strawberry.enum_value("OUT", description="From the subject to the object.")
    BOTH = strawberry.enum_value("BOTH", description="Both ways.")


@strawberry.enum(description="What is kept of a source.")
class ContentSource(Enum):
    ORIGINAL = strawberry.enum_value("ORIGINAL", description="The content as it came.")
    CHUNKS = strawberry.enum_value("CHUNKS", description="Fragments only; the text is stitched from them.")


@strawberry.enum(description="What a step of a provenance chain is.")
class ProvenanceKind(Enum):
    FRAGMENT = strawberry.enum_value("FRAGMENT", description="A fragment of a text.")
    FACT = strawberry.enum_value("FACT", description="A fact.")
    OBSERVATION = strawberry.enum_value("OBSERVATION", description="A dated note.")
    DOCUMENT = strawberry.enum_value("DOCUMENT", description="A document.")
    EPISODE = strawberry.enum_value("EPISODE", description="A conversation, a run, a meeting.")
    ENTITY = strawberry.enum_value("ENTITY", description="Another entity.")
    ORIGIN = strawberry.enum_value("ORIGIN", description="Where the content was fetched from.")


@strawberry.enum(description="What a principal may do in a namespace.")
class Role(Enum):
    READER = strawberry.enum_value("READER", description="Read what is not restricted, and what was granted.")
    PERSONAL_DATA = strawberry.enum_value("PERSONAL_DATA", description="See personal data unmasked.")
    WRITER = strawberry.enum_value("WRITER", description="Write content and read all of it.")
    ADMIN = strawberry.enum_value("ADMIN", description="Write, read, grant and delete.")


@strawberry.enum(description="What a principal is.")
class PrincipalKind(Enum):
    USER = strawberry.enum_value("USER", description="A person.")
    GROUP = strawberry.enum_value("GROUP", description="A group of principals; groups nest.")
    SERVICE = strawberry.enum_value("SERVICE", description="A program.")


@strawberry.enum(description="What became of one item of a write.")
class ItemOutcome(Enum):
    CREATED = strawberry.enum_value("CREATED", description="It is new.")
    UPDATED = strawberry.enum_value("UPDATED", description="It was there and was changed.")
    UNCHANGED = strawberry.enum_value("UNCHANGED", description="It was there just like this.")
    FAILED = strawberry.enum_value("FAILED", description="It was not taken; `code` and `message` say why.")


@strawberry.enum(description="Which channels of a pack run.")
class Strategy(Enum):
    HYBRID = strawberry.enum_value("HYBRID", description="All five.")
    CONTEXT = strawberry.enum_value("CONTEXT", description="All five.")
    SEMANTIC = strawberry.enum_value("SEMANTIC", description="Search by meaning; needs a question.")
    EXACT = strawberry.enum_value("EXACT", description="Search by words and identifiers; needs a question.")
    GRAPH = strawberry.enum_value("GRAPH", description="The walk and the facts; needs an anchor or a subject.")
    BRIEFING = strawberry.enum_value(
        "BRIEFING", description="The walk, the facts and recent observations; needs an anchor, a subject or a relevance scope."
    )


@strawberry.enum(description="A part of a pack, in the order of the parts.")
class SectionKind(Enum):
    CURRENT = strawberry.enum_value("CURRENT", description="The caller's own state.")
    RELEVANT_FACTS = strawberry.enum_value("RELEVANT_FACTS", description="Facts.")
    EPISODES = strawberry.enum_value("EPISODES", description="Fragments of episodes.")
    DOCUMENTS = strawberry.enum_value("DOCUMENTS", description="Fragments of documents and things.")
    RELATED_ENTITIES = strawberry.enum_value("RELATED_ENTITIES", description="Entities of which the pack has no fragment.")
    RECENT_OBSERVATIONS = strawberry.enum_value("RECENT_OBSERVATIONS", description="Fragments of observations.")


@strawberry.enum(description="What an item of a pack is.")
class ItemKind(Enum):
    CURRENT = strawberry.enum_value("CURRENT", description="The caller's own state.")
    FRAGMENT = strawberry.enum_value("FRAGMENT", description="A fragment.")
    FACT = strawberry.enum_value("FACT", description="A fact.")
    ENTITY = strawberry.enum_value("ENTITY", description="An entity.")


@strawberry.enum(description="Why an item is not in a pack.")
class DropReason(Enum):
    OVER_BUDGET = strawberry.enum_value("OVER_BUDGET", description="It did not fit into what was left of the budget.")
    DUPLICATE = strawberry.enum_value(
        "DUPLICATE", description="The pack has the same text, or has a fragment of the entity, which says more."
    )


@strawberry.enum(description="What became of an answer.")
class AnswerStatus(Enum):
    ANSWERED = strawberry.enum_value("ANSWERED", description="The model wrote it to its end.")
    NOTHING_FOUND = strawberry.enum_value("NOTHING_FOUND", description="Nothing was found, so no model was asked.")
    ECHO = strawberry.enum_value("ECHO", description="There is no model (CB_LLM_PROVIDER=echo): the text is the context.")
    REFUSED = strawberry.enum_value("REFUSED", description="The model, or a filter before it, would not answer.")
    TRUNCATED = strawberry.enum_value("TRUNCATED", description="The text ends early: too long, broken off, or out of time.")
    UNAVAILABLE = strawberry.enum_value("UNAVAILABLE", description="The model gave no text: it failed, was late, or had no room.")
