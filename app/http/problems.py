"""The conversion of all errors to RFC 9457 problems, with hints for requests without a route."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from http import HTTPStatus
from typing import Any, ClassVar, Final, get_args

import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from app.errors import InvalidInput, Overloaded, TypedMemoryError
from app.memory.chat_messages import TIME_FIELDS

CHALLENGE: Final = "challenge"
"""The key in a request's state under which a route says more on how to authenticate (RFC 6750, RFC 9728)."""

REALM: Final = 'Bearer realm="typed-memory"'

_WRITES: Final = (
    "POST /memories/typed/{type} writes a memory, POST /memories/batch many, and POST /turns makes memories of what "
    "was said"
)

_ASKS: Final = "POST /query asks: a JSON body with query and user_id"

_LISTS: Final = "GET /memories lists memories: ?user_id=...&type=..."

ROUTE_HINTS: Final = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        (r"(?:POST|PUT) /(?:memories(?:/typed|/add)?|memory|add|remember)", _WRITES),
        (r"(?:GET|PUT) /(?:memories/(?:typed/)?)?query", _ASKS),
        (r"(?:GET|POST|PUT) /(?:memories/)?(?:search|ask|recall)", _ASKS),
        (r"(?:GET|POST) /memories/typed/(?:search|list)|GET /memories/(?:typed|list|all|batch)(?:/\w+)?", _LISTS),
        (r"PUT /memories/[^/]+", "PATCH /memories/{memory_id} changes one"),
        (r"DELETE /memories", "DELETE /memories/{memory_id} erases one, DELETE /users/{user_id} all of a user"),
        (
            r"(?:DELETE|PATCH|PUT) /users/[^/]+/.+",
            "DELETE /users/{user_id} erases all of a user; a slash within an id is written %2F",
        ),
        (r"GET /users(?:/[^/]+)?(?:/.+)?", f"{_LISTS}; GET /export?user_id=... tells all of a user"),
        (r"(?:POST|PUT) /users(?:/[^/]+)?", "there is no user to make: name any user_id as you write"),
        (r"DELETE /users", "DELETE /users/{user_id} erases all of a user"),
        (r"POST /(?:messages|conversations|chat|ingest|turn)", "POST /turns takes what was said"),
        (r"POST /export|GET /import", "GET /export tells everything, POST /import stores it"),
        (r"GET /(?:health|status|ping)", "GET /healthz and GET /readyz tell how it is"),
        (r"(?:GET|POST) /(?:types|memory-types)", "GET /admin/types lists the types, POST /admin/types defines one"),
        (r"(?:GET|POST) /(?:keys|api-keys)", "GET /admin/keys lists keys, POST /admin/keys makes one"),
        (r"(?:GET|POST) /tenants", "GET /admin/tenants lists tenants, POST /admin/tenants makes one"),
        (r"\w+ /(?:v\d+|api)(?:/.*)?", "paths begin with /v1, or with no prefix at all: POST /query"),
    )
)
"""Patterns of a method and a path, each with the route that was probably meant."""


def route_hint(method: str, path: str) -> str | None:
    """Return the route that a request without one was probably meant for, None if it can't be guessed."""
    request = f"{method} {path.rstrip('/')}"
    return next((hint for pattern, hint in ROUTE_HINTS if pattern.fullmatch(request)), None)


MEDIA_TYPE = "application/problem+json"

URN = "urn:typed-memory:problem:"

BUILT_IN = "built in"
OWN = "own"
"""The tags of a union's two members: they stand in the places of errors, where no field is called so."""

MOST_ERRORS = 100
"""Most faults that a problem lists."""

log = structlog.get_logger("typed_memory.api")


class FieldError(BaseModel):
    """A fault of a field: its path with dots, and the message."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    field: str = Field(examples=["memories.3.preference_key"])
    message: str = Field(examples=["is required"])


class Problem(BaseModel):
    """RFC 9457 problem details."""

    model_config = ConfigDict(extra="forbid")

    type: str = Field(description="Stable name of the kind of problem.", examples=[f"{URN}not-found"])
    title: str
    status: int
    detail: str
    instance: str = Field(description="The path that was asked for.")
    request_id: str
    errors: list[FieldError] | None = Field(default=None, description="The fields at fault, if there are any.")


class InvalidFields(InvalidInput):
    """Several fields are wrong."""

    def __init__(self, errors: Sequence[FieldError], reason: str = "field") -> None:
        """Build the error from at least one fault; `reason` is the kind of the first, for the metrics."""
        super().__init__(_summary(errors))
        self.errors = tuple(errors)
        self.reason = reason


class MalformedBody(TypedMemoryError):
    """The body is not JSON in UTF-8, or is ambiguous JSON."""

    code: ClassVar[str] = "malformed-body"
    status: ClassVar[int] = 400
    title: ClassVar[str] = "Malformed body"


class UnsupportedMediaType(TypedMemoryError):
    """The body is declared to be something other than JSON."""

    code: ClassVar[str] = "unsupported-media-type"
    status: ClassVar[int] = 415
    title: ClassVar[str] = "Unsupported media type"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemKind:
    """The common members of problems of one kind."""

    code: str
    status: int
    title: str


def install(app: FastAPI) -> None:
    """Install the exception handlers that answer every error with a problem."""
    app.add_exception_handler(TypedMemoryError, _ours)
    app.add_exception_handler(RequestValidationError, _ours)
    app.add_exception_handler(HTTPException, _http)


def document(
    kind: ProblemKind, detail: str, scope: Scope, *, errors: Sequence[FieldError] = (), reason: str = ""
) -> dict[str, object]:
    """Return the members of a problem about a request, whose state gets code and `reason` for the metrics."""
    scope.get("state", {})["refusal"] = (kind.code, reason)
    members: dict[str, object] = {
        "type": URN + kind.code,
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "instance": str(scope.get("path", "")),
        "request_id": str(scope.get("state", {}).get("request_id", "")),
    }
    if errors:
        members["errors"] = [one.model_dump() for one in errors[:MOST_ERRORS]]
    return members


def respond(members: Mapping[str, object], headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem as a response."""
    return Response(
        # Escaped to ASCII: what callers send may hold halves of surrogate pairs, which UTF-8 can't.
        json.dumps(members).encode(),
        status_code=int(str(members["status"])),
        media_type=MEDIA_TYPE,
        headers=dict(headers or {}),
    )


def problem_of(error: TypedMemoryError, scope: Scope) -> dict[str, object]:
    """Return one of our errors as a problem; server errors show no details."""
    kind = ProblemKind(code=error.code, status=error.status, title=error.title)
    if error.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return internal(scope)
    errors: Sequence[FieldError] = ()
    if isinstance(error, InvalidFields):
        errors = error.errors
    elif error.field is not None:
        errors = (FieldError(field=error.field, message=error.message),)
    detail = _summary(errors) if errors and isinstance(error, InvalidInput) else error.message
    return document(kind, detail, scope, errors=errors, reason=getattr(error, "reason", ""))


def raise_if_all_failed(results: Sequence[object]) -> None:
    """Raise the first error of a batch of which nothing succeeded."""
    failures = [one for one in results if isinstance(one, TypedMemoryError)]
    if len(failures) == len(results):
        raise failures[0]


def is_final(results: Sequence[object]) -> bool:
    """Return whether no result of a batch is an error that may pass when the batch is sent again."""
    return not any(isinstance(one, TypedMemoryError) and one.passing for one in results)


def internal(scope: Scope) -> dict[str, object]:
    """Return the problem of an unexpected error, which refers to the log."""
    kind = ProblemKind(code="internal", status=500, title="Internal error")
    return document(kind, "something went wrong on our side; the log has it under request_id", scope)


def field_errors(raised: Sequence[Mapping[str, Any]], *prefix: str | int, body: object = None) -> list[FieldError]:
    """Return pydantic's errors as ours, under the given path; an unknown field of `body` lists the known ones.

    No more than a problem lists: a body can have a hundred thousand.
    """
    return [
        FieldError(field=_path((*prefix, *one["loc"]), one), message=_message(one) + _instead(one, body))
        for one in raised[:MOST_ERRORS]
    ]


_NAMES_ELSEWHERE: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(TIME_FIELDS[1:], ("occurred_at",)),
    **dict.fromkeys(("text", "message", "memory", "data"), ("content", "query")),
    **dict.fromkeys(("limit", "k", "n", "max_results", "num_results"), ("top_k", "limit")),
    **dict.fromkeys(("threshold", "min_score", "score_threshold"), ("min_relevance",)),
    **dict.fromkeys(("namespace", "user", "uid", "owner_id"), ("user_id",)),
    **dict.fromkeys(("agent", "assistant_id"), ("agent_id",)),
    **dict.fromkeys(("thread_id", "run_id", "conversation_id", "chat_id"), ("session_id",)),
    **dict.fromkeys(("memory_types", "type", "kinds"), ("types",)),
    **dict.fromkeys(("name", "author", "sender"), ("speaker",)),
    **dict.fromkeys(("tags", "attributes", "meta", "filter", "filters"), ("metadata",)),
    "q": ("query",),
    "question": ("query",),
}
"""Names of fields in other memory services and chat libraries, with the names here."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a question with the nearest known name, the empty string if none is near."""
    if len(name) > _LONGEST_NAME:
        return ""
    names = set(known)
    name = _CAMEL_CASE.sub("_", name).lower()
    others = {other: here for other, here in _NAMES_ELSEWHERE.items() if other not in names}
    elsewhere = {other: one for other, here in others.items() for one in reversed(here) if one in names}
    near = [name] if name in elsewhere else get_close_matches(name, names | elsewhere.keys(), n=1, cutoff=_LIKENESS)
    return f"did you mean `{elsewhere.get(near[0], near[0])}`? " if near else ""


def unknown_type(name: str, known: Collection[str]) -> str:
    """Return what to say about a memory type that is not among the known ones."""
    one = "name one at a time: " if "," in name else did_you_mean(name, known)
    return f"unknown memory type; {one}use one of {', '.join(known)}"


def answer(error: TypedMemoryError, scope: Scope) -> Response:
    """Return one of our errors as a response, with the headers that go with it."""
    headers = {}
    challenge = scope.get("state", {}).get(CHALLENGE)
    if error.status == HTTPStatus.UNAUTHORIZED or (error.status == HTTPStatus.FORBIDDEN and challenge is not None):
        headers["WWW-Authenticate"] = REALM if challenge is None else f"{REALM}, {challenge}"
    if error.retry_after is not None:
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    # An overloaded service has no time for a second line about each request: the first one has its status.
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR and not isinstance(error, Overloaded):
        log.warning("request failed", code=error.code, reason=error.message)
    return respond(problem_of(error, scope), headers)


def of(request: Request, error: TypedMemoryError | RequestValidationError) -> Response:
    """Return an error of ours, or of a request's validation, as a response."""
    return answer(error, request.scope) if isinstance(error, TypedMemoryError) else _invalid(request, error)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, TypedMemoryError | RequestValidationError)  # noqa: S101 - registered for just these
    return of(request, error)


def _invalid(request: Request, error: RequestValidationError) -> Response:
    declared = getattr(request.scope.get("route"), "body_field", None)
    body = None if declared is None else declared.field_info.annotation
    faults = error.errors()
    invalid = InvalidFields(field_errors(faults, body=body), str(faults[0]["type"]))
    return respond(problem_of(invalid, request.scope))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for just this
    status = HTTPStatus(error.status_code)
    headers = dict(error.headers or {})
    detail = str(error.detail)
    meant = route_hint(request.method, request.url.path[:200])
    if status is HTTPStatus.NOT_FOUND:
        detail = f"there is no such route: {meant or 'see /openapi.json for those there are'}"
    elif status is HTTPStatus.METHOD_NOT_ALLOWED:
        methods = _allowed(request)
        headers["Allow"] = ", ".join(sorted({*methods, *(("HEAD",) if "GET" in methods else ())}))
        detail = f"{request.method[:20]} is not possible here; {meant or 'use ' + ', '.join(methods)}"
    kind = ProblemKind(
        code=status.phrase.lower().replace(" ", "-"), status=status.value, title=status.phrase.capitalize()
    )
    return respond(document(kind, detail, request.scope, reason="route"), headers)


def _allowed(request: Request) -> list[str]:
    """Return the methods of all routes with this path, as the framework names only the first route's."""
    found: dict[str, str] = {}
    for method in ("DELETE", "GET", "PATCH", "POST", "PUT"):
        path = _matching_route(request, method)
        if path is not None:
            found[method] = path
    # A path that is written out belongs to no route with an id in its place.
    exact = {method for method, path in found.items() if path == request.url.path}
    methods = exact or set(found)
    return sorted(methods)


def _matching_route(request: Request, method: str) -> str | None:
    """Return the path of the route that takes a method at the request's path."""
    scope = {**request.scope, "method": method}
    matching = (route for route in request.app.router.routes if route.matches(scope)[0] is Match.FULL)
    return next((str(getattr(route, "path", "")) for route in matching), None)


def _summary(errors: Sequence[FieldError]) -> str:
    first = f"{errors[0].field}: {errors[0].message}" if errors[0].field else errors[0].message
    more = len(errors) - 1
    at_least = "at least " if len(errors) >= MOST_ERRORS else ""
    return first if more == 0 else f"{first} (and {at_least}{more} more)"


def _instead(error: Mapping[str, Any], body: object) -> str:
    """Return which field is nearest to an unknown one, and right in the body which there are."""
    steps = [step for step in error["loc"] if step not in _PLACES]
    if error["type"] != "extra_forbidden" or not steps:
        return ""
    known = _fields_at(body, steps[:-1])
    nearest = did_you_mean(str(steps[-1]), known).strip()
    there = f"there are {', '.join(sorted(known))}" if known and len(steps) == 1 else ""
    told = " ".join(filter(None, (nearest, there)))
    return f"; {told}" if told else ""


def _fields_at(body: object, steps: Sequence[str | int]) -> set[str]:
    """Return the names of the fields at a place in a body; tags and numbers on the way to it name no field."""
    models = _models_in(body)
    for step in steps:
        inner = [
            found
            for model in models
            for name, info in model.model_fields.items()
            if (info.alias or name) == step
            for found in _models_in(info.annotation)
        ]
        tagged = [
            model for model in models if step in get_args(getattr(model.model_fields.get("type"), "annotation", None))
        ]
        models = inner or tagged or models
    return {info.alias or name for model in models for name, info in model.model_fields.items()}


def _models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for inner in get_args(annotation) for found in _models_in(inner)]


_LONGEST_NAME = 100
"""Characters of a name that is compared with others, which takes as long as it is."""

_CAMEL_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

_LIKENESS = 0.75
"""How alike, from 0 to 1, a field is to the one that may have been meant."""

_PLACES = frozenset({"body", "query", "path", "header"})

_OF_TYPE = frozenset({"union_tag_invalid", "union_tag_not_found"})

_PYDANTIC_SUBJECT: Final = re.compile(r"^[A-Z]\w+ should\b")

_MESSAGES: Mapping[str, str] = {
    "missing": "is required",
    "union_tag_not_found": "is required",
    "extra_forbidden": "is not a field here",
    "json_invalid": 'must be JSON, such as {"project": "atlas"}',
    **dict.fromkeys(("model_attributes_type", "model_type", "dict_type"), "must be a JSON object"),
    **dict.fromkeys(("list_type", "tuple_type"), "must be a list"),
}
"""Messages by pydantic's names of errors; errors without one here keep pydantic's message."""


def _path(loc: Sequence[str | int], error: Mapping[str, Any]) -> str:
    """Return a location as a dotted path; the tags pydantic puts after a batch's index are no fields."""
    steps = list(loc)
    if steps and steps[0] in _PLACES:
        steps = steps[1:]
    if len(steps) > 2 and steps[0] == "memories" and isinstance(steps[1], int):  # noqa: PLR2004
        del steps[2 : 4 if steps[2] == BUILT_IN else 3]
    if error["type"] in _OF_TYPE:
        steps.append("type")
    return ".".join(str(step)[:200] for step in steps)


def _message(error: Mapping[str, Any]) -> str:
    context = error.get("ctx", {})
    match error["type"]:
        case kind if kind in _MESSAGES:
            return _MESSAGES[kind]
        case "union_tag_invalid":
            return f"unknown memory type; use one of {str(context.get('expected_tags')).replace(chr(39), '')}"
        case "value_error":
            return str(context.get("error", error["msg"]))[:500]
        case "string_too_short" if context.get("min_length") == 1:
            return "must not be empty"
        case _:
            message = _PYDANTIC_SUBJECT.sub("must", str(error["msg"]))[:500].replace(" after validation", "")
            # A length that is checked behind another rule is counted in items, whatever they are of.
            return message.replace(" items", " characters") if isinstance(error.get("input"), str) else message
