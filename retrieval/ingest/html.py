"""Reads HTML into sections of readable text, a title and the addresses of its links."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode

from retrieval.errors import BadInput
from retrieval.ingest.splitting import Section
from retrieval.tuning import HTML_DEPTH

SOFT_HYPHEN = "\xad"
"""Says where a word may be broken; left in, it would make two words of one."""
_DROPPED_TAGS = "script style nav noscript template iframe object svg math head select button"
_DROPPED = frozenset(_DROPPED_TAGS.split())
_INLINE_TAGS = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark q s samp small span strike strong
    sub sup time tt u var wbr
"""
_INLINE = frozenset(_INLINE_TAGS.split())
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
# Elements without an end, or whose end is often left out: they do not nest
_SHALLOW_TAGS = """
    area base br col embed hr img input link meta source track wbr p li dt dd option tr td th thead tbody tfoot
"""
_SHALLOW = frozenset(_SHALLOW_TAGS.split())
_LINES_OF_THEIR_OWN = frozenset({"br", "tr", "li", "dt", "dd"})
_SPACE = re.compile(r"\s+")
_LINES = re.compile(r" *\n *")
_SPACES = re.compile(r" {2,}")
_BLANK_LINES = re.compile(r"\n{3,}")
_KEPT_SPACE = "\x00"  # stands for a space of <pre> while the others are collapsed; stored text has no NUL


@dataclass(slots=True)
class HtmlText:
    """What is read of an HTML text: its `<title>`, its sections, the addresses of its links."""

    title: str | None = None
    first_heading: str | None = None
    sections: list[Section] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)


def read_html(content: str) -> HtmlText:
    """Read a page or a part of one. Raises `BadInput` when elements nest deeper than 1,000 levels."""
    _refuse_deep(content)
    parser = LexborHTMLParser(content)
    result = HtmlText()
    title = parser.css_first("title")
    if title is not None:
        result.title = " ".join(title.text().split()) or None
    if parser.body is not None:
        _Walk(result).run(parser.body)
    return result


def plain_text(content: str) -> str:
    """The readable text of a piece of HTML, headings included."""
    sections = read_html(content).sections
    texts = (text for section in sections for text in (*section.headings[-1:], section.text))
    return "\n\n".join(text for text in texts if text)


class _Walk:
    """Visits the nodes in order without recursion, since depth is the author's choice."""

    def __init__(self, result: HtmlText) -> None:
        self.result = result
        self.path: list[tuple[int, str]] = []
        self.parts: list[str] = []
        self.heading_level = 0
        self.preformatted = 0

    def run(self, body: LexborNode) -> None:
        pending = [(body.child, False)] if body.child is not None else []
        while pending:
            node, leaving = pending.pop()
            if leaving:
                self.leave(node.tag or "")
                continue
            if node.next is not None:
                pending.append((node.next, False))
            if node.is_text_node:
                self.add(node.text_content or "")
            elif node.is_element_node and node.tag not in _DROPPED:
                self.enter(node)
                pending.append((node, True))
                if node.child is not None:
                    pending.append((node.child, False))
        self.close_section()

    def add(self, text: str) -> None:
        text = text.replace(SOFT_HYPHEN, "")
        if self.preformatted:
            self.parts.append(re.sub(r"[ \xa0\t]", _KEPT_SPACE, text))
        else:
            self.parts.append(_SPACE.sub(" ", text))

    def enter(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag == "a":
            address = node.attributes.get("href")
            if address:
                self.result.addresses.append(address)
        elif tag in _HEADINGS and not self.heading_level:
            self.close_section()
            self.heading_level = _HEADINGS[tag]
        elif tag == "pre":
            self.preformatted += 1
        self.separate(tag)

    def leave(self, tag: str) -> None:
        if _HEADINGS.get(tag) == self.heading_level and self.heading_level:
            self.open_heading()
        elif tag == "pre":
            self.preformatted -= 1
        if tag not in _LINES_OF_THEIR_OWN:
            self.separate(tag)

    def separate(self, tag: str) -> None:
        if tag in _LINES_OF_THEIR_OWN:
            self.parts.append("\n")
        elif tag in ("td", "th"):
            self.parts.append(" ")
        elif tag not in _INLINE:
            self.parts.append("\n\n")

    def open_heading(self) -> None:
        heading = " ".join("".join(self.parts).replace(_KEPT_SPACE, " ").split())
        self.parts.clear()
        level, self.heading_level = self.heading_level, 0
        if heading:
            self.result.first_heading = self.result.first_heading or heading
            self.path = [(above, text) for above, text in self.path if above < level] + [(level, heading)]

    def close_section(self) -> None:
        text = _LINES.sub("\n", _SPACES.sub(" ", "".join(self.parts)))
        text = _BLANK_LINES.sub("\n\n", text).strip().replace(_KEPT_SPACE, " ")
        self.parts.clear()
        if text or self.path:
            self.result.sections.append(Section(tuple(heading for _, heading in self.path), text))


def _refuse_deep(content: str) -> None:
    depth = 0
    for closing, name in _TAG.findall(content):
        if name.lower() in _SHALLOW:
            continue
        depth = max(0, depth - 1) if closing else depth + 1
        if depth > HTML_DEPTH:
            raise BadInput(f"The HTML nests deeper than {HTML_DEPTH:,} elements; send the text without the wrapping.")
