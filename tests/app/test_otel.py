"""Spans of operations: what they say, under whose span they hang, that they hold no text, and that nobody else pays for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator
from types import ModuleType

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from app.config import BadConfiguration, Settings
from app.lifecycle import Drain
from app.main import application
from app.otel import OtelSpans
from app.spans import EXPORTER, make_spans
from app.telemetry import MOST_PARTS, OperationRecord, Part, Telemetry
from app.watching import Watching
from retrieval.administration.namespaces import create_namespace
from tests.fixtures.world import opened
from tests.fixtures.writing import ADMIN

SECRET = "zebra-4711"
CLIENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
Place = tuple[httpx.AsyncClient, InMemorySpanExporter]


@pytest.fixture
async def place(base_url: str) -> AsyncIterator[Place]:
    """A client of an application that sends its spans into a list."""
    sent = InMemorySpanExporter()
    telemetry = Telemetry(OtelSpans(SimpleSpanProcessor(sent)))
    async with opened(base_url) as store:
        store.observer = Watching(telemetry)
        await create_namespace(store.database, ADMIN, "docs")
        app = application(Settings(local_admin=True), store, telemetry, Drain())
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 5000))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            yield client, sent


def by_name(sent: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in sent.get_finished_spans()}


async def test_an_operation_is_a_span_with_its_stages_statements_and_calls_in_it(place: Place) -> None:
    client, sent = place
    query = f'query Find {{ search(question: "{SECRET}") {{ hits {{ score }} }} }}'
    answer = await client.post("/graphql", json={"query": query}, headers={"traceparent": CLIENT})
    assert "errors" not in answer.json()
    spans = by_name(sent)
    root = spans["graphql query"]
    assert root.parent is not None
    assert f"{root.context.trace_id:032x}-{root.parent.span_id:016x}" in CLIENT
    assert {"sql:caller", "stage:caller", "provider:embed_questions"} <= set(spans)
    for name, span in spans.items():
        if span is not root:
            assert span.parent is not None
            assert span.parent.span_id == root.context.span_id
            assert span.kind is (SpanKind.INTERNAL if name.startswith("stage:") else SpanKind.CLIENT)
            assert root.start_time <= span.start_time <= span.end_time <= root.end_time  # type: ignore[operator]
    assert root.attributes is not None
    assert (root.attributes["graphql.operation.name"], root.attributes["http.response.status_code"]) == ("Find", 200)
    assert root.status.status_code is StatusCode.UNSET
    assert SECRET not in "".join(span.to_json() for span in spans.values())


async def test_refusals_are_no_faults_and_faults_are(place: Place) -> None:
    client, sent = place
    await client.post("/graphql", json={"query": '{ knowledge(namespaces: ["nowhere"]) { isEmpty } }'})
    assert by_name(sent)["graphql query"].status.status_code is StatusCode.UNSET
    sent.clear()
    record = OperationRecord("r", "http", codes=["INTERNAL"], carrier={"traceparent": "00-nonsense"})
    for _ in range(MOST_PARTS + 5):
        record.add(Part("sql:caller", record.started, 0.0))
    OtelSpans(SimpleSpanProcessor(sent)).operation(record, 500)
    root = by_name(sent)["graphql unknown"]
    assert (root.parent, root.status.status_code, root.status.description) == (None, StatusCode.ERROR, "INTERNAL")
    assert len(sent.get_finished_spans()) == MOST_PARTS + 1


def test_spans_are_sent_where_they_are_asked_for_and_the_packages_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_spans(Settings()) is None
    module = ModuleType(EXPORTER)
    module.OTLPSpanExporter = InMemorySpanExporter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, EXPORTER, module)
    spans = make_spans(Settings(opentelemetry=True))
    assert isinstance(spans, OtelSpans)
    spans.close()
    monkeypatch.setitem(sys.modules, EXPORTER, None)
    with pytest.raises(BadConfiguration, match=r"CB_OPENTELEMETRY: .*contextql\[otel\]"):
        make_spans(Settings(opentelemetry=True))


def test_the_server_imports_nothing_of_it_by_itself() -> None:
    look = "import sys, app.main; print([name for name in sys.modules if name.startswith('opentelemetry')])"
    told = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=60, check=True)
    assert told.stdout.strip() == "[]"
