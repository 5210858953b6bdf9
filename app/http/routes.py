"""Additions of routes to a router: the operation's id is the handler's name, and the role stands with the route."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter

from app.http.idempotency import IDEMPOTENT

OK = 200

CREATED = 201

ACCEPTED = 202

NO_CONTENT = 204

NOT_MODIFIED = 304

Handler = Callable[..., Any]

Listed = tuple[str, Handler, str, Any]
"""A route: its path, its handler, whose name is the operation's id, a summary, and the model of the answer."""


def add_route(
    found: APIRouter,
    method: str,
    role: Mapping[str, Any],
    path: str,
    handler: Handler,
    summary: str,
    answer: Any = None,  # noqa: ANN401 - a model, or a type made at run time
    **more: Any,  # noqa: ANN401 - what FastAPI takes
) -> None:
    """Add a route; `role` is one of the guard's constants, and `more` goes to `add_api_route`."""
    named = {"operation_id": handler.__name__, "response_model": answer, **more}
    found.add_api_route(path, handler, methods=[method], summary=summary, openapi_extra=dict(role), **named)


def add_reads(found: APIRouter, role: Mapping[str, Any], *routes: Listed) -> None:
    """Add GET routes of one role."""
    for one in routes:
        add_route(found, "GET", role, *one)


def add_changes(found: APIRouter, role: Mapping[str, Any], *routes: Listed) -> None:
    """Add POST routes of one role that take an `Idempotency-Key`."""
    for one in routes:
        add_route(found, "POST", role, *one, dependencies=IDEMPOTENT)
