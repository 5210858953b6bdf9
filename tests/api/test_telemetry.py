"""Traces and metrics as an OpenTelemetry collector gets them, and who may read what is about the service."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from app.telemetry import Telemetry, trace_headers
from tests.api.conftest import OPERATOR_KEY, MakeClient, fact

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


@dataclass
class Collector:
    """Takes what is sent to `/v1/traces` and `/v1/metrics`."""

    spans: list[Span] = field(default_factory=list)
    metrics: dict[str, Metric] = field(default_factory=dict)
    content: bytes = b""

    def take(self, path: str, body: bytes) -> None:
        self.content += body
        if path == "/v1/traces":
            sent = ExportTraceServiceRequest.FromString(body)
            self.spans += [span for one in sent.resource_spans for scoped in one.scope_spans for span in scoped.spans]
        else:
            given = ExportMetricsServiceRequest.FromString(body)
            self.metrics |= {
                metric.name: metric
                for one in given.resource_metrics
                for scoped in one.scope_metrics
                for metric in scoped.metrics
            }


@pytest.fixture
def collector() -> Iterator[tuple[Collector, str]]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield found, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


async def test_a_collector_gets_each_request_with_its_stages_and_all_metrics(
    make_client: MakeClient, collector: tuple[Collector, str]
) -> None:
    told, endpoint = collector
    async with make_client(otlp_endpoint=endpoint) as client:
        await client.post("/memories/typed/fact", json=fact(object="Zanzibar"))
        question = {"query": "Who works at Zanzibar?", "user_id": "u1"}
        await client.post("/query", json=question, headers={"traceparent": PARENT})
        await client.post("/turns?mode=sync", json={"content": "I moved to Zanzibar.", "user_id": "u1"})

    asked = next(one for one in told.spans if one.name == "POST /query")
    assert asked.trace_id.hex() == TRACE
    within = {one.name for one in told.spans if one.parent_span_id == asked.span_id}
    assert {"read understand", "read search", "read semantic", "read lexical", "read assemble"} <= within
    write = next(one for one in told.spans if one.name == "POST /memories/typed/fact")
    stages = {one.name for one in told.spans if one.parent_span_id == write.span_id}
    assert {"write prepare", "embed"} <= stages
    assert {one.key: one.value.int_value for one in write.attributes}["http.response.status_code"] == 201

    seconds = told.metrics["tm_http_request_seconds"].histogram.data_points
    assert sum(one.count for one in seconds) == 3
    assert all(one.count == sum(one.bucket_counts) for one in seconds)
    assert told.metrics["tm_write_decisions"].sum.is_monotonic
    assert told.metrics["process_resident_memory_bytes"].gauge.data_points[0].as_double > 1_000_000
    assert b"Zanzibar" not in told.content
    assert b"u1" not in told.content.replace(TRACE.encode(), b"")


async def test_what_a_provider_is_asked_belongs_to_the_trace(collector: tuple[Collector, str]) -> None:
    telemetry = Telemetry(collector[1], "1")
    async with telemetry.exporting([]):
        with telemetry.request("POST", {"traceparent": PARENT}):
            assert trace_headers()["traceparent"].startswith(f"00-{TRACE}-")
    assert trace_headers() == {}


async def test_without_a_collector_nothing_is_traced() -> None:
    telemetry = Telemetry(None, "1")
    with telemetry.request("POST", {"traceparent": PARENT}) as span, telemetry.span("job"):
        telemetry.stage("read search", 0.1)
        assert span is None
        assert trace_headers() == {}


async def test_the_database_and_the_event_loop_are_measured(client: httpx.AsyncClient) -> None:
    await client.post("/query", json={"query": "anything", "user_id": "u1"})
    told = (await client.get("/metrics")).text
    for name in ("tm_database_pool_wait_seconds_count", "tm_event_loop_lag_seconds_count", "tm_database_errors"):
        assert name in told


@pytest.mark.parametrize("path", ["/metrics", "/docs", "/openapi.json"])
async def test_what_is_about_the_service_can_be_left_to_the_operator(make_client: MakeClient, path: str) -> None:
    async with make_client(operations_access="operator") as client:
        refused = await client.get(path)
        assert refused.status_code == 401
        assert refused.headers["Content-Type"] == "application/problem+json"
        allowed = await client.get(path, headers={"Authorization": f"Bearer {OPERATOR_KEY}"})
        assert allowed.status_code == 200
    async with make_client(operations_access="closed") as client:
        assert (await client.get(path, headers={"Authorization": f"Bearer {OPERATOR_KEY}"})).status_code == 404


@pytest.mark.parametrize("path", ["/metrics", "/docs", "/docs/start.js", "/openapi.json"])
async def test_what_is_about_the_service_can_have_a_port_of_its_own(make_client: MakeClient, path: str) -> None:
    async with make_client(operations_port=8701) as client:
        assert (await client.get(path)).status_code == 404
        assert (await client.get(f"http://service:8701{path}")).status_code == 200
        assert (await client.get("/readyz")).json() == {"ready": True, "reasons": {}, "degraded": {}, "queue": None}
        assert (await client.get("http://service:8701/readyz")).json()["queue"] is not None


async def test_the_port_for_operations_serves_nothing_else(make_client: MakeClient) -> None:
    async with make_client(operations_port=8701) as client:
        for path in ("/memories", "/admin", "/admin/stats", "/mcp", "/docs/../memories"):
            assert (await client.get(f"http://service:8701{path}")).status_code == 404
        refused = await client.post("http://service:8701/query", json={"query": "anything", "user_id": "u1"})
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert "TM_PORT" in refused.json()["detail"]
        assert (await client.get("/whoami")).status_code == 200
        assert (await client.get("http://service:8701/healthz")).status_code == 200


async def test_the_operator_can_be_the_only_reader_of_the_port_for_operations(make_client: MakeClient) -> None:
    operator = {"Authorization": f"Bearer {OPERATOR_KEY}"}
    async with make_client(operations_port=8701, operations_access="operator") as client:
        assert (await client.get("http://service:8701/metrics")).status_code == 401
        assert (await client.get("http://service:8701/metrics", headers=operator)).status_code == 200
        assert (await client.get("/metrics", headers=operator)).status_code == 404


async def test_readiness_is_told_without_its_reasons(make_client: MakeClient) -> None:
    async with make_client(operations_access="closed") as client:
        answer = await client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "reasons": {}, "degraded": {}, "queue": None}
