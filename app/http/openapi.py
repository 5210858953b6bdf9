"""The OpenAPI document, with names for generated clients, and `/docs`, which works offline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

import fastapi_offline
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from app.http.guard import POSITION_HEADER, ROLE
from app.http.idempotency import HEADER, REPLAYED
from app.http.operations_port import require_operations
from app.http.outcomes import ETAG, LOCATION, RETRY_AFTER
from app.http.problems import MEDIA_TYPE, Problem

_FILES = Path(fastapi_offline.__file__).parent / "static"

_SERVED = ("swagger-ui-bundle.js", "swagger-ui.css", "favicon.png")

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Typed Memory: its routes</title>
<link rel="icon" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="routes"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""

_START = """"use strict";
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#routes",
  deepLinking: true,
  docExpansion: "none",
  showExtensions: true,
  persistAuthorization: false,
  validatorUrl: null,
});
"""

_KEPT = {"Cache-Control": "public, max-age=3600", "X-Content-Type-Options": "nosniff"}

_POLICY = {
    # The interface uses inline styles; everything else must come from this service.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}


def routes(app: FastAPI) -> list[BaseRoute]:
    """Return the document, the page and its files; its URLs are relative, so that it works behind a path prefix."""
    return [
        Route("/openapi.json", _served(app), include_in_schema=False),
        Route("/docs", _page, include_in_schema=False),
        Route("/docs/start.js", _start, include_in_schema=False),
        *(Route(f"/docs/{name}", _file, include_in_schema=False) for name in _SERVED),
    ]


def _served(app: FastAPI) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of the document, which the first request has built in a thread: it takes a second."""
    building: asyncio.Task[bytes] | None = None

    async def serve(request: Request) -> Response:
        nonlocal building
        require_operations(request)
        if building is None:
            building = asyncio.create_task(asyncio.to_thread(lambda: to_json(described(app))))
        return Response(await asyncio.shield(building), media_type="application/json")

    return serve


async def _page(request: Request) -> Response:
    require_operations(request)
    return HTMLResponse(_PAGE, headers=_POLICY)


async def _start(request: Request) -> Response:
    require_operations(request)
    return Response(_START, media_type="text/javascript", headers=_KEPT)


async def _file(request: Request) -> Response:
    require_operations(request)
    return FileResponse(_FILES / request.url.path.rsplit("/", 1)[-1], headers=_KEPT)


SCHEMA_NAMES: Mapping[str, str] = {
    "AuditEventOut": "AuditEvent",
    "BatchItemOut": "BatchItem",
    "BatchResultOut": "BatchResult",
    "Feedback": "FeedbackKind",
    "FeedbackResultOut": "FeedbackResult",
    "HistoryOut": "History",
    "HitOut": "Hit",
    "MemoryPageOut": "MemoryPage",
    "NearDuplicateOut": "NearDuplicate",
    "Precision": "TimePrecision",
    "ProcessingMode": "IngestMode",
    "QueryResultOut": "QueryResult",
    "ReadMode": "QueryMode",
    "RecallResultOut": "RecallResult",
    "ReviewChangedOut": "ReviewMoved",
    "ReviewDetailOut": "ReviewDetail",
    "ReviewItemOut": "ReviewItem",
    "ReviewOutcomeOut": "ReviewOutcome",
    "ReviewPageOut": "ReviewPage",
    "ReviewResultOut": "ReviewResult",
    "ReviewResultsOut": "ReviewOutcomes",
    "ReviewSideOut": "ReviewSide",
    "Sort": "MemorySort",
    "TurnPageOut": "TurnPage",
    "WriteResultOut": "WriteResult",
}
"""Names of schemas for clients, instead of the class names, which are unique in the code."""

SCHEMA_TEXTS: Mapping[str, str] = {
    "agent_id": "Your id of the agent: what is stored is that agent's, what is asked or listed is what it may see.",
    "cursor": "`next_cursor` of the page before; the first page without it. Filters and sorting stay the same.",
    "importance": "The importance, from 0 to 1, independent of confidence; by default the type's.",
    "limit": "Most items of a page.",
    "metadata": "Anything else; questions and lists can filter by it.",
    "sequence_number": "Its place in the session.",
    "session_id": "Your id of the conversation.",
    "speech_act": "The speech act; only an assertion can become an active belief.",
    "timezone": "The IANA zone in which times without an offset, and words like `yesterday`, are read; UTC by default.",
    "topic": "A topic of your own choice, to filter by.",
    "type": "The memory's type, such as `fact`.",
    "user_id": "Your id of the user: what is stored is that user's, what is asked or listed is what they may see.",
}
"""Descriptions of fields that many requests share, for those without their own."""


def rename(document: dict[str, Any]) -> None:
    """Rename the schemas in place; raise KeyError for a listed name that no schema has."""
    schemas: dict[str, Any] = document["components"]["schemas"]
    for old, new in SCHEMA_NAMES.items():
        if new in schemas:
            raise KeyError(new)
        schemas[new] = {**schemas.pop(old), "title": new}
    moved = {_reference(old): _reference(new) for old, new in SCHEMA_NAMES.items()}
    _redirect(document, moved)
    document["components"]["schemas"] = dict(sorted(schemas.items()))


def explain(document: dict[str, Any]) -> None:
    """Add the descriptions of common fields, in place."""
    schemas = document["components"]["schemas"]
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] in SCHEMA_TEXTS:
                    parameter.setdefault("description", SCHEMA_TEXTS[parameter["name"]])
    for name in _schemas_of_bodies(document, schemas):
        for field, shown in schemas[name].get("properties", {}).items():
            if field in SCHEMA_TEXTS and "const" not in shown:
                shown.setdefault("description", SCHEMA_TEXTS[field])


def _reference(name: str) -> str:
    return f"#/components/schemas/{name}"


def _redirect(part: object, moved: Mapping[str, str]) -> None:
    """Change every reference, those of discriminators too, to the new names."""
    if isinstance(part, dict):
        for key, value in part.items():
            if isinstance(value, str) and value in moved:
                part[key] = moved[value]
            else:
                _redirect(value, moved)
    elif isinstance(part, list):
        for one in part:
            _redirect(one, moved)


def _schemas_of_bodies(document: Mapping[str, Any], schemas: Mapping[str, Any]) -> set[str]:
    """Return the names of the schemas that bodies of requests use."""
    found: set[str] = set()
    waiting = [
        operation["requestBody"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "requestBody" in operation
    ]
    while waiting:
        new = set(_referred(waiting.pop())) - found
        found |= new
        waiting += [schemas[name] for name in new]
    return found


def _referred(part: object) -> Iterable[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"].rpartition("/")[2]
        for value in part.values():
            yield from _referred(value)
    elif isinstance(part, list):
        for one in part:
            yield from _referred(one)


TAGS = [
    {"name": "memories", "description": "Write, read, change and erase typed memories."},
    {"name": "query", "description": "Ask, and get memories, context and reasons."},
    {"name": "turns", "description": "Hand over what was said, and have memories made of it."},
    {"name": "documents", "description": "Files as sources: stored as sections, quoted, replaced as a whole."},
    {"name": "entities", "description": "Who and what memories are about, and how they are related."},
    {"name": "jobs", "description": "Background jobs and their results."},
    {"name": "review", "description": "What waits for a person, and what they decide."},
    {"name": "webhooks", "description": "Signed messages to your own services when something happens."},
    {"name": "admin", "description": "Keys, tenants, types, policy, workers, backfills, audit, export and erasure."},
    {"name": "operations", "description": "Health, readiness, metrics. No key needed."},
]

_TEXT: Mapping[str, object] = {"type": "string"}

_PROBLEMS = {
    "400": "The body is not JSON.",
    "401": "No key, or one that is not valid.",
    "403": "The key lacks the role, or is bound to another user or agent.",
    "404": "There is no such thing here.",
    "409": "Others changed it meanwhile, or the Idempotency-Key was used for another request.",
    "410": "What the request with this Idempotency-Key wrote was erased since.",
    "412": "The memory is not as `If-Match` says: it was changed since.",
    "413": "The body is too large.",
    "415": "The body is not declared as JSON.",
    "422": "Something in the request can't be; `errors` names the fields.",
    "429": "The key or the tenant has reached a limit; `Retry-After` says for how long.",
    "503": "The database or the model provider can't be reached, or there is too much to do; nothing was written.",
    "504": "The model provider is late; nothing was written.",
    "507": "The database's disk is full; nothing was written.",
}

_WITH_BODY = frozenset({"400", "413", "415"})

_OF_CHANGES = frozenset({"409", "507"})

_CHANGING = frozenset({"post", "patch", "delete"})

_IDS_IN_BODY = frozenset({"/admin/review/bulk", "/entities/merge", "/entities/unmerge"})
"""Paths whose bodies hold ids that may not exist."""


def described(app: FastAPI) -> dict[str, Any]:
    """Return the document, which is built at the first call."""
    if app.openapi_schema is None:
        app.openapi_schema = _build(app)
    return app.openapi_schema


def _build(app: FastAPI) -> dict[str, Any]:
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
    document["components"]["headers"] = {
        name: {"description": told, "schema": schema} for name, (told, schema) in _HEADERS.items()
    }
    document["components"]["responses"] = {f"{_PROBLEM}{status}": _problem(status) for status in _PROBLEMS}
    document["security"] = [{"bearer": []}]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _add_problems(path, method, operation)
            _add_headers(path, method, operation)
    rename(document)
    explain(document)
    return document


_HEADERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "X-Request-Id": ("The request's id: the one that was sent, or a new one. The log has it.", _TEXT),
    "RateLimit": ("What is left of the limits that apply, as draft-ietf-httpapi-ratelimit-headers has it.", _TEXT),
    "RateLimit-Policy": ("The limits of requests that apply.", _TEXT),
    POSITION_HEADER: ("Where there is a replica: send it with a question that must see this write.", _TEXT),
    REPLAYED: ("`true` if this repeats the answer to an earlier request with the same key.", {"const": "true"}),
    LOCATION: (
        "The path of what was made, or of its job.",
        {"type": "string", "format": "uri-reference"},
    ),
    RETRY_AFTER: ("Seconds after which to ask again.", {"type": "integer", "minimum": 1}),
    ETAG: ("What the memory is like, for `If-Match` and `If-None-Match`.", _TEXT),
    "WWW-Authenticate": ("The way to send a key.", _TEXT),
}
"""Headers of answers besides those of HTTP itself, each with a description and its schema."""

_LOCATED = ("/memories/typed/", "/documents", "/admin/types", "/admin/backfills")
"""What the paths begin with whose 201 says where the thing is."""

_TAGGED = "/memories/{memory_id}"

_PROBLEM = "Problem"
"""What the names of the problems' answers begin with."""

_LATER = frozenset({"429", "503"})


def _headers_of(path: str, method: str, status: str, operation: Mapping[str, Any]) -> Iterable[str]:
    """Yield the names of the headers that an answer may have."""
    yield "X-Request-Id"
    good = int(status) < HTTPStatus.BAD_REQUEST
    if operation.get(ROLE) not in {"none", "operator"} and status != "401":
        yield from ("RateLimit", "RateLimit-Policy")
        if good:
            yield POSITION_HEADER
    if good and any(one["name"] == HEADER for one in operation.get("parameters", ())):
        yield REPLAYED
    if status == "202" or (status == "201" and path.startswith(_LOCATED)):
        yield LOCATION
    if status == "202" or status in _LATER:
        yield RETRY_AFTER
    if good and path == _TAGGED and method in {"get", "patch"}:
        yield ETAG
    if status == "401":
        yield "WWW-Authenticate"


def _problem(status: str) -> dict[str, object]:
    """Return the description of the answer with a problem, which all operations share."""
    return {
        "description": _PROBLEMS[status],
        "headers": _references(_headers_of("", "", status, {})),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }


def _references(names: Iterable[str]) -> dict[str, object]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _add_headers(path: str, method: str, operation: dict[str, Any]) -> None:
    for status, response in operation["responses"].items():
        if "$ref" not in response:
            response["headers"] = _references(_headers_of(path, method, status, operation))


def _add_problems(path: str, method: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    responses.pop("422", None)
    for status, response in responses.items():
        # The framework declares a problem that has a model as JSON.
        if status in {"409", "501"} and "application/json" in response.get("content", {}):
            response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
    if operation.get(ROLE) == "none":
        return
    for status in _PROBLEMS:
        if status in _WITH_BODY and "requestBody" not in operation:
            continue
        if status == "404" and "{" not in path and path not in _IDS_IN_BODY:
            continue
        if status == "410" and not any(one["name"] == HEADER for one in operation.get("parameters", ())):
            continue
        if status == "412" and not any(one["name"] == "If-Match" for one in operation.get("parameters", ())):
            continue
        if status in _OF_CHANGES and method not in _CHANGING:
            continue
        responses.setdefault(status, {"$ref": f"#/components/responses/{_PROBLEM}{status}"})
