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

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.app.answering_world import Answering, answering, cites
from tests.app.cli.servers import running
from tests.app.cli.test_pack_page import CONTRASTS
from tests.app.pages import files_served
from tests.fixtures.databases import TestServer
from tests.fixtures.openai_server import says

ROOT = Path(__file__).parents[2]
BOX = ROOT / "docs" / "examples" / "answer-box"
SECONDS = 20
ENDPOINT = "http://127.0.0.1:8000"
QUESTION = "How do I upload a large file together with form fields?"
SPOOLED = "A file stored in memory up to a maximum size limit"
ENCODING = 'uses a "special" encoding'
TOGETHER = "You can define files and form fields at the same time"
SAYS = cites(
    ("Declare the file as `UploadFile` and each field with `Form`, in one function 😀 ", TOGETHER),
    (". A large file goes to **disk** instead of filling the memory ", SPOOLED),
    (".\n\nBoth travel as form data, so the same request cannot have a body of JSON ", 'What is "Form Data"'),
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
            ["npm", "run", "--silent", script], cwd=folder, capture_output=True, text=True, timeout=140, check=False
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
    expect.set_options(timeout=SECONDS * 1_000)  # machines are busy at times
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
            page.set_default_timeout(SECONDS * 1_000)
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
    expect(state).to_have_attribute("data-phase", "done")
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
    expect(page.locator(".answer .text")).to_contain_text("Declare the file")
    expect(page.get_by_role("status").first).to_have_text("Writing the answer …")
    assert page.locator(".answer").get_attribute("aria-busy") == "true"
    assert page.locator(".card").count() > 0
    page.get_by_role("button", name="Stop").click()
    served.wait_until_left()
    expect(page.locator(".status")).to_have_text("Stopped.")
    expect(page.locator(".answer .text")).to_contain_text("Declare the file")


def test_the_card_of_a_citation_opens_the_document_at_the_cited_place(shows: Shows) -> None:
    page = shows()
    ask(page)
    expect(ended(page)).to_have_text("Ready. Sources cited: 2.")
    text = page.locator(".answer .text")
    assert text.inner_text().startswith("Declare the file as UploadFile and each field with Form, in one function 😀")
    assert text.locator("code").all_inner_texts() == ["UploadFile", "Form"]
    assert "[" not in text.inner_text(), "citations are superscripts"
    disk, form = text.get_by_role("button", name="Request Files").all()
    for marker, cited, other in ((disk, SPOOLED, ENCODING), (form, ENCODING, SPOOLED)):
        marker.click()
        card = page.locator(".card.lit")
        expect(card).to_be_focused()
        assert card.get_attribute("aria-current") == "true"
        page.keyboard.press("Enter")
        dialog = page.get_by_role("dialog", name="Request Files")
        mark = dialog.locator("mark")
        expect(mark).to_be_focused()
        expect(mark).to_be_in_viewport()
        assert cited in mark.inner_text()
        assert other not in mark.inner_text()
        assert other in dialog.locator(".content").inner_text(), "the document is whole"
        assert dialog.get_by_role("link").get_attribute("href") == "https://fastapi.tiangolo.com/tutorial/request-files/"
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        expect(card).to_be_focused()


def test_it_speaks_russian(serving: tuple[Answering, str], box: Path, shows: Shows) -> None:
    served, _ = serving
    point_to(box, served.url, "ru.html", locale="ru", namespaces="fastapi-ru")
    served.model.mind = cites(("Объявите параметр `UploadFile` ", "клиентам загружать файлы"), ".")
    page = shows("ru.html")
    assert page.get_by_role("searchbox", name="Ваш вопрос").is_visible()
    ask(page, "Как загрузить файл?")
    expect(ended(page)).to_have_text("Готово. Процитировано источников: 1.")
    page.get_by_role("button", name="Источник").click()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").locator("mark")).to_contain_text("мы можем позволить клиентам загружать файлы")
    assert "отвечаешь на вопрос" in served.call.body["messages"][0]["content"]


def test_what_was_cut_short_says_so(serving: tuple[Answering, str], shows: Shows) -> None:
    served, _ = serving
    served.model.faults.chat.finish = "length"
    page = shows()
    ask(page)
    ended(page)
    expect(page.get_by_role("alert")).to_contain_text("ends early")
    assert page.locator(".answer sup").count() == 3


def test_when_nobody_writes_the_sources_stay_and_one_may_try_again(serving: tuple[Answering, str], shows: Shows) -> None:
    served, _ = serving
    served.model.faults.status = 400
    page = shows()
    ask(page)
    expect(page.get_by_role("alert")).to_contain_text("No answer could be written now")
    page.locator(".card").first.click()
    expect(page.get_by_role("dialog").locator("mark")).to_be_focused()
    page.keyboard.press("Escape")
    served.model.faults.status = None
    page.get_by_role("button", name="Try again").click()
    expect(ended(page)).to_have_text("Ready. Sources cited: 2.")


def test_when_nothing_is_found_the_answer_says_so(serving: tuple[Answering, str], shows: Shows) -> None:
    page = shows()
    ask(page, "zebra")
    ended(page)
    expect(page.locator(".answer .text")).to_have_text("The knowledge graph has no data on this question")
    assert page.locator(".card").count() == 0
    assert serving[0].model.calls == []


def test_a_token_that_does_not_hold_asks_to_sign_in(shows: Shows) -> None:
    page = shows(token="ctxql_wrong")
    ask(page)
    expect(page.get_by_role("alert")).to_contain_text("Please sign in again.")


def test_without_a_model_what_was_found_is_shown(serving: tuple[Answering, str], box: Path, shows: Shows, tmp_path: Path) -> None:
    served, origin = serving
    settings = {
        "embedding_provider": "none",
        "database_url": served.database_url,
        "data_dir": str(tmp_path),
        "cors_origins": origin,
    }
    with running(tmp_path / "log", "serve", **settings) as echo:
        echo.ready()
        point_to(box, echo.url, "echo.html")
        page = shows("echo.html")
        ask(page)
        ended(page)
        expect(page.locator(".answer[data-status=ECHO]")).to_contain_text("Echo mode")
        expect(page.locator(".answer")).to_contain_text(TOGETHER)


HARM = "<img src=x onerror='window.harmed = 1'><script>window.harmed = 1</script>"
HARMFUL = f"<h1>Zebra {HARM}</h1><p>A <b>zebra</b> has   stripes,</p><p>and <i>one</i> mane.</p>"
WRITE = """mutation Write($source: SourceInput!) {
  ingestSources(input: { namespace: "fastapi-en", sources: [$source] }) { results { outcome } }
}"""


def test_what_is_stored_and_what_is_written_can_do_no_harm(serving: tuple[Answering, str], shows: Shows) -> None:
    served, _ = serving
    source = {
        "key": "zebra.html",
        "title": "Zebra",
        "mediaType": "text/html",
        "content": HARMFUL,
        "sourcePath": "javascript:window.harmed=1",
    }
    body = {"query": WRITE, "variables": {"source": source}}
    headers = {"Authorization": f"Bearer {served.token}"}
    answer = httpx.post(f"{served.url}/graphql", json=body, headers=headers, timeout=20, verify=False).json()
    assert answer["data"]["ingestSources"]["results"] == [{"outcome": "CREATED"}]
    served.model.mind = says(f"{HARM} [1]")
    page = shows()
    ask(page, "stripes mane")
    ended(page)
    assert HARM in page.locator(".answer .text").inner_text()
    page.locator("sup button").click()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("mark")).to_be_in_viewport()
    assert dialog.locator("mark").inner_text().startswith("A <b>zebra</b> has   stripes")
    assert "<i>one</i> mane" in dialog.locator("mark").inner_text()
    assert HARM in dialog.locator(".content").inner_text()
    assert page.locator("a, img, iframe, [onerror]").count() == 0
    assert page.evaluate("typeof window.harmed") == "undefined"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone_and_can_be_read(shows: Shows, scheme: Any) -> None:
    page = shows(color_scheme=scheme)
    ask(page)
    ended(page)
    page.set_viewport_size({"width": 360, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    contrasts = page.evaluate(CONTRASTS, "h2, label, .status, .text, code, .marker, .card span")
    assert len(contrasts) > 10
    assert min(contrasts) >= 4.5
