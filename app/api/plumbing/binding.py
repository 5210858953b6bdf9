"""Requests of keys that are bound to a user or an agent: their own ids are filled in, and others are refused.

Every route says in `openapi_extra` how it names what it is about, by one of the constants below. A route that does not
is closed to such keys, so that none is open to them by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

from starlette.requests import Request

from app import ids
from app.errors import Forbidden
from app.model import Actor, ScopeKind
from app.runtime import Runtime

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
        raise Forbidden(f"this key is bound to {_described(actor)}, and this shows others too: {_MEND}")


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
        raise Forbidden(f"this key is bound to {_described(actor)}, and may not write what everyone sees: {_MEND}")
    if changes and actor.agent_id is not None and found.get("scope") is None:
        found["scope"] = ScopeKind.AGENT
    return found


def pinned(given: Mapping[str, Any], actor: Actor) -> dict[str, Any]:
    """Return the key's own ids by field, none of a key that is not bound; raise Forbidden where others are given."""
    if not actor.bound:
        return {}
    own = {"user_id": actor.user_id, "agent_id": actor.agent_id}
    for name, value in own.items():
        if given.get(name) not in {None, value}:
            raise Forbidden(f"this key is bound to {_described(actor)}, not to another {name}: {_MEND}")
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
            raise Forbidden(f"this key is bound to {_described(actor)}, and this is everyone's: {_MEND}")


def _owned(given: Mapping[str, str], actor: Actor) -> dict[str, str]:
    if actor.user_id is None or actor.agent_id is not None or given.get("owner", actor.user_id) != actor.user_id:
        raise Forbidden(f"this key is bound to {_described(actor)}, not to all of a user or another: {_MEND}")
    pinned(given, actor)
    return {"owner": actor.user_id}


def _described(actor: Actor) -> str:
    named = (("user", actor.user_id), ("agent", actor.agent_id))
    return " and ".join(f"the {kind} {name!r}" for kind, name in named if name is not None)
