"""Prometheus metrics in a registry of each runtime, whose methods are passed on as plain callables.

Processes that serve together keep their values in files of one folder, and each exposes the sums of all.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections import Counter as Tally
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from operator import add
from pathlib import Path
from time import perf_counter
from typing import Literal
from uuid import UUID

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    ProcessCollector,
    generate_latest,
    start_http_server,
)
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app import VERSION

CONTENT_TYPE = "text/plain; version=1.0.0; charset=utf-8"

_SHARED_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable by which prometheus-client, when it is imported, chooses to keep values in files."""

_PUBLISH_SECONDS = 1.0

_LOOK_SECONDS = 1.0

_REQUEST_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_JOB_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0)
_BRIEF_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5)
_LLM_BUCKETS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0, 120.0, 240.0)


@dataclass(frozen=True, slots=True)
class _Definitions:
    """Defines metrics in a registry; `labels` are names with spaces between them."""

    registry: CollectorRegistry

    def counter(self, name: str, meaning: str, labels: str = "") -> Counter:
        return Counter(name, meaning, labels.split(), registry=self.registry)

    def seconds(
        self, name: str, meaning: str, labels: str = "", *, buckets: Sequence[float] = _BRIEF_BUCKETS
    ) -> Histogram:
        return Histogram(name, meaning, labels.split(), buckets=buckets, registry=self.registry)

    def sum(self, name: str, meaning: str) -> Gauge:
        """Define a gauge of which all processes together have the sum."""
        return Gauge(name, meaning, registry=self.registry, multiprocess_mode="livesum")

    def latest(self, name: str, meaning: str, labels: str = "") -> Gauge:
        """Define a gauge that any process sets for all."""
        return Gauge(name, meaning, labels.split(), registry=self.registry, multiprocess_mode="livemostrecent")


class _Requests:
    """HTTP requests."""

    def __init__(self, define: _Definitions) -> None:
        self.seconds = define.seconds(
            "tm_http_request_seconds",
            "Seconds from request to answer.",
            "method route status",
            buckets=_REQUEST_BUCKETS,
        )
        self.in_flight = define.sum("tm_http_requests_in_flight", "Requests now open.")
        self.turned_away = define.counter(
            "tm_http_requests_turned_away",
            "Requests answered 503 because there was more to do: full (too many waited), late (waited too long).",
            "reason",
        )
        self.refused = define.counter(
            "tm_http_requests_refused",
            "Requests answered with a problem, by its code and, for wrong input, by the kind of the first fault.",
            "code reason",
        )


class _Retrieval:
    """Retrieval, and the embedder, which writes use too."""

    def __init__(self, define: _Definitions) -> None:
        self.arms = define.seconds("tm_retrieval_arm_seconds", "Seconds in a retrieval arm or read stage.", "arm")
        self.embedding = define.seconds("tm_embed_seconds", "Seconds of a call to the embedder.", "outcome")
        self.embedded = define.counter("tm_embedded_texts", "Texts embedded.")
        self.sources = define.counter(
            "tm_replica_reads",
            "Questions by the source that answered them, where a replica is configured.",
            "source reason",
        )
        self.residents = define.counter("tm_resident_questions", "By source, or different from the store.", "source")
        self.dropped = define.counter("tm_dropped_accesses", "Accesses that could not be recorded.")
        self.unlogged = define.counter(
            "tm_dropped_query_log_entries", "Entries of the query log that could not be stored."
        )


class _Model:
    """Uses of the language model."""

    def __init__(self, define: _Definitions) -> None:
        self.seconds = define.seconds(
            "tm_llm_seconds",
            "Seconds of a use of the language model, its repair included.",
            "purpose outcome",
            buckets=_LLM_BUCKETS,
        )
        self.tokens = define.counter("tm_llm_tokens", "Tokens the language model took and gave.", "purpose direction")
        self.fallbacks = define.counter(
            "tm_llm_fallbacks", "Requests to the second language model, as the first gave no answer."
        )
        self.cost = define.counter("tm_llm_cost", "What they cost by the configured prices.", "purpose")


class _WriteMetrics:
    """Turns, decisions, feedback and review."""

    def __init__(self, define: _Definitions) -> None:
        self.stages = define.seconds("tm_write_stage_seconds", "Seconds in a stage of a write.", "stage")
        self.decisions = define.counter("tm_write_decisions", "What writes came to.", "type decision")
        self.turns = define.counter(
            "tm_turns", "Turns that have been through the pipeline; skipped ones by gate.", "status gate"
        )
        self.feedback = define.counter("tm_feedback", "Feedback on memories, by what it came to.", "feedback effect")
        self.retries = define.counter("tm_write_retries", "Writes decided again, by reason.", "reason")
        self.reviews = define.latest(
            "tm_review_waiting", "Memories that wait for a reviewer, of all tenants.", "reason"
        )


class _DatabaseMetrics:
    """Connections to the database, its errors, and the event loop that waits for it."""

    def __init__(self, define: _Definitions) -> None:
        self.waits = define.seconds("tm_database_pool_wait_seconds", "Seconds until a connection was free.")
        self.errors = define.counter(
            "tm_database_errors", "Transactions that the database ended, by SQLSTATE.", "sqlstate"
        )
        self.lag = define.seconds(
            "tm_event_loop_lag_seconds", "Seconds by which the event loop was late, looked at each second."
        )
        self.restarts = define.counter("tm_embedded_database_restarts", "Times the embedded server was found dead.")


class _Jobs:
    """Background jobs, their queue, and the workers' runs."""

    def __init__(self, define: _Definitions) -> None:
        self.started = define.counter("tm_jobs_started", "Runs of background jobs begun.", "kind")
        self.running = define.sum("tm_jobs_running", "Jobs that run now.")
        self.seconds = define.seconds(
            "tm_job_seconds",
            "Seconds of a run of a background job, by what it came to: succeeded, failed, retried, cancelled, "
            "put_back (a worker stopped), taken_over (a worker was presumed dead), parked (it killed its workers).",
            "kind outcome",
            buckets=_JOB_BUCKETS,
        )
        self.queue_depth = define.latest("tm_queue_depth", "Jobs that wait, of all tenants.")
        self.queue_age = define.latest("tm_queue_oldest_seconds", "Seconds that the oldest job that is due has waited.")
        self.workers = define.seconds(
            "tm_worker_seconds",
            "Seconds of a worker's run for one tenant, by what it came to: done, dry_run, unfinished (stopped, cut off "
            "or failed).",
            "worker outcome",
            buckets=_JOB_BUCKETS,
        )
        self.rows = define.counter(
            "tm_worker_rows",
            "What runs of workers did, by what was counted; dry runs are left out.",
            "worker what",
        )


_BUSY_REQUESTS = 100
"""Requests after which a tenant gets a label of its own, if there is one left."""

_TALLIED = 10_000
"""Tenants whose requests are tallied until one gets a label; then the tally begins anew."""


class TenantRequests:
    """Requests by tenant, with a label for at most so many: those that first sent as many as a busy one does."""

    def __init__(self, registry: CollectorRegistry, most: int) -> None:
        """Begin at zero; with `most` 0 nothing is counted."""
        self._requests = Counter(
            "tm_tenant_requests",
            "Requests of tenants that were let in; `other` stands for those without a label of their own.",
            ("tenant",),
            registry=registry,
        )
        self._most = most
        self._own: set[UUID] = set()
        self._sent = Tally[UUID]()

    def count(self, tenant: UUID) -> None:
        """Count a request."""
        if tenant not in self._own and len(self._own) < self._most:
            self._sent[tenant] += 1
            if self._sent[tenant] >= _BUSY_REQUESTS:
                self._own.add(tenant)
            if len(self._own) == self._most or len(self._sent) > _TALLIED:
                self._sent.clear()
        if self._most:
            self._requests.labels(str(tenant) if tenant in self._own else "other").inc()


class Metrics:
    """The service's metrics. Labels hold route templates, types and outcomes: never ids, keys or content."""

    def __init__(self, stage: Callable[[str, float], None] = lambda _name, _seconds: None, *, tenants: int = 0) -> None:
        """Begin at zero; `stage` also receives the name and the seconds of each stage, arm and call, for traces.

        `tenants` is how many have a label, which is the one exception to what labels hold.
        """
        self._stage = stage
        self._registry = CollectorRegistry()
        define = _Definitions(self._registry)
        self._database = _DatabaseMetrics(define)
        self._http = _Requests(define)
        self._tenants = TenantRequests(self._registry, tenants)
        self._retrieval = _Retrieval(define)
        self._model = _Model(define)
        self._writing = _WriteMetrics(define)
        self._jobs = _Jobs(define)
        self._folder = os.environ.get(_SHARED_FOLDER)
        self._watched: dict[Gauge, Callable[[], float]] = {}
        self._describe_process()

    def _describe_process(self) -> None:
        """Report memory, processor time, open files and garbage collections of the process, and what was built."""
        if self._folder is None:
            ProcessCollector(registry=self._registry)
            GCCollector(registry=self._registry)
        built = Gauge(
            "tm_build_info",
            "Always 1: the version that runs.",
            ("version", "python"),
            registry=self._registry,
            multiprocess_mode="livemax",
        )
        built.labels(VERSION, platform.python_version()).set(1)

    def _watch(self, name: str, meaning: str, value: Callable[[], float], mode: Literal["livesum", "livemax"]) -> None:
        gauge = Gauge(name, meaning, registry=self._registry, multiprocess_mode=mode)
        if self._folder is None:
            gauge.set_function(value)
        else:
            self._watched[gauge] = value

    async def publish(self) -> None:
        """Keep the watched values up to date for the other processes until cancelled; alone, do nothing."""
        while self._watched:
            for gauge, value in self._watched.items():
                gauge.set(value())
            await asyncio.sleep(_PUBLISH_SECONDS)

    def watch_pool(self, in_use: Callable[[], int], size: int) -> None:
        """Report a connection pool; `in_use` is called at every scrape."""
        self._watch("tm_database_pool_size", "Connections there may be.", lambda: size, "livesum")
        self._watch("tm_database_pool_in_use", "Connections now in use.", in_use, "livesum")

    def pool_waited(self, seconds: float) -> None:
        """Time the wait for a connection."""
        self._database.waits.observe(seconds)

    def database_error(self, sqlstate: str) -> None:
        """Count a transaction that the database ended."""
        self._database.errors.labels(sqlstate).inc()

    async def watch_event_loop(self) -> None:
        """Report how late the event loop is until cancelled."""
        while True:
            started = perf_counter()
            await asyncio.sleep(_LOOK_SECONDS)
            self._database.lag.observe(max(0.0, perf_counter() - started - _LOOK_SECONDS))

    def watch_admission(self, waiting: Callable[[], float]) -> None:
        """Report how many requests wait for their turn; `waiting` is asked at every scrape."""
        self._watch("tm_http_requests_waiting", "Requests that wait for their turn.", waiting, "livesum")

    def turned_away(self, reason: str) -> None:
        """Count a request that was not taken into work."""
        self._http.turned_away.labels(reason).inc()

    def watch_clock(self, skew: Callable[[], float]) -> None:
        """Report how far this machine's clock is off; `skew` is asked at every scrape."""
        meaning = "Seconds by which this machine's clock is ahead of the database's, which orders writes."
        self._watch("tm_clock_skew_seconds", meaning, skew, "livemax")

    @property
    def in_flight(self) -> Gauge:
        """Return the gauge of open requests."""
        return self._http.in_flight

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request by its route's template."""
        self._http.seconds.labels(method, route, str(status)).observe(seconds)

    def refused(self, code: str, reason: str) -> None:
        """Count a request that was answered with a problem."""
        self._http.refused.labels(code, reason).inc()

    def tenant_request(self, tenant: UUID) -> None:
        """Count a request of a tenant, if tenants are counted."""
        self._tenants.count(tenant)

    def arm(self, name: str, seconds: float) -> None:
        """Time a retrieval arm."""
        self._retrieval.arms.labels(name).observe(seconds)
        self._stage(f"read {name}", seconds)

    def embed(self, outcome: str, seconds: float, texts: int) -> None:
        """Time a call to the embedder; fits `EmbedObserver`."""
        self._retrieval.embedding.labels(outcome).observe(seconds)
        self._retrieval.embedded.inc(texts)
        self._stage("embed", seconds)

    def llm(self, purpose: str, outcome: str, seconds: float) -> None:
        """Time a use of the language model."""
        self._model.seconds.labels(purpose, outcome).observe(seconds)
        self._stage(f"model {purpose}", seconds)

    def llm_fallback(self) -> None:
        """Count a request to the second language model."""
        self._model.fallbacks.inc()

    def llm_tokens(self, purpose: str, given: int, taken: int, cost: float) -> None:
        """Count the tokens of a use of the language model, in and out, and what they cost."""
        self._model.tokens.labels(purpose, "input").inc(given)
        self._model.tokens.labels(purpose, "output").inc(taken)
        self._model.cost.labels(purpose).inc(cost)

    def write_stage(self, stage: str, seconds: float) -> None:
        """Time a stage of a write."""
        self._writing.stages.labels(stage).observe(seconds)
        self._stage(f"write {stage}", seconds)

    def decision(self, type_name: str, decision: str) -> None:
        """Count a decision of a write."""
        self._writing.decisions.labels(type_name, decision).inc()

    def turn(self, status: str, gate: str) -> None:
        """Count a turn by its status and, if it was skipped, by the gate."""
        self._writing.turns.labels(status, gate).inc()

    def feedback(self, feedback: str, effect: str) -> None:
        """Count feedback by its kind and its effect."""
        self._writing.feedback.labels(feedback, effect).inc()

    def retry(self, reason: str) -> None:
        """Count a write that is decided again."""
        self._writing.retries.labels(reason).inc()

    def job_started(self, kind: str) -> None:
        """Count the start of a job's run."""
        self._jobs.started.labels(kind).inc()
        self._jobs.running.inc()

    def job_ended(self, kind: str, outcome: str, seconds: float) -> None:
        """Time a job's run by its outcome."""
        self._jobs.seconds.labels(kind, outcome).observe(seconds)
        self._jobs.running.dec()

    def worker(self, name: str, outcome: str, counts: Mapping[str, int], seconds: float) -> None:
        """Time a worker's run for one tenant, and add its counts."""
        self._jobs.workers.labels(name, outcome).observe(seconds)
        if outcome == "done":
            for what, count in counts.items():
                self._jobs.rows.labels(name, what).inc(count)

    def queue(self, depth: float, oldest_seconds: float) -> None:
        """Report the job backlog, NaN if it isn't known."""
        self._jobs.queue_depth.set(depth)
        self._jobs.queue_age.set(oldest_seconds)

    def reviews(self, waiting: Mapping[str, float]) -> None:
        """Report the numbers of review items by reason, NaN if they aren't known."""
        for reason, count in waiting.items():
            self._writing.reviews.labels(reason).set(count)

    def read_source(self, source: str, reason: str) -> None:
        """Count a question by the source that answered it: `replica` or `primary`, and the reason."""
        self._retrieval.sources.labels(source, reason).inc()

    def resident_question(self, source: str) -> None:
        """Count a question by what answered it."""
        self._retrieval.residents.labels(source).inc()

    def dropped_accesses(self, count: int) -> None:
        """Count accesses that were dropped."""
        self._retrieval.dropped.inc(count)

    def dropped_query_log_entries(self, count: int) -> None:
        """Count entries of the query log that were dropped."""
        self._retrieval.unlogged.inc(count)

    def database_restart(self) -> None:
        """Count a restart of the embedded server."""
        self._database.restarts.inc()

    def serve(self, host: str, port: int) -> Callable[[], None]:
        """Serve scrapes from a thread; return the function that stops it. Raises OSError for a taken port."""
        server, thread = start_http_server(port, host, self._registry)

        def end() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return end

    def collected(self) -> Iterable[Metric]:
        """Return this process's metrics, which are read again each time that they are gone through."""
        return _Collected(self._registry)

    def exposition(self) -> bytes:
        """Return everything in Prometheus' text format."""
        if self._folder is None:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together, self._folder)  # type: ignore[no-untyped-call]
        together.register(_Processes(self._folder))
        return generate_latest(together)


class _Collected:
    """The present metrics of a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def __iter__(self) -> Iterator[Metric]:
        return iter(self._registry.collect())


class _Processes(Collector):
    """The memory, processor time and open files of all processes that keep metrics in a folder, as sums."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def collect(self) -> Iterator[Metric]:
        """Add up what the processes use; the start is that of the oldest."""
        pids = [int(file.stem.rpartition("_")[2]) for file in self._folder.glob("gauge_livesum_*.db")]
        totals: dict[str, Metric] = {}
        for pid in pids:
            for one in ProcessCollector(pid=partial(int, pid), registry=None).collect():
                totals[one.name] = _added(totals.get(one.name), one)
        yield from totals.values()


def _added(total: Metric | None, metric: Metric) -> Metric:
    if total is None:
        return metric
    combine = min if metric.name == "process_start_time_seconds" else add
    total.samples = [
        one._replace(value=combine(one.value, other.value))
        for one, other in zip(total.samples, metric.samples, strict=True)
    ]
    return total


@contextmanager
def shared_metrics(folder: Path) -> Iterator[None]:
    """Let the processes started during the block keep their metrics in files of this folder."""
    os.environ[_SHARED_FOLDER] = str(folder)
    try:
        yield
    finally:
        del os.environ[_SHARED_FOLDER]
