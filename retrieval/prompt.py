"""The text of `context`: what was found, ready to be put into a prompt, in Russian or English."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from typing import Literal

from retrieval.question import Locale
from retrieval.records import Entity, Fragment
from retrieval.sealing import safe_text
from retrieval.tuning import Tuning
from retrieval.untrusted import neutralize, neutralize_line, quote_orders

Language = Literal["ru", "en"]

_CYRILLIC = re.compile("[Ѐ-ӿ]")
_LATIN = re.compile("[A-Za-zÀ-ÖØ-öø-ɏ]")
_PAIRED = re.compile(r"[^\[\]]*+(?:\[[^\[\]]*+\][^\[\]]*+)*+")
_WIDE = str.maketrans("[]", "［］")

HEADINGS: dict[Language, tuple[str, str, str]] = {
    "ru": ("# Найденные фрагменты", "Источник: ", "# Связанные сущности (граф, соседи)"),
    "en": ("# Fragments found", "Source: ", "# Related entities (graph, neighbours)"),
}


def language_of(question: str, locale: Locale, tuning: Tuning) -> Language:
    """Russian when the question has more Cyrillic than Latin letters; `locale` overrides, a tie goes to the configuration."""
    if locale != "AUTO":
        return "ru" if locale == "RU" else "en"
    cyrillic, latin = len(_CYRILLIC.findall(question)), len(_LATIN.findall(question))
    if cyrillic == latin:
        return "ru" if tuning.locale == "ru" else "en"
    return "ru" if cyrillic > latin else "en"


def context_text(fragments: Sequence[Fragment], neighbours: Sequence[Entity], language: Language) -> str:
    """Fragments with key, title and heading, then the entities around them; what is stored is neutralised, each and together."""
    found, source, related = HEADINGS[language]
    parts: list[str] = []
    if fragments:
        parts.append("\n\n".join([found, *(fragment_text(fragment, source) for fragment in fragments)]))
    if neighbours:
        parts.append("\n".join([related, *(entity_line(entity) for entity in neighbours)]))
    return quote_orders("\n\n".join(parts))


def fragment_text(fragment: Fragment, source: str) -> str:
    """A fragment under its heading."""
    return headed_text(fragment, in_brackets(fragment.entity.key), source)


def headed_text(fragment: Fragment, mark: str, source: str, *more: str) -> str:
    """A fragment under a heading that begins with a mark; more lines come between heading and source path.

    Parts that are safe alone may not be so together, so the whole is made safe too, all but our sign of a heading.
    """
    title = f"{mark} {neutralize_line(fragment.title)}"
    if fragment.heading:
        title += f" — {neutralize_line(fragment.heading)}"
    lines = [neutralize_line(title), *more]
    if fragment.entity.source_path:
        lines.append(source + neutralize_line(fragment.entity.source_path))
    return "## " + neutralize("\n".join(lines) + "\n\n" + safe_text(fragment))


def entity_line(entity: Entity) -> str:
    """An entity on one line."""
    return described(entity, in_brackets(entity.key))


def described(entity: Entity, key: str) -> str:
    """An entity on one line that begins with its key, which is safe already."""
    line = f"{key} ({neutralize_line(entity.type)}) {neutralize_line(entity.title)}"
    if entity.status:
        line += f" status={neutralize_line(entity.status)}"
    if entity.source_path:
        line += f" — {neutralize_line(entity.source_path)}"
    return "- " + neutralize_line(line)


def mark_outside(text: str) -> str:
    """A random mark that is not in a text, so that nothing in it can end what stands between two of them."""
    while (mark := secrets.token_hex(16)) in text:
        pass
    return mark


def in_brackets(key: str) -> str:
    """A key as it is cited: safe with its brackets too, since `/INST` is a key and in brackets a token of a chat.

    Brackets of a key that are no pairs would end ours: `a] (admin) Root [b` would pass for the entity `a`.
    """
    key = neutralize_line(key)
    return neutralize_line(f"[{key if _PAIRED.fullmatch(key) else key.translate(_WIDE)}]")
