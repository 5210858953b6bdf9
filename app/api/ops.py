"""For those who run the service: alive, ready, measured."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from app.api import views
from app.api.deps import RuntimeDep
from app.api.guard import PUBLIC, GuardedRoute
from app.api.models import Out
from app.metrics import CONTENT_TYPE


class Alive(Out):
    """The process answers."""

    status: str


class Ready(Out):
    """Whether requests can be served; `reasons` say what is missing."""

    ready: bool
    reasons: dict[str, str]


class Start(Out):
    """Where to go from here."""

    service: str
    version: str
    docs: str
    openapi: str


def router(version: str) -> APIRouter:
    """Return the routes; none takes a key."""
    found = APIRouter(tags=["operations"], route_class=GuardedRoute)

    async def start() -> Response:
        """Name the service and its documentation."""
        links = {"docs": "/docs", "openapi": "/openapi.json"}
        return views.answer({"service": "typed-memory", "version": version, **links})

    found.add_api_route(
        "/", start, response_model=Start, operation_id="start", summary="Start here", openapi_extra=PUBLIC
    )
    found.add_api_route(
        "/healthz",
        healthz,
        response_model=Alive,
        operation_id="healthz",
        summary="Is the process alive?",
        openapi_extra=PUBLIC,
    )
    found.add_api_route(
        "/readyz",
        readyz,
        response_model=Ready,
        responses={503: {"model": Ready, "description": "Not ready; the reasons say why."}},
        operation_id="readyz",
        summary="Can it serve requests?",
        openapi_extra=PUBLIC,
    )
    found.add_api_route(
        "/metrics",
        metrics,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
        response_class=Response,
        operation_id="metrics",
        summary="Metrics in Prometheus' text format",
        openapi_extra=PUBLIC,
    )
    return found


async def healthz() -> Response:
    """Answer without touching anything else."""
    return views.answer({"status": "alive"})


async def readyz(runtime: RuntimeDep) -> Response:
    """Check the database, its schema and the embedding model."""
    reasons = await runtime.readiness.missing()
    return views.answer({"ready": not reasons, "reasons": reasons}, 503 if reasons else 200)


async def metrics(runtime: RuntimeDep) -> Response:
    """Expose counters and timings; labels hold no ids, keys or content."""
    return Response(runtime.metrics.exposition(), media_type=CONTENT_TYPE)
