"""Makes what sends spans, where it is asked for and its packages are installed."""

from __future__ import annotations

import importlib
from typing import Any

from app.config import BadConfiguration, Settings
from app.telemetry import Spans

EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


def make_spans(settings: Settings) -> Spans | None:
    """What sends spans; None unless `CB_OPENTELEMETRY` is set. Raises `BadConfiguration` when the packages are not there."""
    if not settings.opentelemetry:
        return None
    try:
        exporter: Any = importlib.import_module(EXPORTER)
        batches: Any = importlib.import_module("opentelemetry.sdk.trace.export")
        otel: Any = importlib.import_module("app.otel")
    except ImportError:
        raise BadConfiguration(["CB_OPENTELEMETRY: needs packages; install contextql[otel], or leave the setting out"]) from None
    spans: Spans = otel.OtelSpans(batches.BatchSpanProcessor(exporter.OTLPSpanExporter()))
    return spans
