"""What operators see: counters and timings for Prometheus, and one line in the log for each operation."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from schema.limits import OperationNote

KINDS = frozenset({"query", "mutation", "subscription"})
LONGEST_NAME = 100
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_access = structlog.stdlib.get_logger("contextql.access")


@dataclass
class OperationRecord:
    """One operation while it runs: what is known of it goes into its log line and its metrics."""

    request_id: str
    transport: str
    note: OperationNote = field(default_factory=OperationNote)
    started: float = field(default_factory=time.perf_counter)
    codes: list[str] = field(default_factory=list)
    details: Mapping[str, Any] = field(default_factory=dict)


class Telemetry:
    """The metrics of one process; `stage` and `watch` are for the parts below the edge."""

    def __init__(self) -> None:
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
        self.in_flight = Gauge("contextql_in_flight", "Operations running now", registry=self.registry)
        self.sockets = Gauge("contextql_sockets", "WebSockets open now", registry=self.registry)
        self.unindexed_vectors = Gauge(
            "contextql_unindexed_vectors", "Vectors compared one by one for want of an index", registry=self.registry
        )

    def stage(self, name: str, seconds: float) -> None:
        """Record how long a stage took; `name` is one of the closed set of stage names."""
        self._stages.add(name, seconds)

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
