"""OpenTelemetry traces and metrics, sent to a collector where one is configured; otherwise nothing is made or sent.

Spans hold routes, stages, outcomes and times: never ids, keys or content. The metrics are those of `/metrics`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from itertools import pairwise

from opentelemetry import context, propagate, trace
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import export as otel
from opentelemetry.sdk.resources import SERVICE_INSTANCE_ID, SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Span, SpanKind, StatusCode
from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

from app.ids import new

EXPORT_SECONDS = 15.0
"""Seconds between two exports of metrics."""

SCOPE = "typed-memory"

_SERVER_ERROR = 500

_CUMULATIVE = otel.AggregationTemporality.CUMULATIVE


@dataclass(frozen=True, slots=True)
class _Exporters:
    """The means of sending, which exist where a collector is configured."""

    resource: Resource
    provider: TracerProvider
    tracer: trace.Tracer
    metrics: OTLPMetricExporter


class Telemetry:
    """Traces requests, stages and jobs, and sends metrics."""

    def __init__(self, endpoint: str | None, version: str) -> None:
        """Prepare to send to a collector at `endpoint` (OTLP over HTTP, such as http://127.0.0.1:4318), if any."""
        self._sending = None if endpoint is None else _exporters(endpoint.rstrip("/"), version)
        self._since = time.time_ns()

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Iterator[Span | None]:
        """Trace a request, as part of the trace that its `traceparent` names; `finish_request` names the span."""
        if self._sending is None:
            yield None
            return
        tracer, given = self._sending.tracer, propagate.extract(headers)
        with tracer.start_as_current_span(method, given, SpanKind.SERVER, record_exception=False) as span:
            yield span

    @contextmanager
    def span(self, name: str) -> Iterator[None]:
        """Trace a block, such as a background job."""
        if self._sending is None:
            yield
            return
        with self._sending.tracer.start_as_current_span(name, context.Context(), record_exception=False):
            yield

    def stage(self, name: str, seconds: float) -> None:
        """Trace a stage that has just ended, within what is being traced; outside of it, do nothing."""
        if self._sending is None or not trace.get_current_span().is_recording():
            return
        now = time.time_ns()
        self._sending.tracer.start_span(name, start_time=now - int(seconds * 1e9)).end(now)

    @asynccontextmanager
    async def exporting(self, metrics: Iterable[Metric]) -> AsyncIterator[None]:
        """Send metrics during the block and at its end; `metrics` is read again each time."""
        if self._sending is None:
            yield
            return
        task = asyncio.create_task(self._export_regularly(self._sending, metrics))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.to_thread(self._end, self._sending, metrics)

    async def _export_regularly(self, sending: _Exporters, metrics: Iterable[Metric]) -> None:
        while True:
            await asyncio.sleep(EXPORT_SECONDS)
            await asyncio.to_thread(self._export, sending, metrics)

    def _export(self, sending: _Exporters, metrics: Iterable[Metric]) -> None:
        now = time.time_ns()
        converted = [one for metric in metrics if (one := _converted(metric, self._since, now)) is not None]
        scoped = otel.ScopeMetrics(InstrumentationScope(SCOPE), converted, "")
        sending.metrics.export(otel.MetricsData([otel.ResourceMetrics(sending.resource, [scoped], "")]))

    def _end(self, sending: _Exporters, metrics: Iterable[Metric]) -> None:
        self._export(sending, metrics)
        sending.metrics.shutdown()
        sending.provider.shutdown()


def finish_request(span: Span | None, method: str, route: str, status: int) -> None:
    """Name a request's span by its route, and say how it ended."""
    if span is None:
        return
    span.update_name(f"{method} {route}")
    span.set_attributes({"http.request.method": method, "http.route": route, "http.response.status_code": status})
    if status >= _SERVER_ERROR:
        span.set_status(StatusCode.ERROR)


def trace_headers() -> dict[str, str]:
    """Return the headers by which another service continues the present trace; none outside of one."""
    headers: dict[str, str] = {}
    propagate.inject(headers)
    return headers


def _exporters(endpoint: str, version: str) -> _Exporters:
    resource = Resource.create(
        {
            SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME", SCOPE),
            SERVICE_VERSION: version,
            SERVICE_INSTANCE_ID: str(new()),
        }
    )
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")))
    return _Exporters(
        resource=resource,
        provider=provider,
        tracer=provider.get_tracer(SCOPE, version),
        metrics=OTLPMetricExporter(endpoint=f"{endpoint}/v1/metrics"),
    )


def _converted(metric: Metric, since: int, now: int) -> otel.Metric | None:
    """Return one of Prometheus' metrics as OpenTelemetry's, None for one without samples."""
    points = [one for one in metric.samples if not one.name.endswith("_created")]
    if not points:
        return None
    data: otel.Sum | otel.Gauge | otel.Histogram
    if metric.type == "histogram":
        data = otel.Histogram(_distributions(points, since, now), _CUMULATIVE)
    elif metric.type == "counter":
        data = otel.Sum(_numbers(points, since, now), _CUMULATIVE, is_monotonic=True)
    else:
        data = otel.Gauge(_numbers(points, since, now))
    return otel.Metric(metric.name, metric.documentation, metric.unit, data)


def _numbers(samples: Sequence[Sample], since: int, now: int) -> list[otel.NumberDataPoint]:
    return [otel.NumberDataPoint(one.labels, since, now, one.value) for one in samples]


def _distributions(samples: Sequence[Sample], since: int, now: int) -> list[otel.HistogramDataPoint]:
    """Return a point for each set of labels; Prometheus' buckets hold all below them, OpenTelemetry's their own."""
    found: dict[tuple[tuple[str, str], ...], dict[str, list[tuple[float, float]]]] = {}
    for one in samples:
        labels = {name: value for name, value in one.labels.items() if name != "le"}
        parts = found.setdefault(tuple(sorted(labels.items())), {"bucket": [], "sum": []})
        part = one.name.rpartition("_")[2]
        if part in parts:
            parts[part].append((float(one.labels.get("le", 0)), one.value))
    return [_distribution(dict(labels), parts, since, now) for labels, parts in found.items()]


def _distribution(
    labels: Mapping[str, str], parts: Mapping[str, list[tuple[float, float]]], since: int, now: int
) -> otel.HistogramDataPoint:
    buckets = sorted(parts["bucket"])
    below = [0, *(int(count) for _, count in buckets)]
    return otel.HistogramDataPoint(
        labels,
        since,
        now,
        count=below[-1],
        sum=parts["sum"][0][1] if parts["sum"] else 0.0,
        bucket_counts=[upper - lower for lower, upper in pairwise(below)],
        explicit_bounds=[bound for bound, _ in buckets[:-1]],
        min=0.0,
        max=0.0,
    )
