"""Routes that differ in nothing but what stands in a table: where they are, what they do, what they answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fastapi import APIRouter, params

from app.api.idempotent import IDEMPOTENT

Handler = Callable[..., Any]

Listed = tuple[str, Handler, str, Any]
"""The path; the handler, whose name is the operation's id; a summary; the model of the answer."""


def add_reads(found: APIRouter, role: Mapping[str, Any], *routes: Listed) -> None:
    """Add GET routes; `role` is what `guard` has for who may call them."""
    _add(found, "GET", role, routes)


def add_changes(found: APIRouter, role: Mapping[str, Any], *routes: Listed) -> None:
    """Add POST routes that take an `Idempotency-Key`."""
    _add(found, "POST", role, routes, IDEMPOTENT)


def _add(
    found: APIRouter,
    method: str,
    role: Mapping[str, Any],
    routes: Sequence[Listed],
    dependencies: Sequence[params.Depends] = (),
) -> None:
    for path, handler, summary, answer in routes:
        found.add_api_route(
            path,
            handler,
            methods=[method],
            operation_id=handler.__name__,
            summary=summary,
            response_model=answer,
            dependencies=dependencies,
            openapi_extra=dict(role),
        )
