"""Liveness, readiness and metrics, for operators."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from app.http.guard import PUBLIC, GuardedRoute, RuntimeDep
from app.http.models import Out, Source, json_answer, rounded_to
from app.http.operations_port import may_operate, require_operations
from app.http.routes import OK, add_reads, add_route
from app.metrics import CONTENT_TYPE


class Alive(Out):
    """The process answers."""

    status: str


class QueueOut(Out):
    """The backlog of jobs of all tenants together."""

    oldest_seconds: Annotated[float, rounded_to(3)]
    depth: int


class Ready(Out):
    """The readiness to serve requests; `reasons` are the faults that prevent it, `degraded` lesser ones."""

    ready: Annotated[bool, Source("missing", lambda missing: not missing)]
    reasons: Annotated[dict[str, str], Source("missing")]
    degraded: dict[str, str]
    queue: Annotated[QueueOut | None, Source("backlog")]


class Start(Out):
    """Links to the service's documents."""

    service: str
    version: str
    docs: str
    openapi: str
    console: str


def router(version: str) -> APIRouter:
    """Return the routes; none takes a key."""
    found = APIRouter(tags=["operations"], route_class=GuardedRoute)

    async def start(request: Request) -> Response:
        """Name the service and its documentation; a browser is sent to the console."""
        if "text/html" in request.headers.get("accept", ""):
            return RedirectResponse("admin")
        links = {"docs": "/docs", "openapi": "/openapi.json", "console": "/admin"}
        return json_answer({"service": "typed-memory", "version": version, **links})

    away = {503: {"model": Ready, "description": "Not ready; the reasons say why."}}
    plain = {OK: {"content": {"text/plain": {"schema": {"type": "string"}}}}}
    add_reads(found, PUBLIC, ("/", start, "Start here", Start), ("/healthz", healthz, "Is the process alive?", Alive))
    add_route(found, "GET", PUBLIC, "/readyz", readyz, "Can it serve requests?", Ready, responses=away)
    summary = "Metrics in Prometheus' text format"
    add_route(found, "GET", PUBLIC, "/metrics", metrics, summary, responses=plain, response_class=Response)
    return found


async def healthz() -> Response:
    """Answer without a check."""
    return json_answer({"status": "alive"})


async def readyz(request: Request, runtime: RuntimeDep) -> Response:
    """Check the database, its schema and the embedding model, and the age of the job queue.

    With an old queue the service is degraded but ready, as requests are served normally. A process that is about to
    stop is not ready, and still serves requests.
    """
    state = await runtime.readiness.state()
    if request.app.state.admission.draining:
        state = replace(state, missing={**state.missing, "shutdown": "this process is about to stop: ask another"})
    answer = Ready.answer(state)
    if not may_operate(request):
        answer = {"ready": answer["ready"], "reasons": {}, "degraded": {}, "queue": None}
    return json_answer(answer, 503 if state.missing else OK)


async def metrics(request: Request, runtime: RuntimeDep) -> Response:
    """Expose counters and timings; labels hold no ids, keys or content."""
    require_operations(request)
    backlog = await runtime.jobs.known_backlog()
    unknown = (math.nan, math.nan)
    runtime.metrics.queue(*(unknown if backlog is None else (backlog.depth, backlog.oldest_seconds)))
    for gauge in runtime.gauges:
        await gauge(runtime)
    return Response(runtime.metrics.exposition(), media_type=CONTENT_TYPE)
