"""The composition root of the HTTP service: `uvicorn --factory app.main:create_app`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from pathlib import Path

import structlog
from fastapi import APIRouter, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from app import VERSION, logs
from app.api import audit, console, entities, extraction, health, jobs, keys, limits, query, tenants, turns
from app.api.memories import bodies, read
from app.bootstrap import now
from app.features.aegis import routes as aegis
from app.features.answers import profile_routes as profile
from app.features.answers import routes as answer
from app.features.backfill import routes as backfill
from app.features.erasure import routes as erasure
from app.features.feedback import routes as feedback
from app.features.lifecycle import routes as workers
from app.features.lifecycle import stats_routes as stats
from app.features.mcp.endpoint import McpEndpoint
from app.features.mem0 import routes as mem0
from app.features.portability import routes as portability
from app.features.query_log import activity_routes as activity
from app.features.query_log import routes as query_log
from app.features.review import note_routes as review_notes
from app.features.review import routes as review
from app.features.tenant_types import routes as types
from app.features.webhooks import event_routes as live_events
from app.features.webhooks import routes as webhooks
from app.http import openapi, problems
from app.http.admission import Admission, AdmissionMiddleware
from app.http.middleware import RequestMiddleware, install_headers
from app.http.openapi import TAGS, described
from app.http.operations_port import OperationsPort
from app.http.paths import RoutePaths
from app.jobs.worker import embedded_worker
from app.memory.registry import discover
from app.runtime import build_runtime
from app.settings import Settings

log = structlog.get_logger("typed_memory.start")

SMALLEST_COMPRESSED = 1_024
"""Bytes of an answer from which it is compressed, for those who accept that."""

COMPRESSION = 4
"""The level of compression: higher ones take twice as long for a tenth less."""

DESCRIPTION = (
    "A memory for agents: typed, scored, grounded, time-aware beliefs. Write what was learned, ask what is "
    "known, and get context to paste, with the reasons."
)


def create_app(
    settings: Settings | None = None, wall: Callable[[], datetime] = now, *, job_lock: Path | None = None
) -> FastAPI:
    """Return the application; its resources are opened when it starts. `wall` is this machine's clock.

    `job_lock` is a file that processes of one service share: the one that holds its lock runs the jobs.
    """
    configured = settings or Settings()
    tools = McpEndpoint(VERSION)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if not structlog.is_configured():
            logs.configure(configured.log_format, configured.log_level)
        async with build_runtime(configured, wall) as runtime, embedded_worker(runtime, job_lock), tools.running():
            app.state.runtime = runtime
            app.state.metrics = runtime.metrics
            app.state.telemetry = runtime.telemetry
            admission.observe = runtime.metrics.turned_away
            runtime.metrics.watch_admission(admission.waiting)
            if not runtime.webhooks.box.keys:
                log.info("secrets of webhooks are stored in clear: set TM_SECRETS_KEYS to encrypt them")
            yield

    app = FastAPI(
        title="Typed Memory",
        version=VERSION,
        description=DESCRIPTION,
        lifespan=lifespan,
        openapi_tags=TAGS,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,
        separate_input_output_schemas=False,
    )
    # Without `include_router`, which would match a request with a route twice, and its router before that.
    app.router.routes += [route for router in _routers() for route in router.routes]
    app.router.routes += [tools.route(), *openapi.routes(app), *console.routes()]
    problems.install(app)
    admission = Admission.of(configured)
    app.state.admission = admission
    app.state.settings = configured
    if configured.operations_port is not None:
        app.add_middleware(OperationsPort, port=configured.operations_port)
    app.add_middleware(AdmissionMiddleware, admission=admission)
    app.add_middleware(RequestMiddleware, max_body_bytes=configured.max_body_bytes, streamed=portability.STREAMED)
    app.add_middleware(RoutePaths)
    app.add_middleware(GZipMiddleware, minimum_size=SMALLEST_COMPRESSED, compresslevel=COMPRESSION)
    install_headers(app, configured.cors_origins)
    app.openapi = lambda: described(app)  # type: ignore[method-assign]
    return app


@cache
def _routers() -> tuple[APIRouter, ...]:
    """Return the routes of every feature, those asked most first; no application changes them."""
    registry = discover()
    writes = bodies.build(registry)
    return (
        health.router(VERSION),
        query.router(),
        turns.router(),
        query_log.router(),
        answer.router(),
        read.router(registry, writes),
        aegis.router(),
        aegis.calls_router(registry, writes),
        mem0.router(registry, writes),
        feedback.router(),
        entities.router(),
        jobs.router(),
        erasure.router(),
        profile.router(),
        portability.router(),
        keys.router(),
        limits.router(),
        tenants.router(),
        types.router(),
        backfill.router(),
        audit.router(),
        extraction.router(),
        workers.router(),
        stats.router(),
        activity.router(),
        review.router(),
        review_notes.router(),
        webhooks.router(),
        live_events.router(),
    )
