"""The text of a pack for a prompt, in Russian or English: its sections in order, each item with a key that a model can cite."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.compilation.pack import PackItem, Section, SectionKind
from retrieval.prompt import HEADINGS as CONTEXT_HEADINGS
from retrieval.prompt import Language, fragment_text
from retrieval.untrusted import quote_orders

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
    """The sections as they are in `context`: whole texts apart by a blank line, facts and entities as lists."""
    return quote_orders("\n\n".join(section_text(section, language) for section in sections))


def section_text(section: Section, language: Language) -> str:
    """A section under its heading."""
    heading = HEADINGS[language][section.kind]
    match section.kind:
        case SectionKind.CURRENT:
            return "\n\n".join([heading, *(item.text for item in section.items)])
        case SectionKind.RELEVANT_FACTS:
            return "\n".join([heading, *(fact_line(item, language) for item in section.items)])
        case SectionKind.RELATED_ENTITIES:
            return "\n".join([heading, *("- " + item.text.replace("\n", "\n  ") for item in section.items)])
    source = CONTEXT_HEADINGS[language][1]
    fragments = (item.fragment for item in section.items if item.fragment is not None)
    return "\n\n".join([heading, *(fragment_text(fragment, source) for fragment in fragments)])


def fact_line(item: PackItem, language: Language) -> str:
    """A fact on one line, with the id that it is cited by."""
    return f"- [{item.item_id}] {item.text}" + (IN_CONFLICT[language] if item.conflict else "")
