"""A pack as one page that needs nothing else: no script, no network, everything stored escaped by the serialiser."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, tostring

from app.cli.output import printable
from app.cli.pack_compiled import Compiled, detail_of, key_of, name_of, title_of, title_of_dropped, together
from retrieval.compilation.item import ItemKind
from retrieval.compilation.pack import PackItem, Section
from retrieval.ranking import Signal

STYLE = (Path(__file__).parent / "pack_page.css").read_text(encoding="utf-8")
STYLE_HASH = b64encode(sha256(STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{STYLE_HASH}'; base-uri 'none'; form-action 'none'"
"""Nothing is loaded and nothing runs, whatever a text holds; bars are drawn without styles of their own."""
WIDE = 1_000.0


def page(pack: Compiled) -> str:
    """The whole page."""
    title = printable(pack.question.text) or pack.words["pack"]
    root = node(
        "html",
        node(
            "head",
            node("meta", charset="utf-8"),
            node("meta", http_equiv="Content-Security-Policy", content=POLICY),
            node("meta", name="viewport", content="width=device-width, initial-scale=1"),
            node("title", title),
            node("style", STYLE),
        ),
        node("body", node("main", node("h1", title), *parts(pack))),
        lang=pack.language,
    )
    return f"<!doctype html>\n{tostring(root, encoding='unicode', method='html')}\n"


def node(tag: str, *children: Element | str | None, **attributes: str | None) -> Element:
    """An element; texts and values are escaped when it is written. `class_` and `aria_label` become what HTML calls them."""
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items() if value is not None}
    made, last = Element(tag, named), None
    for child in children:
        if isinstance(child, Element):
            made.append(child)
            last = child
        elif child is not None and last is None:
            made.text = (made.text or "") + child
        elif child is not None and last is not None:
            last.tail = (last.tail or "") + child
    return made


def parts(pack: Compiled) -> Iterable[Element]:
    """What stands below the question."""
    words = pack.words
    yield node("ul", *(node("li", text) for text in circumstances(pack)), class_="chips")
    yield from (node("p", printable(one.message), class_="notice", role="status") for one in pack.degraded)
    yield from budget(pack)
    yield from legend(pack)
    if not pack.sections:
        yield node("p", words["empty"], class_="notice")
    for section in pack.sections:
        yield shown_section(pack, section)
    if pack.budget.dropped:
        yield dropped(pack)
    yield node("h2", words["prompt"], node("span", f"{pack.text_tokens:,} {words['tokens']}"))
    yield unfolding(words["text"], pack.text)
    if pack.trace_id:
        yield node("h2", words["trace"])
        yield node("p", node("code", f"contextql trace show {pack.trace_id}"))


def circumstances(pack: Compiled) -> Iterable[str]:
    """How it was asked, each in a few words."""
    asked, words = pack.question, pack.words
    yield asked.strategy.value
    yield ", ".join(asked.namespaces or ()) or words["everywhere"]
    yield f"k {asked.k}"
    if asked.starts:
        yield f"{words['anchors']}: {', '.join(printable(ref.key) for ref in asked.starts)}"
    if asked.scopes:
        yield f"{words['scopes']}: {', '.join(map(printable, asked.scopes))}"
    if asked.as_of:
        yield f"{words['asOf']} {asked.as_of:%Y-%m-%d %H:%M %Z}"
    if asked.known_at:
        yield f"{words['knownAt']} {asked.known_at:%Y-%m-%d %H:%M %Z}"


def budget(pack: Compiled) -> Iterable[Element]:
    """The budget as a bar that its sections fill, with the numbers in words."""
    spent, words = pack.budget, pack.words
    told = f"{spent.used_tokens:,} {words['of']} {spent.max_tokens:,} {words['tokens']}"
    shares = [(section.token_estimate / spent.max_tokens, "used", pack.heading(section.kind)) for section in pack.sections]
    sizes = [(pack.heading(section.kind), section.token_estimate) for section in pack.sections]
    sizes.append((words["free"], spent.max_tokens - spent.used_tokens))
    yield node("h2", words["budget"])
    yield node("p", f"{told} · {100 * spent.used_tokens // spent.max_tokens} %", class_="figure")
    yield bar("budget", shares, f"{words['budget']}: {told}")
    yield node("ul", *(node("li", f"{name} ", node("b", f"{size:,}")) for name, size in sizes), class_="terms")


def legend(pack: Compiled) -> Iterable[Element]:
    """The colours, for the terms that occur."""
    scored = [*(item.signals for section in pack.sections for item in section.items)]
    scored += [one.candidate.signals for one in pack.budget.dropped]
    names = dict.fromkeys(name_of(signal) for signals in scored for signal in signals)
    if names:
        yield node("h2", pack.words["legend"])
        yield node("ul", *(node("li", swatch(name), name) for name in names), class_="terms legend")


def shown_section(pack: Compiled, section: Section) -> Element:
    """A section; facts that contradict each other stand side by side in a frame."""
    words, heading = pack.words, pack.heading(section.kind)
    rows = []
    for some in together(section.items):
        cards = [card(pack, item) for item in some]
        if len(cards) > 1:
            rows.append(
                node("div", node("p", f"⚡ {words['conflicts']}"), node("div", *cards, class_="sides"), class_="conflict")
            )
        else:
            rows += cards
    size = f"{section.token_estimate:,} {words['tokens']}"
    return node("section", node("h2", heading, node("span", size)), *rows, aria_label=heading, id=section.kind.value.lower())


def card(pack: Compiled, item: PackItem) -> Element:
    """An item: what it is and costs, its score as a bar of the terms it is made of, its text to unfold."""
    words, is_scored = pack.words, item.kind is not ItemKind.CURRENT
    title, interval = in_two(title_of(item, words)) if item.kind is ItemKind.FACT else (title_of(item, words), "")
    price = f"{item.token_estimate:,} {words['tokens']}"
    told = f"{words['score']} {item.score:.4f} · {price}" if is_scored else price
    badge = node("span", words["neutralized"], class_="badge") if item.neutralized else None
    terms = node("ul", *(term(signal, words) for signal in item.signals), class_="terms")
    return node(
        "article",
        node("div", node("h3", title, badge), node("p", told, class_="numbers"), class_="head"),
        place(item, interval) if is_scored else None,
        score_bar(pack, item.signals) if is_scored else None,
        terms if is_scored else None,
        None if item.kind is ItemKind.FACT else unfolding(words["text"], item.text, is_open=not is_scored),
        class_="item",
    )


def in_two(fact: str) -> tuple[str, str]:
    """The text of a fact, and the interval in parentheses at its end."""
    said, _, interval = fact.rpartition(" (")
    return said, interval.removesuffix(")")


def place(item: PackItem, interval: str) -> Element:
    """What an item is cited by, when a fact holds, and where people find it."""
    path = printable(item.source_path or "")
    link = node("a", path, href=path, rel="noreferrer noopener") if urlsplit(path).scheme in ("http", "https") else path
    rest = (f" · {interval}" if interval else "", " · " if path else "", link)
    return node("p", node("code", f"[{key_of(item)}]"), f" {item.namespace}", *rest, class_="soft")


def unfolding(name: str, text: str, is_open: bool = False) -> Element:
    """A text to unfold."""
    return node("details", node("summary", name), node("pre", by_lines(text)), open="" if is_open else None)


def term(signal: Signal, words: dict[str, str]) -> Element:
    """A term of a score in words."""
    name, detail = name_of(signal), detail_of(signal, words)
    return node("li", swatch(name), f"{name} ", node("b", f"{signal.contribution:.4f}"), f" ({detail})" if detail else "")


def swatch(name: str) -> Element:
    """The colour of a term."""
    return node("i", class_=class_of(name), aria_hidden="true")


def score_bar(pack: Compiled, signals: Sequence[Signal]) -> Element:
    """A score as a bar: as long as its share of the best one, a piece for each term."""
    shares = [(one.contribution / pack.best_score, class_of(name_of(one)), name_of(one)) for one in signals]
    told = ", ".join(f"{name_of(one)} {one.contribution:.4f}" for one in signals)
    return bar("score", shares, told)


def bar(kind: str, shares: Iterable[tuple[float, str, str]], told: str) -> Element:
    """A bar of pieces, each a share of the whole, a class and a name; drawn with attributes, which no policy forbids."""
    pieces, start = [], 0.0
    for share, colour, name in shares:
        size = {"x": f"{start * WIDE:.3f}", "width": f"{share * WIDE:.3f}", "height": "10"}
        pieces.append(node("rect", node("title", name), class_=f"piece {colour}", **size))
        start += share
    track = node("rect", class_="track", width=f"{WIDE:.0f}", height="10")
    drawn = {"viewBox": f"0 0 {WIDE:.0f} 10", "preserveAspectRatio": "none"}
    return node("svg", track, *pieces, class_=kind, role="img", aria_label=told, **drawn)


def dropped(pack: Compiled) -> Element:
    """What did not get in, why, and what it would have taken."""
    words = pack.words
    heads = [node("th", words[name], scope="col") for name in ("item", "reason")]
    heads += [node("th", words[name], scope="col", class_="number") for name in ("price", "score")]
    rows = [
        node(
            "tr",
            node(
                "td", title_of_dropped(one), " ", node("code", one.item_id, class_="soft"), score_bar(pack, one.candidate.signals)
            ),
            node("td", words[one.reason.value], class_="reason"),
            node("td", f"{one.token_estimate:,}", class_="number"),
            node("td", f"{one.score:.4f}", class_="number"),
        )
        for one in pack.budget.dropped
    ]
    table = node("table", node("thead", node("tr", *heads)), node("tbody", *rows))
    heading = node("h2", words["dropped"], node("span", f"{len(rows):,}"))
    return node("section", heading, table, aria_label=words["dropped"], id="dropped")


def class_of(name: str) -> str:
    """The class of a term."""
    return name.replace(" ", "-")


def by_lines(text: str) -> str:
    """A text with its lines, free of what cannot be shown."""
    return "\n".join(map(printable, text.split("\n")))
