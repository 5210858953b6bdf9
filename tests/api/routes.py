"""The route table of the service, as it is mounted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastapi import FastAPI
from fastapi.routing import APIRoute

from app.http.guard import ROLE


@dataclass(frozen=True, slots=True)
class Mounted:
    """One method of one route, and the role it takes; None where the guard does not stand."""

    method: str
    path: str
    role: str | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


def mounted(app: FastAPI) -> list[Mounted]:
    return sorted(_walk(app.router.routes), key=str)


def _walk(routes: object) -> Iterator[Mounted]:
    assert isinstance(routes, list)
    for route in routes:
        role = (route.openapi_extra or {}).get(ROLE) if isinstance(route, APIRoute) else None
        for method in route.methods - {"HEAD"}:
            yield Mounted(method, route.path, role)
