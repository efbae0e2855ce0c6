"""The answer box of docs/examples, built as its page says and used in a browser: streaming, citations, sources, states."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.app.answering_world import Answering, answering, cites
from tests.app.cli.servers import running
from tests.app.pages import files_served
from tests.fixtures.databases import TestServer
from tests.fixtures.openai_server import says

ROOT = Path(__file__).parents[2]
BOX = ROOT / "docs" / "examples" / "answer-box"
ENDPOINT = "http://127.0.0.1:8000"
QUESTION = "How do I upload a file?"
SPOOLED = "A file stored in memory up to a maximum size limit"
INSTALL = "first install [`python-multipart`]"
SAYS = cites(
    ("😀 Declare a parameter of type `UploadFile`: large files go to disk instead of filling the memory ", SPOOLED),
    (".\n\nFiles come as form data, so install `python-multipart` first ", INSTALL),
    ".",
)


@pytest.fixture(scope="module")
def box(node_project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, copied and built."""
    folder = tmp_path_factory.mktemp("box") / "answer-box"
    shutil.copytree(BOX, folder, ignore=shutil.ignore_patterns("node_modules", "dist", "generated.ts"))
    shutil.copy(ROOT / "schema" / "schema.graphql", folder)
    (folder / "node_modules").symlink_to(node_project / "node_modules")
    for script in ("build", "check"):
        ended = subprocess.run(
            ["npm", "run", "--silent", script], cwd=folder, capture_output=True, text=True, timeout=100, check=False
        )
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", ""), script
    return folder


@pytest.fixture(scope="module")
def serving(box: Path, database_server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Answering, str]]:
    """The server, and the origin of the page, which the server lets in."""
    with files_served(box / "dist") as origin:
        log = tmp_path_factory.mktemp("answers") / "log"
        with answering(database_server, log, cors_origins=origin) as served:
            point_to(box, served.url)
            yield served, origin


def point_to(box: Path, url: str, name: str = "index.html", **data: str) -> None:
    """Make a page that asks another server, or with other attributes."""
    text = (box / "index.html").read_text().replace(ENDPOINT, url)
    for attribute, value in data.items():
        text = re.sub(f'data-{attribute}="[^"]*"', f'data-{attribute}="{value}"', text)
    (box / "dist" / name).write_text(text)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


Shows = Callable[..., Page]


@pytest.fixture
def shows(browser: Browser, serving: tuple[Answering, str]) -> Iterator[Shows]:
    """Opens the box for somebody signed in; at the end nothing may have been complained about."""
    served, origin = serving
    served.model.reset()
    served.model.mind = SAYS
    complaints: list[str] = []
    with ExitStack() as stack:

        def show(name: str = "", token: str = served.token, **options: Any) -> Page:
            context = browser.new_context(viewport={"width": 900, "height": 820}, **options)
            stack.callback(context.close)
            context.add_init_script(f"sessionStorage.setItem('contextql-token', {json.dumps(token)})")
            page = context.new_page()
            page.set_default_timeout(15_000)
            page.on("console", lambda line: complaints.append(line.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(f"{origin}/{name}")
            return page

        yield show
    assert [line for line in complaints if "401 (Unauthorized)" not in line] == []


def ask(page: Page, question: str = QUESTION) -> None:
    page.get_by_role("searchbox").fill(question)
    page.keyboard.press("Enter")


def ended(page: Page) -> Locator:
    """The line of the state, once the answer is there."""
    state = page.locator(".status")
    expect(state).to_have_attribute("data-phase", "done", timeout=15_000)
    return state


def test_versions_of_the_example_are_those_that_are_tested(node_project: Path) -> None:
    tested = json.loads((node_project / "package.json").read_text())["dependencies"]
    package = json.loads((BOX / "package.json").read_text())
    example = package["dependencies"] | package["devDependencies"]
    assert example.items() <= tested.items()


def test_an_answer_arrives_in_pieces_with_its_sources_first(serving: tuple[Answering, str], shows: Shows) -> None:
    served, _ = serving
    served.model.faults.chat.pause_after = 6
    page = shows()
    ask(page)
    expect(page.locator(".answer .text")).to_contain_text("Declare a parameter")
    expect(page.get_by_role("status").first).to_have_text("Writing the answer …")
    assert page.locator(".answer").get_attribute("aria-busy") == "true"
    assert page.locator(".card").count() > 0
    page.get_by_role("button", name="Stop").click()
    served.wait_until_left()
    expect(page.locator(".status")).to_have_text("Stopped.")
    expect(page.locator(".answer .text")).to_contain_text("Declare a parameter")


def test_the_card_of_a_citation_opens_the_document_at_the_cited_place(shows: Shows) -> None:
    page = shows()
    ask(page)
    expect(ended(page)).to_have_text("Ready. Sources cited: 1.")
    first, second = page.locator("sup button").all()
    assert page.locator(".answer .text").inner_text().startswith("😀 Declare a parameter of type")
    page.screenshot(path="/tmp/clients/shot1.png")
    assert "[" not in page.locator(".answer .text").inner_text(), "citations are superscripts"
    second.click()
    card = page.locator(".card.lit")
    expect(card).to_be_focused()
    assert card.get_attribute("aria-current") == "true"
    assert card.locator(".title").inner_text() == "Request Files"
    first.click()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Request Files")
    mark = dialog.locator("mark")
    expect(mark).to_be_focused()
    expect(mark).to_be_in_viewport()
    page.screenshot(path="/tmp/clients/shot2.png")
    assert SPOOLED in mark.inner_text()
    assert INSTALL not in mark.inner_text()
    assert INSTALL in dialog.locator(".content").inner_text(), "the document is whole"
    assert dialog.locator(".content").evaluate("one => one.scrollTop") > 0
    assert dialog.get_by_role("link").get_attribute("href") == "https://fastapi.tiangolo.com/tutorial/request-files/"
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(card).to_be_focused()
