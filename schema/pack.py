"""A pack: what fits under a budget of tokens, in sections, each item with the terms of its score and what it rests on."""

from __future__ import annotations

from typing import Annotated

import strawberry

from resolvers import pack as resolve
from retrieval.compilation import pack
from retrieval.compilation.compilation import Compilation
from schema.entity import Entity, Fact, Fragment, ProvenanceStep, SourceCard, field
from schema.enums import DropReason, ItemKind, SectionKind
from schema.search import Degradation, Signal
from schema.traced import LazyTrace, trace_field, trace_id_field

Kinds = Annotated[list[SectionKind] | None, strawberry.argument(description="Which sections; left out: all.")]


async def sections_of_kinds(root: Compilation, kinds: Kinds = None) -> list[pack.Section]:
    """Some of the sections."""
    return await resolve.sections(root, None if kinds is None else [kind.name for kind in kinds])


@strawberry.input(description="For whom a pack is made: an anchor with the key `type:id`, and a relevance scope.")
class SubjectInput:
    type: str = strawberry.field(description="What it is, such as `user`.")
    id: str = strawberry.field(description="Its id.")

    def value(self) -> tuple[str, str]:
        """The plain value."""
        return self.type, self.id


@strawberry.type(description="An item of a pack: a fragment, a fact, an entity, or the caller's own state.")
class PackItem:
    item_id: strawberry.ID = field("Opaque id of what it is, the same in every answer; `current` for the caller's own state.")
    kind: ItemKind = field("What it is.")
    title: str = field("Title of the document or of the entity, or the predicate of a fact; neutralised.")
    text: str = field("Its text, neutralised: what its price was counted on.")
    namespace: str | None = field("Its namespace; null for the caller's own state.")
    source_path: str | None = field("Where people find the entity; null for a fact.")
    score: float = field("The sum of the contributions of `signals`, left to right. For order only.")
    signals: list[Signal] = field("The terms of the score: places in the lists of channels, then what is added to them.")
    token_estimate: int = field("Tokens of the text.")
    conflict: bool = field("Whether the pack has another fact that says something else of the same subject and predicate.")
    neutralized: bool = field("Whether text or title differs from what is stored.")
    provenance: list[ProvenanceStep] | None = field(
        "The chain down to what it rests on; of an entity also the facts that led to it. Empty for the caller's own state.",
        resolver=resolve.provenance,
    )
    fragment: Fragment | None = field("The fragment, if it is one.")
    fact: Fact | None = field("The fact, if it is one.")
    entity: Entity | None = field("The entity, if it is one.")


@strawberry.type(description="One part of a pack.")
class Section:
    kind: SectionKind = field("Which part.")
    token_estimate: int = field("Tokens of its items.")
    items: list[PackItem] = field("Its items in the order in which they entered: best score first, a conflict side by side.")


@strawberry.type(description="An item that did not get into a pack.")
class DroppedItem:
    item_id: strawberry.ID = field("Opaque id of what it is.")
    kind: ItemKind = field("What it is.")
    title: str = field("Its title, neutralised; of a fact what it says: subject, predicate and object.")
    score: float = field("Its score. For order only.")
    token_estimate: int = field("Tokens that it would have taken.")
    reason: DropReason = field("Why it is not in the pack.")


@strawberry.type(description="How a budget was spent.")
class Budget:
    max_tokens: int = field("The budget, in tokens.")
    used_tokens: int = field("Tokens of all items; never more than the budget.")
    truncated: bool = field("Whether anything was dropped or cut.")
    dropped: list[DroppedItem] = field("What was dropped, in the order of dropping.")


@strawberry.type(description="A pack under a budget; select what you need, and only that is done.")
class ContextPack:
    question: str = field("The question, in composed form.", resolver=resolve.question)
    sections: list[Section] | None = field("The sections that have items, in their order.", resolver=sections_of_kinds)
    sources: list[SourceCard] | None = field("Cards of what the items rest on, in their order, each once.")
    text: str | None = field(
        "The pack as text for a prompt: headings, and each item with its key; neutralised. Empty when it is."
    )
    text_token_estimate: int | None = field("Tokens of `text`: headings and keys come on top of the items.")
    token_estimate: int = field("Tokens of all items.")
    budget: Budget = field("How the budget was spent.")
    conflicts: list[Fact] | None = field("Facts of the pack that contradict each other, in its order.")
    degraded: list[Degradation] | None = field("Helpers that did not help.")
    trace_id: strawberry.ID | None = trace_id_field()
    trace: LazyTrace | None = trace_field()
