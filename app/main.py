"""The composition root of the HTTP service: `uvicorn --factory app.main:create_app`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache
from pathlib import Path

import structlog
from brotli_asgi import BrotliMiddleware
from fastapi import APIRouter, FastAPI
from starlette.middleware.gzip import GZipMiddleware

from app import VERSION, feature, logs
from app.api import audit, console, entities, extraction, health, jobs, keys, limits, query, tenants, turns
from app.api.memories import bodies, read
from app.assembly import build_runtime
from app.bootstrap import now
from app.features.mcp.endpoint import McpEndpoint
from app.features.oauth.mount import oauth_of
from app.http import openapi, problems
from app.http.admission import Admission, AdmissionMiddleware
from app.http.middleware import DirectRoutes, RequestMiddleware, install_headers
from app.http.openapi import TAGS, described
from app.http.operations_port import OperationsPort
from app.http.routes import RoutePaths
from app.jobs.worker import embedded_worker
from app.settings import Settings

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
    connecting = oauth_of(configured)
    tools = McpEndpoint(VERSION, connecting.access)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        if not structlog.is_configured():
            logs.configure(configured.log_format, configured.log_level)
        async with (
            build_runtime(configured, wall) as runtime,
            embedded_worker(runtime, feature.handlers(), feature.schedules(runtime), job_lock),
            tools.running(),
        ):
            app.state.runtime = runtime
            app.state.metrics = runtime.metrics
            app.state.telemetry = runtime.telemetry
            admission.observe = runtime.metrics.turned_away
            runtime.metrics.watch_admission(admission.waiting)
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
    app.router.routes += [
        *connecting.router.routes,
        *connecting.routes,
        tools.route(),
        *openapi.routes(app),
        *console.routes(),
    ]
    problems.install(app)
    admission = Admission.of(configured)
    app.state.admission = admission
    app.state.settings = configured
    _add_middleware(app, configured, admission)
    app.openapi = lambda: described(app)  # type: ignore[method-assign]
    return app


def _add_middleware(app: FastAPI, settings: Settings, admission: Admission) -> None:
    """Wrap the routes: what is added last sees a request first."""
    app.add_middleware(DirectRoutes, routes=app.router.routes)
    if settings.operations_port is not None:
        app.add_middleware(OperationsPort, port=settings.operations_port)
    app.add_middleware(AdmissionMiddleware, admission=admission)
    app.add_middleware(RequestMiddleware, max_body_bytes=settings.max_body_bytes, streamed=feature.streamed())
    app.add_middleware(RoutePaths)
    app.add_middleware(BrotliMiddleware, minimum_size=SMALLEST_COMPRESSED, quality=COMPRESSION, gzip_fallback=False)
    app.add_middleware(GZipMiddleware, minimum_size=SMALLEST_COMPRESSED, compresslevel=COMPRESSION)
    install_headers(app, settings.cors_origins)


@cache
def _routers() -> tuple[APIRouter, ...]:
    """Return the routes of the core, those asked most first, and of every feature; no application changes them."""
    return (
        health.router(VERSION),
        query.router(),
        turns.router(),
        read.router(*bodies.built_in()),
        entities.router(),
        jobs.router(),
        keys.router(),
        limits.router(),
        tenants.router(),
        audit.router(),
        extraction.router(),
        *feature.routers(),
    )
