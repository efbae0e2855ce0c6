"""Chat models get tools that are made of the schema, and only where there is something to search."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest
from graphql import parse, validate
from jsonschema import Draft202012Validator

from retrieval.administration.grants import grant
from retrieval.administration.principals import PrincipalInput, upsert_principals
from tests.fixtures.desk import Desk, with_namespace
from tests.fixtures.openai_server import Message, OpenAIServer, calls_tool
from tests.fixtures.world import api
from tests.fixtures.writing import ADMIN, DOCS

TOOLS = """query($namespaces: [String!], $surface: ToolSurface! = AGENT) { knowledge(namespaces: $namespaces) {
    isEmpty tools(surface: $surface) { name description parameters document } } }"""
TEXTS = {"deploy": "# Deploying\n\nAsk the release desk before a deploy on Friday.", "lunch": "# Lunch\n\nSoup at noon."}


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    """A stand-in for a chat model."""
    server = OpenAIServer()
    yield server
    server.close()


async def offered(desk: Desk, token: str | None = None, **given: Any) -> list[dict[str, Any]]:
    """The tools that a caller is offered."""
    knowledge = (await desk.ask(TOOLS, token, **given))["knowledge"]
    assert knowledge["isEmpty"] == (not knowledge["tools"])
    tools: list[dict[str, Any]] = knowledge["tools"]
    return tools


async def run_tool(desk: Desk, tool: dict[str, Any], token: str | None = None, **arguments: Any) -> dict[str, Any]:
    """The data of a tool's document."""
    Draft202012Validator(tool["parameters"]).validate(arguments)
    return await desk.ask(tool["document"], token, **arguments)


async def test_tools_are_there_from_the_first_fragment_on(desk: Desk) -> None:
    assert await offered(desk) == []
    assert await offered(desk, surface="CHAT") == []
    await desk.fill(TEXTS)
    assert [tool["name"] for tool in await offered(desk)] == ["search", "graph", "sql"]
    assert [tool["name"] for tool in await offered(desk, surface="CHAT")] == ["search_knowledge"]


async def test_each_document_is_valid_takes_what_the_parameters_say_and_runs(desk: Desk) -> None:
    await desk.fill(TEXTS | {"links": "# Links\n\n[Deploying](deploy)"})
    await desk.settle()
    schema = api()._schema
    arguments: dict[str, dict[str, Any]] = {
        "search": {
            "question": "deploy on Friday",
            "k": 2,
            "filter": {"kinds": ["DOCUMENT"], "updatedAfter": "2020-01-01T00:00:00Z"},
        },
        "graph": {"start": [{"key": "links"}], "direction": "OUT"},
        "sql": {"filter": {"types": ["document"]}, "orderBy": "TITLE", "aggregate": True, "dimensions": ["TYPE"]},
        "search_knowledge": {"question": "When is lunch?"},
    }
    given = {}
    for surface in ("AGENT", "CHAT"):
        for tool in await offered(desk, surface=surface):
            Draft202012Validator.check_schema(tool["parameters"])
            (operation,) = parse(tool["document"]).definitions
            assert validate(schema, parse(tool["document"])) == []
            assert {one.variable.name.value for one in operation.variable_definitions} == set(tool["parameters"]["properties"])
            given[tool["name"]] = await run_tool(desk, tool, **arguments[tool["name"]])
    assert given["search"]["search"]["hits"][0]["card"]["key"] == "deploy"
    assert [one["entity"]["key"] for one in given["graph"]["graph"]["entities"]] == ["deploy"]
    assert [one["title"] for one in given["sql"]["entities"]["nodes"]] == ["Deploying", "Links", "Lunch"]
    assert given["sql"]["aggregate"]["total"] == 3
    assert "Soup at noon" in given["search_knowledge"]["search"]["context"]


async def test_a_tool_looks_where_it_was_asked_for(desk: Desk) -> None:
    await with_namespace(desk, "other")
    await desk.fill(TEXTS)
    await desk.fill({"elsewhere": "# Deploying elsewhere\n\nNo deploy on Friday."}, namespace="other")
    asked = {"question": "deploy on Friday"}
    for names, keys in ((None, {"deploy", "elsewhere"}), (["other"], {"elsewhere"}), ([DOCS], {"deploy"})):
        (tool,) = (tool for tool in await offered(desk, namespaces=names) if tool["name"] == "search")
        found = await run_tool(desk, tool, **asked)
        assert {hit["card"]["key"] for hit in found["search"]["hits"]} - {"lunch"} == keys
        assert tool["parameters"]["properties"]["namespaces"]["items"]["enum"] == (names or [DOCS, "other"])
    assert await desk.refusal(TOOLS, namespaces=["nowhere"]) == "NAMESPACE_NOT_FOUND"


async def test_whoever_sees_no_fragment_is_offered_no_tool_and_hears_of_no_other_namespace(desk: Desk) -> None:
    await with_namespace(desk, "secret")
    await desk.write({"key": "deploy", "content": TEXTS["deploy"], "restricted": True})
    await desk.fill(TEXTS, namespace="secret")
    await upsert_principals(desk.store.database, ADMIN, [PrincipalInput("ann", "USER")])
    await grant(desk.store.database, ADMIN, "ann", DOCS)
    token = await desk.token("ann")
    assert await offered(desk, token) == []
    await desk.fill({"lunch": TEXTS["lunch"]})
    tools = await offered(desk, token)
    assert len(tools) == 3
    assert "secret" not in json.dumps(tools)
    found = await run_tool(desk, tools[0], token, question="deploy on Friday soup")
    assert [hit["card"]["key"] for hit in found["search"]["hits"]] == ["lunch"]
    assert (await run_tool(desk, tools[2], token))["entities"]["totalCount"] == 1


async def test_a_model_calls_a_tool_and_answers_from_what_it_found(desk: Desk, model: OpenAIServer) -> None:
    def mind(messages: list[Message], tools: list[str]) -> Message:
        if messages[-1]["role"] == "user":
            return calls_tool("search", {"question": "deploy Friday", "k": 1}) if "search" in tools else {"content": "No idea."}
        hit = json.loads(messages[-1]["content"])["data"]["search"]["hits"][0]
        return {"content": f"{hit['fragment']['text'].splitlines()[-1]} [{hit['card']['key']}]"}

    model.mind = mind
    assert await talk(desk, model, "May I deploy on Friday?") == "No idea."
    assert "tools" not in model.calls[-1].body
    await desk.fill(TEXTS)
    await desk.settle()
    model.calls.clear()
    assert await talk(desk, model, "May I deploy on Friday?") == "Ask the release desk before a deploy on Friday. [deploy]"
    assert [tool["function"]["name"] for tool in model.calls[0].body["tools"]] == ["search", "graph", "sql"]
    assert [message["role"] for message in model.calls[1].body["messages"]] == ["user", "assistant", "tool"]


async def talk(desk: Desk, model: OpenAIServer, question: str) -> str:
    """A conversation as a harness holds it: offer the tools, run the documents of those that are called, go on to the answer."""
    tools = {tool["name"]: tool for tool in await offered(desk)}
    functions = [
        {"type": "function", "function": {k: t[k] for k in ("name", "description", "parameters")}} for t in tools.values()
    ]
    messages: list[Any] = [{"role": "user", "content": question}]
    async with openai.AsyncOpenAI(base_url=model.url, api_key="test", http_client=httpx.AsyncClient()) as client:
        for _ in range(5):
            options: Any = {"tools": functions} if functions else {}
            completion = await client.chat.completions.create(model="stand-in", messages=messages, **options)
            said = completion.choices[0].message
            if not said.tool_calls:
                return str(said.content)
            messages.append(said.model_dump(exclude_none=True))
            for call in said.tool_calls:
                assert call.type == "function"
                document = tools[call.function.name]["document"]
                response = await desk.send(document, **json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": response.text})
    raise AssertionError("the model did not come to an end")
