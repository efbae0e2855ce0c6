"""What operators see: counters and timings for Prometheus, and one line in the log for each operation."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Protocol

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from retrieval.spending import Spent
from schema.limits import OperationNote, operation_note

KINDS = frozenset({"query", "mutation", "subscription"})
LONGEST_NAME = 100
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_access = structlog.stdlib.get_logger("contextql.access")


MOST_PARTS = 1_000


@dataclass(frozen=True, slots=True)
class Part:
    """A stage, statement or provider call of an operation: when it started (seconds of `perf_counter`), how long it took."""

    name: str
    started: float
    seconds: float


@dataclass
class OperationRecord:
    """One operation while it runs: what is known of it goes into its log line and its metrics."""

    request_id: str
    transport: str
    note: OperationNote = field(default_factory=OperationNote)
    started: float = field(default_factory=time.perf_counter)
    codes: list[str] = field(default_factory=list)
    details: Mapping[str, Any] = field(default_factory=dict)
    spent: Spent | None = None
    """What its session counts."""
    carrier: Mapping[str, str] = field(default_factory=dict)
    """The headers that say which span of the client this belongs to."""
    parts: list[Part] = field(default_factory=list)
    """What it was made of, up to `MOST_PARTS`; empty unless somebody takes spans."""

    def begin(self) -> None:
        """Be the operation that what follows in this task belongs to."""
        operation_note.set(self.note)
        operation_record.set(self)

    def belongs_to(self, session: Any) -> None:
        """Tell from here on what that session has spent."""
        self.spent = getattr(session, "spent", None)

    def cost(self) -> dict[str, Any]:
        """What the operation cost so far, as the extensions of its answer say it; empty when nobody counts."""
        spent = self.spent
        if spent is None:
            return {}
        cost = {"points": self.note.points, "statements": spent.statements, "providerCalls": spent.provider_calls}
        return {"cost": cost}

    def add(self, part: Part) -> None:
        """Remember a part; a stream that goes on for long keeps its first."""
        if len(self.parts) < MOST_PARTS:
            self.parts.append(part)


operation_record: ContextVar[OperationRecord | None] = ContextVar("the operation that runs", default=None)


class Spans(Protocol):
    """What is told of each operation that ended."""

    def operation(self, record: OperationRecord, status: int | None) -> None: ...

    def close(self) -> None: ...


class Telemetry:
    """The metrics of one process; `stage` and `watch` are for the parts below the edge."""

    def __init__(self, spans: Spans | None = None) -> None:
        self.spans = spans
        self.registry = CollectorRegistry()
        self._operations = Counter(
            "contextql_operations", "GraphQL operations by type and outcome", ["type", "code"], registry=self.registry
        )
        self._seconds = Histogram(
            "contextql_operation_seconds", "Time of operations", ["type"], buckets=BUCKETS, registry=self.registry
        )
        self._stages = StageTimes()
        self.registry.register(self._stages)
        self.degraded = Counter(
            "contextql_degraded", "Searches that went on without a helper", ["part", "code"], registry=self.registry
        )
        self.refusals = Counter(
            "contextql_refusals",
            "Operations refused as too many, by what there was too much of",
            ["reason"],
            registry=self.registry,
        )
        self.in_flight = Gauge("contextql_in_flight", "Operations running now", registry=self.registry)
        self.sockets = Gauge("contextql_sockets", "WebSockets open now", registry=self.registry)
        self.unindexed_vectors = Gauge(
            "contextql_unindexed_vectors", "Vectors compared one by one for want of an index", registry=self.registry
        )

    def stage(self, name: str, seconds: float) -> None:
        """Record how long a stage took; `name` is one of the closed set of stage names."""
        self._stages.add(name, seconds)
        if self.spans is not None and (record := operation_record.get()) is not None:
            record.add(Part(name, time.perf_counter() - seconds, seconds))

    def stages_of(self, record: OperationRecord, session: Any) -> None:
        """Remember the stages of a session that has ended, where somebody takes spans."""
        if self.spans is not None and (work := getattr(session, "work", None)) is not None:
            for stage in work.records:
                if stage.seconds is not None:
                    record.add(Part(f"stage:{stage.name}", stage.started, stage.seconds))

    def watch(self, name: str, description: str, read: Callable[[], float]) -> None:
        """Add a gauge that is read when the metrics are, such as the connections in use of a pool."""
        Gauge(name, description, registry=self.registry).set_function(read)

    def finish(self, record: OperationRecord, status: int | None = None) -> None:
        """Count an operation that ended and write its line; the line never holds documents, variables or questions."""
        kind = record.note.kind if record.note.kind in KINDS else "unknown"
        seconds = time.perf_counter() - record.started
        self._operations.labels(kind, record.codes[0] if record.codes else "OK").inc()
        self._seconds.labels(kind).observe(seconds)
        _access.info(
            "operation",
            request_id=record.request_id,
            transport=record.transport,
            type=kind,
            operation=(record.note.name or "")[:LONGEST_NAME] or None,
            status=status,
            codes=record.codes,
            ms=round(seconds * 1000, 1),
            points=record.note.points,
            **record.details,
        )
        if self.spans is not None:
            self.spans.operation(record, status)

    async def endpoint(self, request: Request) -> Response:
        """Answer /metrics."""
        return Response(generate_latest(self.registry), media_type=CONTENT_TYPE_LATEST)


class StageTimes(Collector):
    """A histogram by stage; a request adds a dozen times to it, so adding takes no lock: one thread serves all requests."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    def add(self, name: str, seconds: float) -> None:
        """Count one run of a stage."""
        counts = self._counts.get(name)
        if counts is None:
            counts = self._counts[name] = [0] * (len(BUCKETS) + 1)
            self._sums[name] = 0.0
        counts[bisect_left(BUCKETS, seconds)] += 1
        self._sums[name] += seconds

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """What is counted so far."""
        family = HistogramMetricFamily("contextql_stage_seconds", "Time of stages", labels=["stage"])
        bounds = [*map(str, BUCKETS), "+Inf"]
        for name, counts in self._counts.items():
            family.add_metric([name], list(zip(bounds, accumulate(counts), strict=True)), self._sums[name])
        yield family
