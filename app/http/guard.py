"""The route class of every route, which checks the key, its role and binding, the query parameters and the body first.

Every route names its role in `openapi_extra`, by one of the constants below. A route without one can't be created, so
that none is open by accident. A key may be bound to a user or an agent: its own ids are filled in, and others are
refused. For such keys a route says in `openapi_extra`, too, how it names what it is about; one that does not is closed
to them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine, Mapping
from itertools import islice
from typing import Annotated, Any, Final, NoReturn, cast, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl, urlencode

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.dependencies.utils import request_params_to_args
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import QueryParams
from starlette.responses import Response

from app import ids
from app.errors import Forbidden, PayloadTooLarge, Unauthenticated
from app.http.idempotency import declared
from app.http.operations_port import is_operators
from app.http.problems import (
    MOST_ERRORS,
    FieldError,
    InvalidFields,
    MalformedBody,
    UnsupportedMediaType,
    did_you_mean,
)
from app.http.routes import SegmentedRoute
from app.model import Actor, ScopeKind
from app.runtime import Runtime
from app.services.limits import require_rate


async def runtime_of(request: Request) -> Runtime:
    """Return the application's runtime."""
    return cast("Runtime", request.app.state.runtime)


async def actor_of(request: Request) -> Actor:
    """Return the caller, as authenticated by the route's guard."""
    return cast("Actor", request.state.actor)


RuntimeDep = Annotated[Runtime, Depends(runtime_of)]

ActorDep = Annotated[Actor, Depends(actor_of)]

ROLE = "x-required-role"

PUBLIC = {ROLE: "none", "security": []}

READ = {ROLE: "read"}

WRITE = {ROLE: "write"}

REVIEW = {ROLE: "review"}
"""The review queue alone."""

ADMIN = {ROLE: "admin"}

OPERATOR = {ROLE: "operator"}

BY_OPERATOR = "operator"
"""The operator's name in the audit logs of tenants."""

POSITION_HEADER = "Memory-Position"
"""The position of an answer in the primary's log; a question that sends it back sees as much on a replica, too."""

Handler = Callable[[Request], Coroutine[Any, Any, Response]]

BOUND: Final = "x-bound-keys"

OPEN: Final = {BOUND: "open"}
"""The route shows nothing of any user or agent."""

NAMED: Final = {BOUND: "named"}
"""The path, the query string or the body has `user_id` or `agent_id`, or the query string has `owner`."""

BY_MEMORY: Final = {BOUND: "memories"}

BY_TURN: Final = {BOUND: "turns"}

BY_JOB: Final = {BOUND: "jobs"}

BY_ENTITY: Final = {BOUND: "entities"}

_IDS: Final[Mapping[str, tuple[str, str]]] = {
    "memories": ("memory_id", ids.MEMORY),
    "turns": ("turn_id", ids.TURN),
    "jobs": ("job_id", ids.JOB),
    "entities": ("entity_id", ids.ENTITY),
}
"""The parameters that name a row, by table, with the prefixes of their ids."""

_MEND: Final = "use a key that is not bound, or one that is bound to it"

_WIDEST = 2**63

_DIGITS = 20

_MOST_KEYS = 1_000

_MOST_VALUES = 120_000
"""Values of a body: so many are parsed in some 40 milliseconds, and prose of eight megabytes has fewer commas."""

_CONTAINER = 4
"""How many plain values a list or an object takes the time of."""

_KEY = 2
"""How many more a field of an object takes the time of, above all one that is refused."""


class GuardedRoute(SegmentedRoute):
    """A route that is closed unless it names a role; `direct` where the framework's own way to it can be left out."""

    direct = False

    def get_route_handler(self) -> Handler:
        """Return the handler with the checks before it."""
        handle, self.direct = _direct(self) or super().get_route_handler(), _direct(self) is not None
        role = (self.openapi_extra or {}).get(ROLE)
        if role is None:
            raise TypeError(f"route {self.path} must say who may call it: openapi_extra=READ, WRITE, ...")
        rule = (self.openapi_extra or {}).get(BOUND)
        takes_body = self.body_field is not None
        requires_body = takes_body and self.body_field is not None and self.body_field.field_info.is_required()
        example = _described(self.body_field.field_info.annotation) if self.body_field is not None else ""
        parameters = _parameters(self.dependant)
        asks = any(one.alias == POSITION_HEADER for one in self.dependant.header_params)
        answer = handle if role == "none" or asks else _with_position(handle)

        async def guarded(request: Request) -> Response:
            actor: Actor | None = None
            if role != "none":
                actor = request.state.actor = await authenticate(request, role)
                _refuse_unknown(request.query_params, parameters)
                if actor is not None:
                    await count_request(request, actor)
                    await require_request(request, actor, rule, parameters, changes=role == "write")
                    request = Request(request.scope, request.receive)  # which has read its query string already
            if not takes_body:
                return await answer(request)
            strict = StrictRequest(request.scope, request.receive)
            await strict.read()
            if actor is not None and actor.bound and rule == NAMED[BOUND]:
                strict.parsed = pin_body(strict.parsed, actor, changes=role == "write")
            if strict.empty and requires_body:
                raise InvalidFields([FieldError(field="", message=f"the body is empty: send {example}")])
            return await answer(strict)

        return guarded


def _with_position(handle: Handler) -> Handler:
    """Return a handler whose answers say up to where the primary has written, where there is a replica."""

    async def answered(request: Request) -> Response:
        response = await handle(request)
        if (position := await request.app.state.runtime.queries.position()) is not None:
            response.headers[POSITION_HEADER] = position
        return response

    return answered


_CONTEXT: Mapping[object, str] = {runtime_of: "runtime", actor_of: "actor"}
"""The dependencies that are read from the request, by the name of what they return."""


def _direct(route: APIRoute) -> Handler | None:
    """Return the handler of a route that takes a body, the runtime, the caller, headers and a query, and answers.

    FastAPI's own would solve them as a tree of dependencies for each request, which takes longer than to validate the
    body. None for routes that take or answer anything else.
    """
    given, endpoint = route.dependant, cast("Callable[..., Coroutine[Any, Any, Response]]", route.endpoint)
    dependencies = [one for one in given.dependencies if one.call is not declared]
    context = {str(one.name): _CONTEXT[one.call] for one in dependencies if one.call in _CONTEXT}
    plain = len(context) == len(dependencies) and not given.path_params
    answers = get_type_hints(endpoint).get("return") is Response
    body, headers = route.body_field, given.header_params
    if body is None or not (plain and answers and given.body_params == [body] and body.field_info.is_required()):
        return None
    defaults, lacking = request_params_to_args(given.query_params, QueryParams())
    if lacking:
        return None
    defaults |= {one.name: one.get_default() for one in headers}
    if given.request_param_name is not None:
        context[given.request_param_name] = "request"

    async def handle(request: Request) -> Response:
        parsed = await request.json()
        value, errors = body.validate(parsed, loc=("body",))
        values = {**defaults, body.name: value}
        received: list[tuple[list[Any], Mapping[str, Any]]] = []
        if request.query_params:
            received.append((given.query_params, request.query_params))
        if any(one.alias in request.headers for one in headers):
            received.append((headers, request.headers))
        for fields, there in received:
            found, wrong = request_params_to_args(fields, there)
            values |= found
            errors = [*errors, *wrong]
        if errors:
            raise RequestValidationError(errors, body=parsed)
        state = {"runtime": request.app.state.runtime, "actor": request.state.actor, "request": request}
        return await endpoint(**values, **{name: state[kind] for name, kind in context.items()})

    return handle


def _described(body: object) -> str:
    """Return a description of the body: a JSON object with its required fields."""
    fields = body.model_fields.items() if isinstance(body, type) and issubclass(body, BaseModel) else ()
    required = " and ".join(f"`{info.alias or name}`" for name, info in fields if info.is_required())
    return f"a JSON object with {required}" if required else "a JSON object"


def _parameters(dependant: Dependant) -> dict[str, bool]:
    """Return the query parameters that a route declares, each with whether it can be repeated."""
    found: dict[str, bool] = {}
    for inner in dependant.dependencies:
        found |= _parameters(inner)
    for field in dependant.query_params:
        kind = field.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found |= {one.alias or name: _is_list(one.annotation) for name, one in kind.model_fields.items()}
        else:
            found[field.alias] = _is_list(kind)
    return found


def _is_list(kind: object) -> bool:
    return get_origin(kind) is list or any(get_origin(one) is list for one in get_args(kind))


def _refuse_unknown(given: QueryParams, parameters: Mapping[str, bool]) -> None:
    """Raise InvalidFields for parameters that the route would ignore, such as a misspelt `dry_run` of an erasure."""
    there = f"there are {', '.join(sorted(parameters))}" if parameters else "there are none"
    unknown = [
        FieldError(field=name[:200], message=f"is not a query parameter here; {did_you_mean(name, parameters)}{there}")
        for name in islice((one for one in given if one not in parameters), MOST_ERRORS)
    ]
    repeated = [
        FieldError(field=name, message="is given more than once")
        for name in given
        if not parameters.get(name, True) and len(given.getlist(name)) > 1
    ]
    if unknown or repeated:
        raise InvalidFields([*unknown, *repeated], "parameter")


class StrictRequest(Request):
    """A request whose body is strict JSON in UTF-8, without NaN, repeated keys and huge numbers."""

    parsed: object = None
    empty: bool = False

    async def read(self) -> None:
        """Read and parse the body; raise MalformedBody or UnsupportedMediaType."""
        content = await self.body()
        self.empty = not content
        if self.empty:
            return
        require_json(self)
        self.parsed = parse(content)

    async def json(self) -> Any:  # noqa: ANN401 - the framework's signature
        """Return the parsed body."""
        return self.parsed


def require_json(request: Request) -> None:
    """Raise UnsupportedMediaType for a body with another content type, or one that is compressed."""
    require_uncompressed(request)
    kind = request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        raise UnsupportedMediaType(f"send the body as application/json, not {kind[:100]!r}")


def require_uncompressed(request: Request) -> None:
    """Raise UnsupportedMediaType for a body that is compressed."""
    encoding = request.headers.get("content-encoding", "identity")
    if encoding.strip().lower() not in {"", "identity"}:
        raise UnsupportedMediaType(f"send the body uncompressed, not with Content-Encoding {encoding[:100]!r}")


def refuse_many_values(content: bytes) -> None:
    """Raise PayloadTooLarge for JSON that takes longer to parse than other requests may be kept waiting.

    Counted without parsing, so commas, colons and brackets in texts count too.
    """
    containers, keys = content.count(b"[") + content.count(b"{"), content.count(b":")
    if content.count(b",") + _CONTAINER * containers + _KEY * keys > _MOST_VALUES:
        raise PayloadTooLarge(f"the body has more values than the {_MOST_VALUES:,} that are read at once: send less")


def parse(content: bytes) -> object:
    """Return the value of strict JSON, or raise MalformedBody with the fault."""
    refuse_many_values(content)
    try:
        return json.loads(
            content.decode("utf-8-sig"),
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_integer,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError as error:
        raise MalformedBody(f"the body is not UTF-8 (byte {error.start})") from None
    except json.JSONDecodeError as error:
        raise MalformedBody(f"the body is not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise MalformedBody("the body is nested too deeply") from None


async def authenticate(request: Request, role: str | None) -> Actor | None:
    """Return the caller by the request's key, None for the operator; raise if the key lacks the role."""
    runtime: Runtime = request.app.state.runtime
    token = bearer_token(request)
    is_operator = is_operators(token, runtime.settings)
    if is_operator and role == "operator":
        return None
    if is_operator:
        raise Forbidden("the operator key manages tenants and sees no memories: use a tenant's key")
    actor = await runtime.keys.authenticate(token)
    if role == "operator":
        raise Forbidden("this takes the operator key (TM_OPERATOR_KEY)")
    if role is not None:
        allow_role(actor, role)
    return actor


async def count_request(request: Request, actor: Actor) -> None:
    """Count a request against the limits of its key and tenant, for the headers of its answer; raise RateLimited."""
    runtime: Runtime = request.app.state.runtime
    request.state.rates = rates = await runtime.quotas.count_request(actor)
    require_rate(rates)


def allow_role(actor: Actor, role: str) -> None:
    """Raise Forbidden unless the actor's key has the role."""
    if role not in actor.roles and "admin" not in actor.roles:
        raise Forbidden(f"this takes a key with the role {role!r}")


def bearer_token(request: Request) -> str:
    """Return the token of the Authorization header; raise Unauthenticated without one, or with several."""
    headers = request.headers.getlist("authorization")
    if not headers:
        raise Unauthenticated("send an API key: `Authorization: Bearer tm_...`")
    if len(headers) > 1:
        raise Unauthenticated("send one Authorization header: there are several, and one key is asked for")
    header = headers[0]
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthenticated("the Authorization header must read `Bearer` and an API key")
    return token.strip()


def _no_constant(name: str) -> NoReturn:
    raise MalformedBody(f"the body is not JSON: {name} is no JSON number")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise MalformedBody(f"the number {digits[:40]} is too large")
    return value


def _integer(digits: str) -> int:
    # Length first: Python takes quadratic time for long ones, and refuses them beyond 4,300 digits.
    if len(digits) > _DIGITS or not -_WIDEST <= int(digits) < _WIDEST:
        raise MalformedBody(f"the number {digits[:40]} does not fit into 64 bits")
    return int(digits)


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(pairs) > _MOST_KEYS:
        raise MalformedBody(f"an object has {len(pairs)} keys: at most {_MOST_KEYS} are read")
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise MalformedBody(f"the key {name[:100]!r} is given twice in one object")
            seen.add(name)
    return found


async def require_request(
    request: Request, actor: Actor, rule: str | None, parameters: Mapping[str, object], *, changes: bool
) -> None:
    """Check the path and the query string of a bound key's request, and fill its ids into the query string."""
    if not actor.bound:
        return
    require_open(actor, rule)
    runtime: Runtime = request.app.state.runtime
    await require_own(runtime, actor, rule or "", request.path_params, changes=changes)
    if rule == NAMED[BOUND]:
        if "user_id" in request.path_params:
            pinned(request.path_params, actor)
        _pin_query(request, actor, parameters)


async def bound_arguments(
    runtime: Runtime, actor: Actor, rule: str | None, given: dict[str, Any], *, changes: bool
) -> dict[str, Any]:
    """Return the arguments of a bound key's call of a tool with the key's ids; raise as `require_request` does."""
    require_open(actor, rule)
    await require_own(runtime, actor, rule or "", given, changes=changes)
    return {**given, **pinned(given, actor)} if rule == NAMED[BOUND] else given


def require_open(actor: Actor, rule: str | None) -> None:
    """Raise Forbidden for a bound key where nothing says how to keep it to its own."""
    if rule is None:
        raise Forbidden(f"this key is bound to {_owner_of(actor)}, and this shows others too: {_MEND}")


def _pin_query(request: Request, actor: Actor, parameters: Mapping[str, object]) -> None:
    """Fill the key's ids into the query string, if it takes any; raise Forbidden for others."""
    given = dict(parse_qsl(request.url.query, keep_blank_values=True))
    if "owner" in given or ("owner" in parameters and "user_id" not in parameters):
        filled = _owned(given, actor)
    else:
        filled = {name: value for name, value in pinned(given, actor).items() if name in parameters}
    kept = [(name, value) for name, value in parse_qsl(request.url.query, keep_blank_values=True) if name not in filled]
    request.scope["query_string"] = urlencode([*kept, *filled.items()]).encode()


def pin_body(body: object, actor: Actor, *, changes: bool) -> object:
    """Return a body with the key's ids, in each of its `memories` if it has a list of them; raise Forbidden."""
    if not isinstance(body, dict):
        return body
    if isinstance(items := body.get("memories"), list):
        return {**body, "memories": [pin_body(one, actor, changes=changes) for one in items]}
    found = {**body, **pinned(body, actor)}
    if changes and found.get("scope") == ScopeKind.GLOBAL:
        raise Forbidden(f"this key is bound to {_owner_of(actor)}, and may not write what everyone sees: {_MEND}")
    if changes and actor.agent_id is not None and found.get("scope") is None:
        found["scope"] = ScopeKind.AGENT
    return found


def pinned(given: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    """Return the key's own ids by field, none of a key that is not bound; raise Forbidden where others are given.

    A field that is given as something other than text is left as it is, for the validation to refuse it.
    """
    if not actor.bound:
        return {}
    own = {"user_id": actor.user_id, "agent_id": actor.agent_id}
    own = {name: value for name, value in own.items() if isinstance(given.get(name), str | None)}
    for name, value in own.items():
        if given.get(name) not in (None, value):
            raise Forbidden(f"this key is bound to {_owner_of(actor)}, not to another {name}: {_MEND}")
    return {name: value for name, value in own.items() if value is not None}


async def require_own(runtime: Runtime, actor: Actor, rule: str, given: Mapping[str, Any], *, changes: bool) -> None:
    """Raise NotFound for a row that a bound key does not see, Forbidden for a change of what everyone sees.

    A row that does not exist passes: the route says so, or repeats the answer of the request that erased it.
    """
    if rule not in _IDS:
        return
    parameter, kind = _IDS[rule]
    identifier = ids.parse(kind, str(given.get(parameter, "")))
    found = await runtime.keys.scopes_of_rows(actor.tenant_id, rule, identifier)
    for scope in found:
        seen = {one.id(actor.tenant_id): one.kind for one in actor.sees.scopes()}.get(scope) if scope else None
        if seen is None:
            raise ids.missing(kind, identifier)
        if changes and seen is ScopeKind.GLOBAL:
            raise Forbidden(f"this key is bound to {_owner_of(actor)}, and this is everyone's: {_MEND}")


def _owned(given: Mapping[str, str], actor: Actor) -> dict[str, str]:
    if actor.user_id is None or actor.agent_id is not None or given.get("owner", actor.user_id) != actor.user_id:
        raise Forbidden(f"this key is bound to {_owner_of(actor)}, not to all of a user or another: {_MEND}")
    pinned(given, actor)
    return {"owner": actor.user_id}


def _owner_of(actor: Actor) -> str:
    named = (("user", actor.user_id), ("agent", actor.agent_id))
    return " and ".join(f"the {kind} {name!r}" for kind, name in named if name is not None)
