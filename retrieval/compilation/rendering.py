"""The text of a pack for a prompt, in Russian or English: its sections in order, each item with a key that a model can cite."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.compilation.pack import PackItem, Section, SectionKind
from retrieval.prompt import HEADINGS as CONTEXT_HEADINGS
from retrieval.prompt import Language, fragment_text

HEADINGS: dict[Language, dict[SectionKind, str]] = {
    "ru": {
        SectionKind.CURRENT: "# Текущее состояние",
        SectionKind.RELEVANT_FACTS: "# Факты",
        SectionKind.EPISODES: "# Эпизоды",
        SectionKind.DOCUMENTS: "# Документы",
        SectionKind.RELATED_ENTITIES: "# Связанные сущности",
        SectionKind.RECENT_OBSERVATIONS: "# Недавние наблюдения",
    },
    "en": {
        SectionKind.CURRENT: "# Current state",
        SectionKind.RELEVANT_FACTS: "# Relevant facts",
        SectionKind.EPISODES: "# Episodes",
        SectionKind.DOCUMENTS: "# Documents",
        SectionKind.RELATED_ENTITIES: "# Related entities",
        SectionKind.RECENT_OBSERVATIONS: "# Recent observations",
    },
}
IN_CONFLICT: dict[Language, str] = {"ru": " (в конфликте)", "en": " (in conflict)"}


def pack_text(sections: Sequence[Section], language: Language) -> str:
    """The pack as blocks with a blank line between them: headings, whole texts, and lists of facts and of entities."""
    blocks: list[str] = []
    for section in sections:
        blocks.append(HEADINGS[language][section.kind])
        blocks += blocks_of(section, language)
    return "\n\n".join(blocks)


def blocks_of(section: Section, language: Language) -> list[str]:
    """A section without its heading."""
    match section.kind:
        case SectionKind.CURRENT:
            return [item.text for item in section.items]
        case SectionKind.RELEVANT_FACTS:
            return ["\n".join(fact_line(item, language) for item in section.items)]
        case SectionKind.RELATED_ENTITIES:
            return ["\n".join("- " + item.text.replace("\n", "\n  ") for item in section.items)]
    source = CONTEXT_HEADINGS[language][1]
    return [fragment_text(item.fragment, source) for item in section.items if item.fragment is not None]


def fact_line(item: PackItem, language: Language) -> str:
    """A fact on one line, with the id that it is cited by."""
    return f"- [{item.item_id}] {item.text}" + (IN_CONFLICT[language] if item.conflict else "")
