"""The OpenAPI document: security, and the problems that every route may answer."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.guard import ROLE
from app.api.idempotent import HEADER
from app.api.openapi_names import explain, rename
from app.api.problems import MEDIA_TYPE, Problem

TAGS = [
    {"name": "memories", "description": "Write, read, change and erase typed memories."},
    {"name": "query", "description": "Ask, and get memories, context and reasons."},
    {"name": "turns", "description": "Hand over what was said, and have memories made of it."},
    {"name": "entities", "description": "Who and what memories are about, and how they are related."},
    {"name": "jobs", "description": "What is done in the background, and what became of it."},
    {"name": "review", "description": "What waits for a person, and what they decide."},
    {"name": "admin", "description": "Keys, tenants, types, policy, workers, backfills, audit, export and erasure."},
    {"name": "operations", "description": "Health, readiness, metrics. No key needed."},
]

_PROBLEMS = {
    "400": "The body is not JSON.",
    "401": "No key, or one that is not valid.",
    "403": "The key lacks the role.",
    "404": "There is no such thing here.",
    "409": "Others changed it meanwhile, or the Idempotency-Key was used for another request.",
    "410": "What the request with this Idempotency-Key wrote was erased since.",
    "413": "The body is too large.",
    "415": "The body is not declared as JSON.",
    "422": "Something in the request can't be; `errors` names the fields.",
    "503": "The database or the model provider can't be reached; nothing was written.",
    "504": "The model provider is late; nothing was written.",
}
_WITH_BODY = frozenset({"400", "413", "415"})
_CHANGING = frozenset({"post", "patch", "delete"})
_IDS_IN_BODY = frozenset({"/admin/review/bulk", "/entities/merge", "/entities/unmerge"})
"""Paths whose bodies name what may not be there."""


def described(app: FastAPI) -> dict[str, Any]:
    """Return the document, made at the first call."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    return app.openapi_schema


def _made(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        tags=app.openapi_tags,
        servers=[{"url": "/", "description": "The service that this document is from."}],
        license_info={"name": "Apache-2.0", "identifier": "Apache-2.0"},
        separate_input_output_schemas=app.separate_input_output_schemas,
    )
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    document["components"]["securitySchemes"] = {
        "bearer": {"type": "http", "scheme": "bearer", "description": "An API key: `tm_...`"}
    }
    document["security"] = [{"bearer": []}]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _add_problems(path, method, operation)
    rename(document)
    explain(document)
    return document


def _add_problems(path: str, method: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    for status, response in responses.items():
        # What answers a problem with further members is declared as JSON; other errors have no model of their own.
        if status == "409" and "application/json" in response.get("content", {}):
            response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
    if operation.get(ROLE) == "none":
        return
    for status, description in _PROBLEMS.items():
        if status in _WITH_BODY and "requestBody" not in operation:
            continue
        if status == "404" and "{" not in path and path not in _IDS_IN_BODY:
            continue
        if status == "410" and not any(one["name"] == HEADER for one in operation.get("parameters", ())):
            continue
        if status == "409" and method not in _CHANGING:
            continue
        responses.setdefault(
            status,
            {
                "description": description,
                "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
            },
        )
