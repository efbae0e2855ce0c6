"""The page of a pack in a browser: sections, bars and conflicts as they are, nothing that runs, readable in light and dark."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from app.cli.pack import Given, compile_pack
from app.cli.pack_compiled import Compiled
from app.cli.pack_page import page as page_of
from app.config import Settings
from app.demo.team import load_team
from retrieval.compilation.pack import PackItem
from retrieval.compilation.question import Strategy
from retrieval.ingest.statistics import refresh_statistics
from retrieval.subgraph import EntityRef
from tests.app.cli.conftest import TEMPLATE, migrate
from tests.fixtures.databases import TestServer
from tests.fixtures.world import opened
from tests.fixtures.writing import put, values

HARM = "<script>window.harmed = true</script><img src=x onerror='window.harmed = true'>"
WHY = "Why do payments time out? ERR_PAY_TIMEOUT"
HARMFUL = f"zebra </title></style></h1>{HARM}"
LINKS = {"a.md": "javascript:window.harmed=1", "b.md": "https://wiki.example/b"}


@pytest.fixture(scope="module")
def packs(database_server: TestServer) -> dict[str, Compiled]:
    """Some packs over the example of a software team and pages that mean harm."""
    url = database_server.create(database_server.template_database(TEMPLATE, migrate))
    try:
        return asyncio.run(compiled(url))
    finally:
        database_server.drop(url)


async def compiled(url: str) -> dict[str, Compiled]:
    async with opened(url) as store:
        await load_team(store)
        await put(store, "harm\"'><b>.md", f"zebra </pre></style></title>{HARM}", "team", title=f"Harm {HARM}")
        for key, path in LINKS.items():
            await put(store, key, f"giraffe {key}", "team", source_path=path)
        for ns in await values(store, "select ns from namespace"):
            await refresh_statistics(store.database, ns)
    settings = Settings(database_url=url, embedding_provider="none")
    return {given.question: await compile_pack(settings, given, None) for given in (
        asked(WHY, ephemeral=b'{"page": "billing"}', anchors=(EntityRef(None, "PAY-101"),)),
        asked(HARMFUL, scopes=(f"a:{HARM}",), anchors=(EntityRef(None, HARM),)),
        asked("giraffe"),
        asked("", strategy=Strategy.BRIEFING, scopes=("project:alpha",), locale="RU"),
    )}  # fmt: skip


def asked(question: str, **given: Any) -> Given:
    """A question with what it leaves out."""
    rest = {
        "namespaces": ("team",), "scopes": (), "allowed": None, "anchors": (), "subject": None, "ephemeral": None,
        "max_tokens": 420, "strategy": Strategy.HYBRID, "as_of": "2026-09-06T00:00:00Z", "known_at": None, "k": 8,
        "locale": "AUTO",
    }  # fmt: skip
    return Given(question, **{**rest, **given})


@pytest.fixture(scope="module")
def browser(chromium: str, packs: dict[str, Compiled]) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


Shows = Callable[[str], Page]


@pytest.fixture
def noted() -> list[str]:
    """All that the page asked for and all that the browser complained about."""
    return []


@pytest.fixture
def shows(browser: Browser, tmp_path: Path, noted: list[str]) -> Iterator[Shows]:
    """Shows a page."""
    shown = browser.new_page(viewport={"width": 1_000, "height": 900})
    shown.on("request", lambda request: noted.append(request.url))
    shown.on("console", lambda line: noted.append(line.text))
    shown.on("pageerror", lambda error: noted.append(str(error)))

    def show(text: str) -> Page:
        file = tmp_path / "pack.html"
        file.write_text(text, encoding="utf-8")
        shown.goto(file.as_uri())
        return shown

    yield show
    shown.close()


def items_of(pack: Compiled) -> list[PackItem]:
    return [item for section in pack.sections for item in section.items]


SHARES = """name => [...document.querySelectorAll('svg.' + name)].map(svg => {
    const whole = svg.getBoundingClientRect().width
    return [...svg.querySelectorAll('.piece')].map(piece => piece.getBoundingClientRect().width / whole)
})"""


def test_it_shows_every_section_and_item_and_loads_nothing(packs: dict[str, Compiled], shows: Shows, noted: list[str]) -> None:
    pack = packs[WHY]
    shown = shows(page_of(pack))
    assert [url.partition(":")[0] for url in noted] == ["file"], "nothing else is loaded, and nothing is complained about"
    assert shown.inner_text("h1") == WHY
    kinds = [section.kind.value.lower() for section in pack.sections]
    assert kinds[:3] == ["current", "relevant_facts", "documents"]
    assert shown.evaluate("[...document.querySelectorAll('section')].map(one => one.id)") == [*kinds, "dropped"]
    assert shown.locator("article").count() == len(items_of(pack))
    assert shown.locator("#dropped tbody tr").count() == len(pack.budget.dropped) > 0
    assert '{"page":"billing"}' in shown.inner_text("#current")


def test_bars_are_as_wide_as_what_they_stand_for(packs: dict[str, Compiled], shows: Shows) -> None:
    pack = packs[WHY]
    shown = shows(page_of(pack))
    (budget,) = shown.evaluate(SHARES, "budget")
    assert budget == pytest.approx([section.token_estimate / 420 for section in pack.sections], abs=0.002)
    assert sum(budget) == pytest.approx(pack.budget.used_tokens / 420, abs=0.002)
    scored = [(one.score, one.signals) for one in items_of(pack) if one.signals]
    scored += [(one.score, one.candidate.signals) for one in pack.budget.dropped]
    best = max(score for score, _ in scored)
    for (score, signals), shares in zip(scored, shown.evaluate(SHARES, "score"), strict=True):
        assert shares == pytest.approx([signal.contribution / best for signal in signals], abs=0.002)
        assert sum(shares) == pytest.approx(score / best, abs=0.002)


def test_a_colour_is_never_alone(packs: dict[str, Compiled], shows: Shows) -> None:
    shown = shows(page_of(packs[WHY]))
    colours = shown.evaluate("[...document.querySelectorAll('.legend i')].map(one => getComputedStyle(one).backgroundColor)")
    names = shown.locator(".legend li").all_inner_texts()
    assert {"lexical", "facts", "in force", "evidence", "identifier", "freshness"} <= set(names)
    assert len(set(colours)) == len(names)
    labels = shown.evaluate("[...document.querySelectorAll('svg')].map(one => one.getAttribute('role') + one.ariaLabel)")
    assert all(re.search(r"^img.*\d", label) for label in labels)


def test_what_contradicts_each_other_stands_side_by_side(packs: dict[str, Compiled], shows: Shows) -> None:
    shown = shows(page_of(packs[WHY]))
    places = shown.evaluate(
        "[...document.querySelectorAll('.conflict .item')].map(one => one.getBoundingClientRect()).map(at => [at.x, at.y])"
    )
    (left, top), (right, other_top) = places
    assert left < right
    assert top == other_top
    assert "contradict each other" in shown.inner_text(".conflict")
    assert ["priority high" in text for text in shown.locator(".conflict h3").all_inner_texts()] == [True, False]


def test_what_is_stored_and_what_is_asked_can_do_no_harm(packs: dict[str, Compiled], shows: Shows, noted: list[str]) -> None:
    shown = shows(page_of(packs[HARMFUL]))
    assert shown.evaluate("typeof window.harmed") == "undefined"
    assert shown.locator("script, img, iframe, [onerror], [style]").count() == 0
    assert len(noted) == 1
    assert shown.inner_text("h1") == shown.title() == HARMFUL
    assert any("<script>" in text for text in shown.locator("article h3").all_inner_texts()), "it is shown as what it is"


def test_even_a_script_that_got_in_would_not_run(packs: dict[str, Compiled], shows: Shows, noted: list[str]) -> None:
    shown = shows(page_of(packs["giraffe"]).replace("</h1>", f"</h1>{HARM}<p style='color: red'></p>"))
    assert shown.locator("script, img").count() == 2
    assert shown.evaluate("typeof window.harmed") == "undefined"
    assert "Content Security Policy" in " ".join(noted)


def test_an_address_of_a_source_leads_only_to_the_web(packs: dict[str, Compiled], shows: Shows) -> None:
    shown = shows(page_of(packs["giraffe"]))
    assert shown.evaluate("[...document.links].map(one => one.href)") == [LINKS["b.md"]]
    assert LINKS["a.md"] in shown.inner_text("main")


def test_a_pack_of_nothing_says_so(packs: dict[str, Compiled], shows: Shows) -> None:
    shown = shows(page_of(packs[""]))
    assert shown.inner_text("h1") == "Контекст"
    assert "Ничего не вошло." in shown.inner_text("main")


CONTRASTS = """selector => [...document.querySelectorAll(selector)].map(one => {
    const parts = text => text.match(/[0-9.]+/g).map(Number)
    const light = rgb => rgb.slice(0, 3).map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
        .reduce((sum, c, place) => sum + c * [.2126, .7152, .0722][place], 0)
    let behind = one
    while (parts(getComputedStyle(behind).backgroundColor)[3] === 0) behind = behind.parentElement
    const two = [getComputedStyle(one).color, getComputedStyle(behind).backgroundColor].map(text => light(parts(text)))
    return (Math.max(...two) + .05) / (Math.min(...two) + .05)
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(packs: dict[str, Compiled], shows: Shows, scheme: Any) -> None:
    shown = shows(page_of(packs[WHY]))
    shown.emulate_media(color_scheme=scheme)
    dark = "getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g)[0] < 128"
    assert shown.evaluate(dark) is (scheme == "dark")
    contrasts = shown.evaluate(CONTRASTS, "h1, h2, h2 span, h3, p, li, li b, summary, td, th, code, .conflict > p")
    assert len(contrasts) > 50
    assert min(contrasts) >= 4.5


def test_nothing_is_wider_than_a_phone(packs: dict[str, Compiled], shows: Shows) -> None:
    shown = shows(page_of(packs[WHY]))
    shown.set_viewport_size({"width": 360, "height": 800})
    assert shown.evaluate("document.documentElement.scrollWidth") <= 360
