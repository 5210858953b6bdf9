"""A tenant's extraction policy and costs over HTTP."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from app.http.guard import ADMIN, ActorDep, GuardedRoute, RuntimeDep
from app.http.models import Day, Out, RequestBody, Source, as_is, json_answer
from app.http.problems import FieldError, InvalidFields
from app.http.routes import add_reads, add_route
from app.memory.extraction import TenantPolicy

DEFAULT_DAYS = 30
MOST_DAYS = 400


class CostQuery(RequestBody):
    """The days to return, both ends included."""

    since: Day | None = Field(default=None, description="30 days ago, unless given.")
    until: Day | None = Field(default=None, description="Today, unless given.")


class CostOut(Out):
    """A day's turns, those skipped and failed, and the model's requests, tokens and cost."""

    day: date
    turns: int
    skipped: int
    failed: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: Annotated[float, Source(make=as_is)]


class CostsOut(Out):
    """The days with costs, oldest first."""

    days: list[CostOut]


def router() -> APIRouter:
    """Return the routes."""
    found = APIRouter(tags=["admin"], route_class=GuardedRoute)
    add_reads(
        found,
        ADMIN,
        ("/admin/policy", get_policy, "Get the tenant's policy", TenantPolicy),
        ("/admin/costs", get_costs, "Get what the language model has cost", CostsOut),
    )
    add_route(found, "PUT", ADMIN, "/admin/policy", put_policy, "Replace the tenant's policy", TenantPolicy)
    return found


async def get_policy(runtime: RuntimeDep, actor: ActorDep) -> Response:
    """Get the tenant's policy for the write pipeline, defaults included."""
    return json_answer((await runtime.policies.get(actor.tenant_id)).model_dump())


async def put_policy(runtime: RuntimeDep, actor: ActorDep, body: TenantPolicy) -> Response:
    """Replace the tenant's policy; fields that are left out return to the service's defaults."""
    return json_answer((await runtime.policies.put(actor.tenant_id, body, by=actor.name)).model_dump())


async def get_costs(runtime: RuntimeDep, actor: ActorDep, query: Annotated[CostQuery, Query()]) -> Response:
    """Get a row a day: turns received, skipped and failed; requests to the model by turns and answers, tokens, cost."""
    until = query.until or runtime.clock().date()
    since = query.since or until - timedelta(days=DEFAULT_DAYS)
    if since > until:
        raise InvalidFields([FieldError(field="since", message="must not come after until")])
    if until - since > timedelta(days=MOST_DAYS):
        raise InvalidFields([FieldError(field="since", message=f"must be within {MOST_DAYS} days of until")])
    days = await runtime.policies.costs(actor.tenant_id, since, until)
    return json_answer({"days": [CostOut.answer(one) for one in days]})
