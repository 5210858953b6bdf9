"""What is counted and timed, in a registry of its own per runtime; handed down as plain callables."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"

_REQUEST_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_ARM_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5)


class Metrics:
    """The service's metrics. Labels hold route templates, types and outcomes: never ids, keys or content."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Histogram(
            "tm_http_request_seconds",
            "Seconds from request to answer.",
            ("method", "route", "status"),
            buckets=_REQUEST_BUCKETS,
            registry=self._registry,
        )
        self.in_flight = Gauge("tm_http_requests_in_flight", "Requests now open.", registry=self._registry)
        self._arms = Histogram(
            "tm_retrieval_arm_seconds",
            "Seconds in a retrieval arm or read stage.",
            ("arm",),
            buckets=_ARM_BUCKETS,
            registry=self._registry,
        )
        self._embed = Histogram(
            "tm_embed_seconds",
            "Seconds of a call to the embedder.",
            ("outcome",),
            buckets=_ARM_BUCKETS,
            registry=self._registry,
        )
        self._embedded = Counter("tm_embedded_texts", "Texts embedded.", registry=self._registry)
        self._decisions = Counter(
            "tm_write_decisions", "What writes came to.", ("type", "decision"), registry=self._registry
        )
        self._retries = Counter(
            "tm_write_retries", "Writes decided again, by reason.", ("reason",), registry=self._registry
        )
        self._restarts = Counter(
            "tm_embedded_database_restarts",
            "Times the embedded server was found dead.",
            registry=self._registry,
        )

        self._dropped = Counter("tm_dropped_accesses", "Accesses that could not be recorded.", registry=self._registry)

    def watch_pool(self, in_use: Callable[[], int], size: int) -> None:
        """Report a connection pool; `in_use` is asked at every scrape."""
        Gauge("tm_database_pool_size", "Connections there may be.", registry=self._registry).set(size)
        Gauge("tm_database_pool_in_use", "Connections now in use.", registry=self._registry).set_function(in_use)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request by its route's template."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def arm(self, name: str, seconds: float) -> None:
        """Time a retrieval arm."""
        self._arms.labels(name).observe(seconds)

    def embed(self, outcome: str, seconds: float, texts: int) -> None:
        """Time a call to the embedder; fits `EmbedObserver`."""
        self._embed.labels(outcome).observe(seconds)
        self._embedded.inc(texts)

    def decision(self, type_name: str, decision: str) -> None:
        """Count what a write came to."""
        self._decisions.labels(type_name, decision).inc()

    def retry(self, reason: str) -> None:
        """Count a write that had to be decided again."""
        self._retries.labels(reason).inc()

    def dropped_accesses(self, count: int) -> None:
        """Count accesses that were lost."""
        self._dropped.inc(count)

    def database_restart(self) -> None:
        """Count a restart of the embedded server."""
        self._restarts.inc()

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self._registry)
