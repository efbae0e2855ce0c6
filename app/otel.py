"""Tells an OpenTelemetry collector of operations and what they were made of; imported only where that is asked for."""

from __future__ import annotations

import os
import time

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from app.telemetry import KINDS, LONGEST_NAME, OperationRecord

FAULTS = frozenset({"INTERNAL", "DATABASE_UNAVAILABLE", "PROVIDER_UNAVAILABLE", "DEADLINE_EXCEEDED", "OVERLOADED"})
PROPAGATOR = TraceContextTextMapPropagator()


class OtelSpans:
    """Sends a span for each operation that ended, and one in it for each stage, statement and provider call; no texts."""

    def __init__(self, processor: SpanProcessor) -> None:
        name = os.environ.get("OTEL_SERVICE_NAME", "contextql")
        self._provider = TracerProvider(resource=Resource.create({"service.name": name}), shutdown_on_exit=False)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("contextql")

    def operation(self, record: OperationRecord, status: int | None) -> None:
        """Tell of an operation that ended now, under the span of the client when it sent one."""
        epoch = time.time() - time.perf_counter()
        kind = record.note.kind if record.note.kind in KINDS else "unknown"
        span = self._tracer.start_span(
            f"graphql {kind}",
            PROPAGATOR.extract(record.carrier),
            SpanKind.SERVER,
            {
                "graphql.operation.type": kind,
                "graphql.operation.name": (record.note.name or "")[:LONGEST_NAME],
                "http.response.status_code": status or 0,
                "contextql.transport": record.transport,
                "contextql.request_id": record.request_id,
                "contextql.codes": record.codes,
                "contextql.points": record.note.points or 0,
            },
            start_time=nanoseconds(epoch + record.started),
        )
        if span.is_recording():
            within = set_span_in_context(span)
            for part in record.parts:
                begun = epoch + part.started
                kind_of_part = SpanKind.INTERNAL if part.name.startswith("stage:") else SpanKind.CLIENT
                child = self._tracer.start_span(part.name, within, kind_of_part, start_time=nanoseconds(begun))
                child.end(nanoseconds(begun + part.seconds))
            if not FAULTS.isdisjoint(record.codes):
                span.set_status(StatusCode.ERROR, record.codes[0])
        span.end()

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def nanoseconds(seconds: float) -> int:
    """Seconds since 1970 as OpenTelemetry counts them."""
    return int(seconds * 1e9)
