"""Reads Markdown into sections of readable text, a title, meta tags and the addresses of its links.

Headings and blocks are found by markdown-it; the text of a section stays the Markdown that was written, without what only
a page generator understands (anchors of headings, include lines, fences of admonitions, HTML that is layout).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin

from retrieval.ingest.front_matter import read_front_matter
from retrieval.ingest.html import plain_text
from retrieval.ingest.splitting import Section
from retrieval.tuning import HEADING_CHARACTERS

# Only blocks: inline rules are not needed for whole documents, and tables are kept as lines
_BLOCKS = MarkdownIt("commonmark").use(front_matter_plugin).disable(["inline", "text_join"])
_INLINE = MarkdownIt("commonmark")
_HEADING_ATTRIBUTES = re.compile(r"\s*\{\s*[#.:][^{}]*\}\s*\Z")
_DIRECTIVE_CHARACTERS = 500
_INCLUDE = re.compile(r"\s*\{[*!].*[*!]\}\s*")
_ADMONITION = re.compile(r"\s*/{3,}(?:\s*([A-Za-z][\w-]*)\s*(?:\|\s*(.*))?)?\s*")
# Code spans are matched first and kept as they are.
# Every pattern here is linear: what it repeats is possessive, stops at what could begin another match, or is bounded.
_SPAN_OR_TERM = re.compile(
    r'((?<!`)`++[^`\n]++`++)|<(abbr|dfn)\s[^<>\n]{0,200}?title="([^"<>\n]{0,500})"[^<>\n]{0,200}>([^<>\n]*+)</(?:abbr|dfn)>'
)
_SPAN_OR_TAG = re.compile(
    r"((?<!`)`++[^`\n]++`++)|<!--[^<>\n]*+>|</?(?:a|abbr|b|br|center|dfn|em|font|i|img|kbd|small|span|strong|sub|sup|u)(?:\s[^<>\n]*)?/?>"
)
_RULES_ONLY = re.compile(r"[\s\-*_=~`|#>/]*")
_LAYOUT_TAG = re.compile(r"</?(?:font|span|b|u)(?:\s[^<>\n]*)?>")
_LINK_ATTRIBUTES = re.compile(r"(?<=\))\{\s*[.#:][^{}\n]*\}")
_CODE_SPAN = re.compile(r"(?<!`)`++[^`\n]++`++")
_LINK = re.compile(
    r"(?<!\\)(!?)\[(?:[^\[\]\\]|\\.|\[[^\[\]]*+\])*+\]\(\s*+(?:<([^<>\n]*+)>|([^\s()<>]*+(?:\([^\s()<>]*+\)[^\s()<>]*+)*+))"
)
_ANCHOR_TAG = re.compile(r"""<a\s[^<>]*?href\s*=\s*["']([^"'<>\s]+)""")


@dataclass(slots=True)
class MarkdownText:
    """What is read of a Markdown text; `meta` and `title` (of the front matter) are empty without a front matter."""

    title: str | None = None
    first_heading: str | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)


def read_markdown(content: str) -> MarkdownText:
    """Read a text whose line ends are `\\n`."""
    lines = content.split("\n")
    environment: dict[str, Any] = {}
    tokens = _BLOCKS.parse(content, environment)
    result = MarkdownText()
    first_line = 0
    if tokens and tokens[0].type == "front_matter" and tokens[0].map:
        meta = read_front_matter(tokens[0].content)
        if meta is not None:
            result.meta, first_line = meta, tokens[0].map[1]
            title = meta.get("title")
            result.title = None if title is None or isinstance(title, dict | list) else str(title)
    written = _code_and_html(lines, tokens)
    path: list[tuple[int, str]] = []
    for level, heading, start, end in _stretches(tokens, first_line, len(lines)):
        if level:
            result.first_heading = result.first_heading or heading
            path = [(above, text) for above, text in path if above < level] + [(level, heading)]
        text = _joined(written[start:end])
        if path or text.strip():
            result.sections.append(Section(tuple(name for _, name in path), text))
    result.addresses = list(_addresses(lines[first_line:], tokens, first_line, environment))
    return result


def _stretches(tokens: list[Token], first: int, last: int) -> Iterator[tuple[int, str, int, int]]:
    """The stretches between headings: level (0 before the first heading), plain heading, first line, line after the last."""
    level, heading, start = 0, "", first
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map and token.map[0] >= first:
            following = plain_heading(tokens[index + 1].content)
            if not following:
                continue
            yield level, heading, start, token.map[0]
            level, heading, start = int(token.tag[1:]), following, token.map[1]
    yield level, heading, start, last


def _joined(lines: list[str | None]) -> str:
    """The lines that are kept, one blank line where one was left out between two; empty when only rules remain."""
    kept: list[str] = []
    left_out = False
    for line in lines:
        if line is None:
            left_out = True
        elif line.strip() or not (left_out and kept and not kept[-1].strip()):
            kept.append(line)
            left_out = False
    text = "\n".join(kept).strip("\n").rstrip()
    return "" if _RULES_ONLY.fullmatch(text) is not None else text


def plain_heading(content: str) -> str:
    """A heading as a reader sees it, without its attributes, on one line.

    >>> plain_heading("`UploadFile` и [FastAPI](https://fastapi.tiangolo.com) { #uploadfile }")
    'UploadFile и FastAPI'
    """
    if len(content) > 10 * HEADING_CHARACTERS:  # nobody's heading: these rules are not made for a megabyte
        return " ".join(content.split())
    content = _HEADING_ATTRIBUTES.sub("", content)
    parts = []
    for token in _INLINE.parseInline(content)[0].children or ():
        if token.type in ("text", "code_inline"):
            parts.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return " ".join("".join(parts).split())


def _code_and_html(lines: list[str], tokens: list[Token]) -> list[str | None]:
    """The lines as they are indexed; None for one that is left out."""
    written: list[str | None] = list(lines)
    kept: set[int] = set()
    for token in tokens:
        if token.map is None or token.type not in ("fence", "code_block", "html_block"):
            continue
        start, end = token.map
        kept.update(range(start, end))
        if token.type == "html_block":
            written[start:end] = [plain_text(token.content), *[None] * (end - start - 1)]
        else:
            console = token.info.split(maxsplit=1)[:1] == ["console"]
            for number in range(start, end):
                if len(lines[number]) <= _DIRECTIVE_CHARACTERS and _INCLUDE.fullmatch(lines[number]) is not None:
                    written[number] = None
                elif console:  # a terminal's colours, written as HTML
                    written[number] = _LAYOUT_TAG.sub("", lines[number])
    for number, line in enumerate(lines):
        if number not in kept:
            written[number] = _prose(line)
    return written


def _prose(line: str) -> str | None:
    if len(line) <= _DIRECTIVE_CHARACTERS:
        if _INCLUDE.fullmatch(line) is not None:
            return None
        admonition = _ADMONITION.fullmatch(line)
        if admonition is not None:
            kind, title = admonition.groups()
            return f"{title or kind.capitalize()}:" if kind else None
    if "<" in line:
        line = _SPAN_OR_TERM.sub(lambda found: found[1] or f"{found[4]} ({found[3]})", line)
        line = _SPAN_OR_TAG.sub(lambda found: found[1] or "", line)
    return _LINK_ATTRIBUTES.sub("", line) if "){" in line else line


def _addresses(lines: list[str], tokens: list[Token], first_line: int, environment: dict[str, Any]) -> Iterator[str]:
    prose = list(lines)
    for token in tokens:
        if token.type in ("fence", "code_block") and token.map and token.map[0] >= first_line:
            for number in range(token.map[0] - first_line, token.map[1] - first_line):
                prose[number] = ""
    text = _CODE_SPAN.sub("`", "\n".join(prose))
    for found in _LINK.finditer(text):
        if not found[1]:
            yield found[2] if found[2] is not None else found[3]
    yield from _ANCHOR_TAG.findall(text)
    references: Iterable[dict[str, Any]] = environment.get("references", {}).values()
    for reference in references:
        yield str(reference["href"])
