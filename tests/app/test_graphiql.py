"""GraphiQL works from our own files alone: in a browser, without the network, under a strict policy."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import httpx
import pytest
from graphql import parse, validate
from playwright.sync_api import Page, expect, sync_playwright

from app.graphiql import FILES
from schema.api import make_schema
from tests.app.edge_world import World, edge

SECONDS = 60
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
Edge = tuple[World, httpx.Client]


@pytest.fixture(scope="module")
def served_edge() -> Iterator[Edge]:
    with edge() as pair:
        yield pair


def test_a_browser_sees_the_page_and_everyone_else_json(served_edge: Edge) -> None:
    _, client = served_edge
    page = client.get("/graphql", headers={"accept": BROWSER})
    assert page.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe-eval" not in page.headers["content-security-policy"]
    for accept in ("*/*", "application/json", "application/json, text/html;q=0.5"):
        response = client.get("/graphql", params={"query": "{ hello }"}, headers={"accept": accept})
        assert response.json() == {"data": {"hello": "world"}}
    assert client.get("/").headers["location"] == "graphql"


def test_the_page_may_be_left_out() -> None:
    with edge(graphiql=False) as (_, client):
        assert client.get("/graphql", headers={"accept": BROWSER}).status_code == 400
        assert client.get("/static/graphiql/page.js").status_code == 404


def test_every_file_of_the_page_is_served_whole(served_edge: Edge) -> None:
    _, client = served_edge
    html = (FILES / "index.html").read_text()
    for name in re.findall(r'(?:src|href)="([^"]+)"', html):
        response = client.get(f"/{name}", headers={"range": "bytes=" + ",".join(f"{n}-{n}" for n in range(5_000))})
        assert response.status_code == 200, name
        assert response.content == (FILES / name.removeprefix("static/graphiql/")).read_bytes()


def test_nothing_outside_of_the_folder_is_served(served_edge: Edge) -> None:
    _, client = served_edge
    for path in ("../../graphql.py", "%2e%2e/%2e%2e/graphql.py", "..%2f..%2fgraphql.py"):
        assert client.get(f"/static/graphiql/{path}").status_code == 404


def test_licences_are_shipped_with_the_files() -> None:
    assert sorted(path.name for path in FILES.glob("LICENSE*")) == [
        *("LICENSE.graphiql", "LICENSE.graphql-ws", "LICENSE.react", "LICENSE.react-dom")
    ]


def test_every_example_fits_the_schema_and_declares_its_variables() -> None:
    schema = make_schema()._schema
    examples = json.loads((FILES / "examples.json").read_text())
    assert len(examples) >= 5
    for example in examples:
        document = parse("\n".join(example["query"]))
        assert validate(schema, document) == []
        (operation,) = document.definitions
        declared = {variable.variable.name.value for variable in operation.variable_definitions or ()}
        assert declared == set(example.get("variables", {}))


@pytest.fixture
def page(served_edge: Edge, chromium: str) -> Iterator[tuple[Page, list[str], list[str]]]:
    _, client = served_edge
    asked: list[str] = []
    complaints: list[str] = []
    expect.set_options(timeout=SECONDS * 1_000)  # machines are busy at times
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda line: complaints.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.set_default_timeout(SECONDS * 1_000)
        page.goto(str(client.base_url.join("/graphql")))
        wait_until_it_stands(page)
        yield page, asked, complaints
        browser.close()


def wait_until_it_stands(page: Page) -> None:
    """Wait for the button and for all editors, which come one by one."""
    page.wait_for_selector(".graphiql-execute-button")
    page.wait_for_selector(".graphiql-query-editor .CodeMirror-line")
    expect(page.locator(".graphiql-editor-tool .CodeMirror")).to_have_count(2)


def result_of(page: Page, query: str) -> str:
    """The result of a query; asked once more when the page had not noticed yet that it stands there."""
    page.evaluate("text => document.querySelector('.graphiql-query-editor .CodeMirror').CodeMirror.setValue(text)", query)
    text = ""
    for moment in (300, 3_000, 20_000):
        page.wait_for_timeout(moment)  # the page notices the new operation a moment later
        page.click(".graphiql-execute-button")
        text = result_in(page)
        if '"errors"' not in text:
            break
    return text


def result_in(page: Page) -> str:
    """What comes into the window of results; not by wait_for_function: the policy of the page forbids the evaluation it does."""
    for _ in range(20 * SECONDS):
        text = str(page.evaluate("document.querySelector('.result-window .CodeMirror')?.CodeMirror.getValue() ?? ''"))
        if '"' in text:
            return text
        page.wait_for_timeout(50)
    raise AssertionError("no result appeared")


VARIABLES = "document.querySelectorAll('.graphiql-editor-tool .CodeMirror')[0].CodeMirror.getValue()"


def test_the_first_example_stands_ready_and_stays_after_a_reload(page: tuple[Page, list[str], list[str]]) -> None:
    shown, _, complaints = page
    tabs = shown.locator(".graphiql-tab").count()
    for _ in range(2):
        assert "question" in shown.evaluate(VARIABLES)
        assert "query Hits" in shown.inner_text(".graphiql-query-editor")
        shown.reload()
        wait_until_it_stands(shown)
        expect(shown.locator(".graphiql-tab")).to_have_count(tabs)
    assert complaints == []


def test_a_link_opens_with_its_query(served_edge: Edge, page: tuple[Page, list[str], list[str]]) -> None:
    _, client = served_edge
    shown, _, _ = page
    shown.goto(str(client.base_url.join("/graphql?query=%7B%20hello%20%7D")))
    wait_until_it_stands(shown)
    assert "{ hello }" in shown.inner_text(".graphiql-query-editor")


def test_the_page_runs_queries_and_subscriptions_and_asks_no_other_origin(
    served_edge: Edge, page: tuple[Page, list[str], list[str]]
) -> None:
    world, client = served_edge
    shown, asked, complaints = page
    assert "search" in shown.inner_text(".graphiql-query-editor")
    assert shown.locator(".graphiql-tab").count() >= 5
    headers = "document.querySelectorAll('.graphiql-editor-tool .CodeMirror')[1].CodeMirror"
    shown.evaluate(headers + """.setValue('{"Authorization": "Bearer typed"}')""")
    assert json.loads(result_of(shown, "{ hello }")) == {"data": {"hello": "world"}}
    assert world.opened[-1].authorization == "Bearer typed"
    assert world.opened[-1].local
    shown.click("[aria-label='Add tab'], .graphiql-tab-add")
    assert json.loads(result_of(shown, "subscription { ticks(count: 1) }")) == {"data": {"ticks": 0}}
    shown.click("[aria-label='Show Documentation Explorer']")
    shown.wait_for_selector(".graphiql-doc-explorer-content >> text=Mutation")
    origin = str(client.base_url).rstrip("/")
    assert [url for url in asked if not url.startswith((origin, "data:", "blob:"))] == []
    assert complaints == []
