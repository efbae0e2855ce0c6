"""Faults that forget to mask personal data, or take the right to them from elsewhere: each must turn the oracle red."""

from __future__ import annotations

NUMBER_FAULTS = {
    "texts of fragments are not masked": (
        "retrieval/reader.py", "return parts if self.shows(ns) else masked_parts(*parts)", "return parts",
    ),
    "a seal of another text will do": (
        "retrieval/catalogue.py", 'sealed = row["seal"] == seal_of(*parts)', 'sealed = row["seal"] != 0',
    ),
    "texts with numbers are sealed": ("retrieval/sealing.py", "if masked_parts(*parts) == parts and", "if"),
    "titles of entities are not masked": ("retrieval/catalogue.py", 'shown(ns, row["title"])', 'row["title"]'),
    "paths of entities are not masked": ("retrieval/catalogue.py", 'shown(ns, row["source_path"])', 'row["source_path"]'),
    "contents of sources are not masked": (
        "retrieval/catalogue.py", 'self.reader.shown_parts(row["ns"], row["title"], row["content"])[1]', 'row["content"]',
    ),
    "authors of sources are not masked": ("retrieval/catalogue.py", 'shown(ns, row["author"])', 'row["author"]'),
    "attributes are not masked": ("retrieval/catalogue.py", "self.reader.shown_value(key[0], attributes)", "attributes"),
    "attributes of a typed walk are not masked": (
        "retrieval/typed/context.py", 'self.reader.shown_value(entity.ns, row["attributes"] or {})', 'row["attributes"] or {}',
    ),
    "values of facts are not masked": (
        "retrieval/facts.py", "value = reader.shown_value(ns, value, predicate)", "pass",
    ),
    "groups of a count are not masked": ("retrieval/primitives/aggregate.py", "reader.shown_to_all(one)", "one"),
    "groups of a count are masked by the first namespace": (
        "retrieval/reader.py", "text is None or all(map(self.shows, self.names))", "text is None or self.shows(min(self.names))",
    ),
    "a right in one namespace is one in all": (
        "retrieval/reader.py", "return ns in self.rights.showing", "return bool(self.rights.showing)",
    ),
    "whoever may write reads personal data": (
        "retrieval/access.py", '"PERSONAL_DATA" in self.roles', '"PERSONAL_DATA" in self.roles or self.is_whole',
    ),
    "a filter asks for numbers as they are": (
        "retrieval/reader.py", "return filter if all(map(self.shows, self.names))", "return filter if True",
    ),
    "a filter of several namespaces counts where one of them shows": (
        "retrieval/reader.py", "filter if all(map(self.shows, self.names))", "filter if any(map(self.shows, self.names))",
    ),
    "numbers are found by everybody": ("retrieval/text_lists.py", "if self.reader.shows(space.ns)]", "]"),
    "a number is one mark in all namespaces": ("retrieval/personal/lookup.py", "f'{ns} {kind} {value}'", "f'{kind} {value}'"),
    "an embedder is sent numbers": ("retrieval/text_lists.py", "question_vector(masked(", "question_vector(str("),
    "a chat model that answers is told numbers": (
        "retrieval/answering/answer.py", "allowed = store.tuning.chat_personal_data", "allowed = True",
    ),
    "a chat model that judges is told numbers": (
        "retrieval/reranking/rerank.py", "allowed = tuning.chat_personal_data", "allowed = True",
    ),
}  # fmt: skip
"""Of each: its file, what it says, and what it says then."""

ALWAYS = ("values of facts are not masked", "a right in one namespace is one in all")
"""Those that the default run plants; the others are planted in the long one."""
